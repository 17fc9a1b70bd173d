"""Every rule by its name: what a diagnostic's `rule` can be."""

from typing import Final

from aggregation.compiler.guard import (
    eligibility,
    fields,
    functions,
    joins,
    meaning,
    names,
    output,
    plan,
    server,
    shapes,
    step,
    syntax,
    warnings,
)

# Refusals that stop before there is a tree, or while names are bound.
READING: Final = ("one_statement", "too_large", "syntax")
BINDING: Final = (
    "ambiguous_group",
    "column_list",
    "group_position",
    "union_columns",
)
# Nets below the net: SQLite's own word, and any fault of ours.
BACKSTOPS: Final = ("prepare", "internal")

_FUNCTIONS: Final = (
    *syntax.RULES,
    *functions.RULES,
    shapes.unsupported,
    *names.COLUMN_RULES,
    *names.TABLE_RULES,
    names.shadowing,
    *meaning.RULES,
    joins.multiplied_rows,
    joins.repeated_stream,
    *output.RULES,
    *server.RULES,
    *eligibility.RULES,
    *fields.RULES,
    *plan.RULES,
    *step.RULES,
)

REFUSALS: Final = frozenset(
    (*READING, *BINDING, *BACKSTOPS, *(rule.__name__ for rule in _FUNCTIONS))
)
WARNINGS: Final = frozenset(
    rule.__name__
    for rule in (warnings.order_ignored, *warnings.CLIENT_RULES, *warnings.SERVER_RULES)
)
