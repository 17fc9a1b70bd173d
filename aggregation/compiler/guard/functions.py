"""Rules on functions and operators: what a device computes with, and nothing else.

Families have their own sentences because analysts meet them often; whatever else is not in
SQLite's allow-list (`protocol.sqlite_limits`) is refused by `function`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from aggregation.compiler.diagnostics import Finding
from aggregation.compiler.guard.syntax import Hit, SyntaxRule, hits
from aggregation.compiler.parse import Statement
from aggregation.protocol.sqlite_limits import ALLOWED_FUNCTIONS

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Classes the parser makes of the functions that devices have, and of CASE, CAST, AND and OR.
_KNOWN: Final = (
    exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Abs, exp.Round, exp.Coalesce, exp.Nullif,
    exp.Greatest, exp.Least, exp.If, exp.Case, exp.Cast, exp.And, exp.Or,
)  # fmt: skip
_KEYWORDS: Final = {"case", "cast", "when", "if"}

_CLOCK: Final = {
    "random", "rand", "randomblob", "date", "time", "datetime", "julianday", "strftime",
    "unixepoch", "timediff", "now", "current_date", "current_time", "current_timestamp",
    "localtime", "getdate", "sysdate", "uuid", "gen_random_uuid",
}  # fmt: skip
_CLOCK_CLASSES: Final = (
    exp.Rand, exp.Randn, exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp,
    exp.CurrentDatetime, exp.Localtime, exp.Localtimestamp, exp.TimeToStr, exp.Date, exp.Uuid,
    exp.Interval, exp.Extract,
)  # fmt: skip
_TEXT: Final = {
    "substr", "substring", "printf", "format", "replace", "upper", "lower", "trim", "ltrim",
    "rtrim", "char", "chr", "unicode", "instr", "length", "octet_length", "group_concat",
    "string_agg", "concat", "concat_ws", "soundex", "hex", "unhex", "quote", "left", "right",
    "lpad", "rpad", "repeat", "reverse", "split", "translate", "listagg", "position",
}  # fmt: skip
_TEXT_CLASSES: Final = (exp.DPipe, exp.Concat, exp.ConcatWs, exp.GroupConcat)
_JSON_CLASSES: Final = (
    exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar,
    exp.JSONBContains, exp.Lambda, exp.JSONObject, exp.JSONArray, exp.ParseJSON,
)  # fmt: skip
_BLOB: Final = {"zeroblob", "blob", "compress", "uncompress", "sqlite_compileoption_get"}
_BLOB_CLASSES: Final = (exp.HexString, exp.BitString, exp.ByteString)
_BITS: Final = (
    exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift,
    exp.BitwiseRightShift,
)  # fmt: skip
_INSIDE: Final = {
    "typeof", "sqlite_version", "sqlite_source_id", "sqlite_offset", "sqlite_compileoption_used",
    "load_extension", "last_insert_rowid", "changes", "total_changes", "subtype", "likely",
    "unlikely", "likelihood", "version", "current_user", "session_user", "user", "database",
    "readfile", "writefile", "edit", "fts3_tokenizer",
}  # fmt: skip
_PATTERNS: Final = (
    exp.Like, exp.ILike, exp.Glob, exp.RegexpLike, exp.RegexpILike, exp.Match, exp.MatchAgainst,
    exp.SimilarTo, exp.Escape,
)  # fmt: skip
# Words that SQLite takes for INTEGER or REAL; the parser knows LONG and others of other dialects.
_CAST_WORD: Final = re.compile(r"\W?\w*(INT|REAL|FLOA|DOUB)", re.IGNORECASE)
_CASTS: Final = {
    exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT, exp.DType.DOUBLE,
    exp.DType.FLOAT,
}  # fmt: skip


def written_name(statement: Statement, node: exp.Expr) -> str:
    """The function's name as the analyst wrote it, in lower case."""
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    found = _WORD.match(statement.text, (node._meta or {}).get("start", statement.at(node)))
    return found.group().lower() if found else type(node).__name__.lower()


def random_or_clock(statement: Statement) -> Iterator[Hit]:
    """Chance and the clock give a device an output that its events do not explain."""
    message = "The functions for chance, date and time are not on devices."
    hint = "Use privacy_time_unit, hour_of_day or day_of_week."
    yield from hits(statement, _calls(statement, _CLOCK, _CLOCK_CLASSES), message, hint)


