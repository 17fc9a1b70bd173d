"""How often one person may ask for what costs the server a noticeable part of a second."""

from portal.accounts.models import Person
from portal.problems import TooOften
from portal.throttles import seconds_to_wait

# A preview runs 200 invented phones: half a second of a core. The editor asks for one at a time,
# and only while its tab is open.
PREVIEWS = "30/min"


def pace_previews(person: Person) -> None:
    """Count a preview for this person, or refuse it until they have waited."""
    if wait := seconds_to_wait(f"preview-{person.pk}", rate=PREVIEWS):
        raise TooOften("previews", wait)
