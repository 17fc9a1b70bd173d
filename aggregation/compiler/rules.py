"""Which rules are in force, and the diagnostics they have given so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from aggregation.compiler import bounds
from aggregation.compiler.diagnostics import Diagnostic, Finding, in_reading_order
from aggregation.compiler.parse import line_and_column


@dataclass
class Verdicts:
    """Collects findings under their rule's name. `without` leaves rules out, for tests only."""

    without: frozenset[str] = frozenset()
    # Text of each SQL part, to turn offsets into lines and columns.
    texts: dict[str, str] = field(default_factory=dict)
    _given: list[Diagnostic] = field(default_factory=list)
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def give(self, rule: str, part: str, findings: Iterable[Finding]) -> bool:
        """Record findings; say whether there was a refusal."""
        refused = False
        for finding in findings:
            if rule in self.without:
                continue
            refused |= finding.severity == "refusal"
            place = (rule, finding.part or part)
            self._counts[place] = self._counts.get(place, 0) + 1
            if self._counts[place] <= bounds.MAX_FINDINGS:
                self._given.append(self._diagnostic(rule, part, finding))
        return refused

    @property
    def refused(self) -> bool:
        return any(d.severity == "refusal" for d in self._given)

    def refused_in(self, *parts: str) -> bool:
        return any(d.severity == "refusal" and d.part in parts for d in self._given)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return in_reading_order(self._given)

    def _diagnostic(self, rule: str, part: str, finding: Finding) -> Diagnostic:
        part = finding.part or part
        line = column = None
        if part in self.texts:
            line, column = line_and_column(self.texts[part], finding.at)
        return Diagnostic(
            rule=rule,
            severity=finding.severity,
            message=finding.message,
            hint=finding.hint,
            part=part,
            line=line,
            column=column,
        )
