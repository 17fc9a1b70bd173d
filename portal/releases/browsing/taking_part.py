"""Who took part: a sum over phones also changes when more or fewer of them send.

From the sums alone nobody can tell that from people who travel differently. What there is to tell
it by is the count of contributions beside each release, with two digits, for the whole task and not
for single places. It carries no noise and no ε covers it, and whoever can send updates of their own
can move it to where its digits change. So pages show it to operators alone. Reviewers, who read the
audit log, find steps of a hundred and more there: the threat model says so.
"""

from __future__ import annotations

from portal.accounts.models import Person, Role
from portal.collection.coarse import coarse
from portal.collection.models import Reach
from portal.releases.browsing.history import Viewer, earlier_period
from portal.releases.models import Release

# The same for everybody; what follows it depends on who may see counts, and on how many there are.
WHO = "A change may reflect how people travel, or who takes part."
FOR_OTHERS = f"{WHO} How many phones took part is not shown here, as no noise covers such counts."
TOO_FEW = (
    f"{WHO} How many phones took part is not shown: in one of the two windows they were fewer "
    "than 1,000, or were not counted."
)


def took_part(
    viewer: Viewer, release: Release, earlier: Release | None, *, place: str = "", than: str = ""
) -> str:
    """A sentence to stand beside a change; nothing where there is nothing to compare with.

    `than` names the other window where it is not just the one before.
    """
    if earlier is None:
        return ""
    if not _may_see(viewer):
        return FOR_OTHERS
    counts = _counts(release, earlier)
    if counts is None:
        return TOO_FEW
    now, then = counts
    rest = f" How many of them were in {place} is not known." if place else ""
    return f"{WHO} {_said(now, then, than or earlier_period(release))}{rest}"


def _said(now: int, then: int, before: str) -> str:
    if now == then:
        return f"About as many phones took part as {before}: {coarse(now)}."
    share = 100 * (now - then) / then
    word = "more" if share > 0 else "fewer"
    percent = f"about {abs(share):.0f} %" if abs(share) >= 1 else "less than 1 %"
    return (
        f"{coarse(now)} phones took part, and {coarse(then)} {before}: {percent} {word}. A sum "
        "that changes by about as much need not mean that anybody travels differently."
    )


def _counts(release: Release, earlier: Release) -> tuple[int, int] | None:
    rows = Reach.objects.filter(window__in=[release.window_id, earlier.window_id])
    found = dict(rows.values_list("window_id", "contributed"))
    now, then = found.get(release.window_id, 0), found.get(earlier.window_id, 0)
    # Below 1000 a count is not told, so neither is a change.
    return (now, then) if now and then else None


def _may_see(viewer: Viewer) -> bool:
    return isinstance(viewer, Person) and viewer.has_role(Role.OPERATOR)
