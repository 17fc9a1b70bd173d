"""The people of a soak, over HTTP: an analyst who uses the API, and a reviewer at the browser.

Nothing is done for them behind the portal's back. A reviewer opens the page, reads what is in
review, and sends the form with a password.
"""

from __future__ import annotations

import html
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from typing import Any, Final

from aggregation.errors import Problem
from devices_sim.simulation.soak_programme import SPLIT, STARTING_POINTS, Act, What

_ANSWER_SECONDS: Final = 120.0
_FEW: Final = 100
_SUPPRESSION: Final = "suppression: {max_relative_noise: 0.5, metrics: [num_trips]}"
_REVISION: Final = re.compile(r'href="/review/(\d+)')
_SEEN: Final = re.compile(r'name="seen" value="([0-9a-f]{64})"')
# The ledger's own sentence.
_TOO_LITTLE: Final = re.compile(r"[\w-]+ would cost [^<>]+ is left\.")


class Refused(Exception):
    """The portal did not do it, and said why."""


class Browser:
    """One person who is signed in."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self._jar = url, CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._jar))
        self.page("/login")
        # The demo's people have their names as passwords.
        self.send("/login", username=name, password=name)

    def page(self, path: str) -> str:
        return self._asked(urllib.request.Request(self._url + path))  # noqa: S310 - our own

    def send(self, path: str, **fields: str) -> str:
        body = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": self._csrf})
        return self._asked(
            urllib.request.Request(self._url + path, data=body.encode())  # noqa: S310
        )

    def call(self, method: str, path: str, **document: Any) -> Any:
        """A call of the API, as the pages make them."""
        request = urllib.request.Request(  # noqa: S310
            f"{self._url}/api/v1/{path}",
            method=method,
            data=json.dumps(document).encode() if method != "GET" else None,
            headers={"Content-Type": "application/json", "X-CSRFToken": self._csrf},
        )
        return json.loads(self._asked(request))

    @property
    def _csrf(self) -> str:
        return next((c.value or "" for c in self._jar if c.name == "csrftoken"), "")

    def _asked(self, request: urllib.request.Request) -> str:
        try:
            with self._opener.open(request, timeout=_ANSWER_SECONDS) as answer:
                text: str = answer.read().decode()
                return text
        except urllib.error.HTTPError as error:
            raise Refused(_why(error.code, error.read().decode(errors="replace"))) from None


class People:
    def __init__(self, url: str) -> None:
        self._analyst, self._reviewer = Browser(url, "analyst"), Browser(url, "reviewer")
        points = self._analyst.call("GET", "specs/templates")
        self._texts = {point["slug"]: point["text"] for point in points}

    def do(self, act: Act) -> None:
        """Raises Refused with the portal's own words."""
        match act.what:
            case What.START:
                text = self._spec(act)
                self._analyst.call("POST", "tasks", name=act.task, text=text)
                self._submit_and_approve(act.task)
            case What.CHANGE:
                draft = self._analyst.call("GET", f"tasks/{act.task}/draft")
                text, version = self._spec(act), draft["version"]
                self._analyst.call(
                    "PUT", f"tasks/{act.task}/draft", text=text, base_version=version
                )
                self._submit_and_approve(act.task)
            case What.RESUME:
                self._analyst.call("POST", f"tasks/{act.task}/resume")
                self._approve(act.task)
            case What.PAUSE | What.END:
                step, reason = act.what.value, "As the programme says."
                self._analyst.call("POST", f"tasks/{act.task}/{step}", reason=reason)
            case _:
                raise Problem(f"Nobody of the portal does this: {act}.")

    def _spec(self, act: Act) -> str:
        """A starting point at another price, under another name, and with a week of grace. Sums
        over few phones are stored: a soak has few, and is about what is stored. What is shown of
        them depends on trips alone, so that distances are not shown for being too high."""
        text: str = self._texts[STARTING_POINTS[act.task]]
        text = re.sub(r"^name: .*$", f"name: {act.task}", text, count=1, flags=re.MULTILINE)
        text = re.sub(r"epsilon: [0-9.]+", f"epsilon: {act.epsilon}", text, count=1)
        text = text.replace("aggregation: {", f"aggregation: {{min_contributions: {_FEW}, ")
        if act.task == SPLIT:
            text = re.sub(r"suppression: {.*}", _SUPPRESSION, text, count=1)
        return re.sub(r"grace_hours: \d+", "grace_hours: 168", text, count=1)

    def _submit_and_approve(self, task: str) -> None:
        version = self._analyst.call("GET", f"tasks/{task}/draft")["version"]
        self._analyst.call("POST", f"tasks/{task}/submit", version=version)
        self._approve(task)

    def _approve(self, task: str) -> None:
        """The one that was submitted last, as its page shows it."""
        newest = max(map(int, _REVISION.findall(self._reviewer.page("/review"))))
        page = self._reviewer.page(f"/review/{newest}")
        seen = _SEEN.search(page)
        if seen is None or task not in page:
            raise Problem(f"The review page of {task} has nothing to approve.")
        self._reviewer.send(
            f"/review/{newest}/decide",
            decision="approve",
            seen=seen[1],
            password="reviewer",  # noqa: S106 - the demo's
            comment="As the programme says.",
        )


def _why(status: int, body: str) -> str:
    """The portal's sentence: from the API's error, or from the page."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        found = _TOO_LITTLE.search(html.unescape(body))
        return found[0] if found else f"The page answered {status}."
