"""Beginning a task: a name, and something to start from."""

from typing import Any

from django import forms

from aggregation.errors import Problem
from aggregation.protocol.spec_text import MAX_BYTES, read_document
from portal.tasks.editor_document import Edit, with_edits
from portal.tasks.starting_points import starting_point, starting_points

BLANK = "blank"
_BLANK_TEXT = """\
name: my-task
description: ""
streams: [trips]
population: all
window: {unit: week, grace_hours: 168}
client_sql: |
  SELECT activity, privacy_time_unit, COUNT(*) AS trips
  FROM trips
  GROUP BY activity, privacy_time_unit
server_sql: |
  SELECT activity, privacy_time_unit, SUM(trips) AS trips
  FROM device_results
  GROUP BY activity, privacy_time_unit
anonymization:
  epsilon: 0.5
  mechanism: {kind: joint_clipping, clip: 40}
"""


class NewTaskForm(forms.Form):
    name = forms.CharField(
        max_length=64,
        strip=True,
        help_text="Up to 64 of a–z, 0–9 and hyphens. It stays: releases are found under it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    start = forms.CharField(required=False, widget=forms.HiddenInput)
    document = forms.FileField(
        required=False,
        label="Upload a spec",
        help_text="A YAML or JSON file of at most 64 kB, instead of the starting point.",
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml,.json"}),
    )

    def clean_document(self) -> str:
        file = self.cleaned_data.get("document")
        if not file:
            return ""
        if file.size > MAX_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; at most 65,536 are read."
            )
        try:
            return str(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise forms.ValidationError("The file is not UTF-8 text.") from None

    def text(self) -> str:
        """The document to begin with, under the task's own name."""
        given: dict[str, Any] = self.cleaned_data
        point = starting_point(given.get("start") or BLANK)
        text = given.get("document") or (point.text if point else _BLANK_TEXT)
        try:
            read_document(text)
            return with_edits(text, [Edit(("name",), given["name"])])
        except Problem:
            return str(text)  # a draft may be anything; the editor says what is wrong with it


def starting_choices() -> list[dict[str, Any]]:
    """The starting points with what each is made of, for their cards."""
    return [
        {
            "slug": point.slug,
            "title": point.title,
            "answers": point.answers,
            "streams": point.spec.streams,
            "unit": point.spec.window.unit,
            "epsilon": point.spec.anonymization.epsilon,
        }
        for point in starting_points()
    ]
