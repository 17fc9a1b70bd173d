"""What the machine has checked before a person decides."""

from collections.abc import Sequence
from dataclasses import dataclass

from aggregation.errors import Problem
from portal.accounts.models import Person
from portal.tasks.contents import verify_content
from portal.tasks.costing import Effect
from portal.tasks.models import Comment, Revision
from portal.tasks.rights import why_not_approver


@dataclass(frozen=True)
class Check:
    # good, warning or bad: approving works, works but look, does not work.
    tone: str
    title: str
    detail: str


def checks(
    revision: Revision, person: Person, effects: Sequence[Effect], threads: Sequence[Comment]
) -> list[Check]:
    return [
        _content(revision),
        _ledger(effects),
        _warnings(revision),
        _open_threads(threads),
        _second_person(revision, person),
    ]


def _content(revision: Revision) -> Check:
    try:
        verify_content(revision)
    except Problem as problem:
        return Check("bad", "The content does not hold", str(problem))
    title = "Hashes hold, and it compiles to the same again"
    return Check("good", title, "Read again from the frozen text, with the streams installed now.")


def _ledger(effects: Sequence[Effect]) -> Check:
    short = [effect for effect in effects if not effect.fits]
    if short:
        week = short[0]
        detail = f"{week.week} would be {week.words['left'].removeprefix('−')} over its cap."
        return Check("bad", "It does not fit the ledger", detail)
    return Check("good", "It fits the ledger", "Every week that an activation now would reserve.")


def _warnings(revision: Revision) -> Check:
    found = [w for w in revision.warnings if w["severity"] == "warning"]
    if not found:
        return Check("good", "The compiler has no warnings", "No rule for reviewers applies.")
    count = "1 warning" if len(found) == 1 else f"{len(found)} warnings"
    detail = " ".join(f"{w['message']} {w['hint']}".strip() for w in found)
    return Check("warning", f"The compiler has {count}", detail)


def _open_threads(threads: Sequence[Comment]) -> Check:
    still_open = [t for t in threads if t.resolved_at is None and not t.decision]
    if not still_open:
        return Check("good", "No thread is open", "Everything that was said is settled.")
    count = "1 thread is" if len(still_open) == 1 else f"{len(still_open)} threads are"
    return Check("warning", f"{count} open", "Read them before you decide.")


def _second_person(revision: Revision, person: Person) -> Check:
    if reason := why_not_approver(revision, person):
        return Check("bad", "You do not decide on this", reason)
    detail = "You neither submitted it nor ever wrote in this task."
    return Check("good", "You are a second person", detail)
