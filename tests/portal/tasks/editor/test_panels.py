"""The tabs beside the editor that the server draws: preview, forecast, cost."""

from types import SimpleNamespace

import pytest
from django.core.cache import cache

from portal import throttles
from portal.tasks.pacing import PREVIEWS, pace_previews
from portal.tasks.starting_points import starting_point
from tests.portal.tasks.editor.conftest import TEXT


@pytest.mark.parametrize("slug", ["weekly-trips", "assistant-quality", "trip-lengths"])
def test_panels_show_a_task_that_compiles(ask, slug):
    text = starting_point(slug).text
    assert "Invented data" in ask("preview", text=text)[1]
    assert "Shown from" in ask("forecast", text=text)[1]
    assert "Left of cap" in ask("cost", text=text)[1]


def test_panels_of_a_refused_task_say_what_to_do(ask):
    for panel in ("preview", "forecast", "cost"):
        status, found = ask(panel, text="name: a")
        assert status == 400
        assert "Mend" in found["error"]["hint"]


def test_the_cost_counts_what_others_have_reserved(ask, clock):
    from django.utils import timezone

    from aggregation.protocol.windows import Unit, Window
    from portal.ledger.services import reserve

    window = Window.containing(timezone.now(), Unit.WEEK).next()
    reserve(task="other", streams=["trips"], windows=[window], hundredths=250, clock=clock)
    page = ask("cost", text=TEXT)[1]
    assert "−0.5" in page  # 4 − 2.5 − 2
    assert "could not be activated" in page
    reserve_own = Window.containing(timezone.now(), Unit.WEEK).next().next()
    reserve(
        task="weekly-trips", streams=["trips"], windows=[reserve_own], hundredths=200, clock=clock
    )
    assert ask("cost", text=TEXT)[1].count("−") == 1  # its own reservation makes way for it


@pytest.fixture
def noon(valkey, monkeypatch):
    """Calls are counted in Valkey, at one moment of a machine clock of the test's own."""
    monkeypatch.setattr(throttles, "time", SimpleNamespace(time=lambda: 1_794_830_400.0))
    cache.server.away_until = 0.0  # tests before this one had no Valkey
    cache.clear()


def test_one_person_does_not_keep_the_server_busy_with_previews(noon, signed_in, author, task):
    client = signed_in(who=author)
    address, body = f"/tasks/{task.name}/edit", {"text": starting_point("assistant-quality").text}

    def asked(panel, by=client):
        return by.post(f"{address}/{panel}", body, content_type="application/json")

    for _ in range(29):
        pace_previews(author)
    assert PREVIEWS == "30/min"
    assert asked("preview").status_code == 200
    refused = asked("preview")
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 120
    assert "many previews" in refused.json()["error"]["message"]
    assert "Ask again in" in refused.json()["error"]["hint"]
    # Others, and what costs little, go on.
    assert asked("forecast").status_code == 200
    assert asked("preview", by=signed_in("analyst")).status_code == 200