def text_building(statement: Statement) -> Iterator[Hit]:
    """Text that a query puts together can carry anything out of a device."""
    message = "A query cannot build or take apart text."
    hint = "Compare whole values, or make groups with CASE … THEN 'label'."
    yield from hits(statement, _calls(statement, _TEXT, _TEXT_CLASSES), message, hint)


def json(statement: Statement) -> Iterator[Hit]:
    message = "JSON is not possible in a query."
    names = {n for n in _names(statement) if n.startswith("json")}
    yield from hits(statement, _calls(statement, names, _JSON_CLASSES), message, "Use columns.")


def blob(statement: Statement) -> Iterator[Hit]:
    message = "Blobs and hexadecimal literals are not possible in a query."
    nodes = _calls(statement, _BLOB, _BLOB_CLASSES)
    yield from hits(statement, nodes, message, "Use numbers and plain text.")
    for node in statement.of(exp.Literal):
        at = statement.at(node)
        if not node.is_string and statement.text[at : at + 2].lower() == "0x":
            yield node, Finding(message, "Write the number in decimal.", at=at)


def bit_operation(statement: Statement) -> Iterator[Hit]:
    """Bits pack many values into one number."""
    message = "Operations on bits pack several values into one."
    yield from hits(statement, statement.of(*_BITS), message, "Give each value its own column.")


def introspection(statement: Statement) -> Iterator[Hit]:
    message = "A query cannot look at SQLite or the device itself."
    yield from hits(statement, _calls(statement, _INSIDE, ()), message, "Remove the function.")


def pattern(statement: Statement) -> Iterator[Hit]:
    message = "LIKE, GLOB, REGEXP and MATCH are not on devices."
    hint = "Name the values: column IN ('…', '…')."
    yield from hits(statement, statement.of(*_PATTERNS), message, hint)


def cast_type(statement: Statement) -> Iterator[Hit]:
    """Numbers stay numbers: no text, no dates, no blobs."""
    for node in statement.of(exp.Cast):
        plain = type(node) is exp.Cast and node.to.this in _CASTS and not node.to.expressions
        if not plain or not _CAST_WORD.match(statement.text, statement.at(node.to)):
            message = "CAST makes INTEGER or REAL, nothing else."
            yield node, Finding(message, "Cast to INTEGER or REAL.", at=statement.at(node))


def function(statement: Statement) -> Iterator[Hit]:
    """Whatever is not in the list of functions that every device has."""
    for node in statement.of(exp.Func):
        name = written_name(statement, node)
        plain = isinstance(node, exp.And | exp.Or | exp.Cast | exp.Case | exp.If | exp.Coalesce)
        known = type(node) in _KNOWN and (plain or name in ALLOWED_FUNCTIONS | _KEYWORDS)
        if known or (isinstance(node, exp.Anonymous) and _is_total(node)):
            continue
        if isinstance(node.parent, exp.Table) or _in_other_family(node, name):
            continue
        allowed = ", ".join(sorted(n.upper() for n in ALLOWED_FUNCTIONS))
        message = f"The function {name.upper()[:40]} is not on devices."
        yield (
            node,
            Finding(message, f"Possible are {allowed}, CASE and CAST.", at=statement.at(node)),
        )


def _is_total(node: exp.Anonymous) -> bool:
    return str(node.name).lower() == "total" and len(node.expressions) == 1


def _in_other_family(node: exp.Expr, name: str) -> bool:
    families = (*_CLOCK_CLASSES, *_TEXT_CLASSES, *_JSON_CLASSES, *_PATTERNS, exp.Cast, exp.Exists)
    named = name in _CLOCK | _TEXT | _BLOB | _INSIDE or name.startswith("json")
    return named or isinstance(node, families)


def _names(statement: Statement) -> set[str]:
    return {written_name(statement, node) for node in statement.of(exp.Func)}


def _calls(
    statement: Statement, names: set[str], classes: tuple[type[exp.Expr], ...]
) -> Iterator[exp.Expr]:
    seen = set()
    for node in (*statement.of(exp.Func), *(statement.of(*classes) if classes else ())):
        plain = isinstance(node, exp.And | exp.Or | exp.Case)
        named = isinstance(node, exp.Func) and not plain and written_name(statement, node) in names
        if id(node) not in seen and (named or isinstance(node, classes)):
            seen.add(id(node))
            yield node


RULES: Final[tuple[SyntaxRule, ...]] = (
    random_or_clock,
    text_building,
    json,
    blob,
    bit_operation,
    introspection,
    pattern,
    cast_type,
    function,
)
