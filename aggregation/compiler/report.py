"""A spec's text to an exit code and a JSON report: the same for the command and for the API."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from aggregation.compiler.compile import Compiled, Refused, compile_spec
from aggregation.compiler.diagnostics import Diagnostic, in_reading_order
from aggregation.compiler.guard import unseen
from aggregation.protocol.spec_reading import Misfit, Misfits, Unreadable, spec_from
from aggregation.protocol.spec_text import Document, read_document
from aggregation.protocol.streams import Catalog

ACCEPTED: Final = 0
REFUSED: Final = 1
UNREADABLE: Final = 2


def compile_text(
    text: str | bytes, catalog: Catalog, populations: frozenset[str] | None = None
) -> tuple[int, dict[str, Any]]:
    """Read and compile one document. 0: accepted, 1: refused, 2: unreadable."""
    try:
        document = read_document(text)
        result = compile_spec(spec_from(document), catalog, populations=populations)
    except Unreadable as error:
        line, column = error.place or (None, None)
        found = Diagnostic(
            rule="unreadable",
            severity="refusal",
            message=error.message,
            hint=error.hint,
            part="document",
            line=line,
            column=column,
        )
        return UNREADABLE, _report(Refused(diagnostics=(found,)))
    except Misfits as error:
        found_all = in_reading_order(_misfit(m) for m in error.found)
        return REFUSED, _report(Refused(diagnostics=found_all))
    report = _report(_with_places(_with_surroundings(result, text), document))
    return (ACCEPTED if report["accepted"] else REFUSED), report


def _misfit(misfit: Misfit) -> Diagnostic:
    line, column = misfit.place or (None, None)
    return Diagnostic(
        rule=misfit.rule,
        severity="refusal",
        message=misfit.message,
        hint=misfit.hint,
        part=misfit.path,
        line=line,
        column=column,
    )


def _with_surroundings(result: Compiled | Refused, text: str | bytes) -> Compiled | Refused:
    """What stands around the fields is judged once the fields themselves hold nothing unseen."""
    if any(d.rule == unseen.RULE for d in result.diagnostics):
        return result
    found = unseen.in_document(text)
    return Refused(diagnostics=(*result.diagnostics, *found)) if found else result


def _with_places(result: Compiled | Refused, document: Document) -> Compiled | Refused:
    """Findings on fields get the place of the field in the document."""
    places = {".".join(map(str, path)): place for path, place in document.places.items()}
    placed = tuple(_placed(d, places) for d in result.diagnostics)
    return msgspec.structs.replace(result, diagnostics=in_reading_order(placed))


def _placed(diagnostic: Diagnostic, places: dict[str, tuple[int, int]]) -> Diagnostic:
    if diagnostic.line is not None:
        return diagnostic
    path = diagnostic.part
    while path and path not in places:
        path = path.rpartition(".")[0]
    line, column = places.get(path) or ((1, 1) if places else (None, None))
    return msgspec.structs.replace(diagnostic, line=line, column=column)


def _report(result: Compiled | Refused) -> dict[str, Any]:
    compiled = result if isinstance(result, Compiled) else None
    report = {
        "accepted": compiled is not None,
        "diagnostics": result.diagnostics,
        "client_task": compiled.client_task if compiled else None,
        "server_config": compiled.server_config if compiled else None,
        "explain": compiled.explanation.text if compiled else None,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(report))
    return plain
