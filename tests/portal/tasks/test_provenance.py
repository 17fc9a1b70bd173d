"""Where parameters come from, in words for whoever decides on them."""

from portal.tasks.models import Provenance
from portal.tasks.provenance import in_words

QUALITY = {"mean": 0.0123, "by_metric": {"n": 0.3}, "best_scaling": 0.02, "on_others": True}


def test_it_works() -> None:
    facts = {"kind": "proxy", "devices": 30_000, "epsilon": 0.5, "quality": QUALITY, "seed": 2026}
    assert in_words(Provenance(facts=facts)) == [
        ("Data", "proxy"),
        ("Seed", "2026"),
        ("Devices", "30,000"),
        ("Fitted for ε", "0.5"),
        (
            "Fit quality",
            "expected error 1.23 % (n 30.00 %); 2.00 % with Group Scaling at its best clip; "
            "on other people",
        ),
    ]


def test_a_moment_is_written_as_elsewhere_and_a_day_stays_what_it_is() -> None:
    def written(date: str) -> list[tuple[str, str]]:
        return in_words(Provenance(facts={"date": date}))

    assert written("2026-11-16T20:29:28+00:00") == [("Date", "2026-11-16 20:29")]
    assert written("2026-11-16T22:29:28.123+02:00") == [("Date", "2026-11-16 20:29")]
    assert written("2026-11-16") == [("Date", "2026-11-16")]
    assert written("in the 2020s") == [("Date", "in the 2020s")]


def test_what_nobody_knows_is_left_out() -> None:
    assert in_words(Provenance(facts={"seed": None, "devices": None})) == []


def test_yes_and_no_are_words() -> None:
    assert in_words(Provenance(facts={"fit": {"on_others": True, "capped": False}})) == [
        ("Fit", "on others yes; capped no")
    ]
