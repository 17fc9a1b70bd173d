"""What a reader of the ledger can ask for."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator

from portal.ledger.selectors import monday_before
from portal.streams.selectors import installed_catalog

USUAL_WEEKS = 8
# All weeks that can be asked for from here on have dates: there are none after the year 9999.
_LAST = date(9998, 1, 1)


class LedgerForm(forms.Form):
    """Filters in the URL."""

    stream = forms.ChoiceField(required=False)
    first = forms.DateField(
        required=False,
        label="From the week of",
        widget=forms.DateInput({"type": "date"}),
        validators=[MaxValueValidator(_LAST, f"Give a day up to {_LAST}.")],
    )
    weeks = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=53,
    )

    def __init__(self, *args: Any, now: datetime, weeks_back: int = 0, **kwargs: Any) -> None:
        """Without a day it begins with this week, or some weeks back."""
        super().__init__(*args, **kwargs)
        self._usual_first = monday_before(now) - timedelta(weeks=weeks_back)
        self._usual_weeks = USUAL_WEEKS + weeks_back
        self.fields["weeks"].widget.attrs["placeholder"] = self._usual_weeks
        self._streams = [stream.name for stream in installed_catalog()]
        named = [(name, name) for name in self._streams]
        self.fields["stream"].choices = [("", "Every stream"), *named]  # type: ignore[attr-defined]

    def streams(self) -> list[str]:
        chosen = self._value("stream")
        return [chosen] if chosen else self._streams

    def first_monday(self) -> date:
        chosen = self._value("first")
        if not chosen:
            return self._usual_first
        return monday_before(datetime.combine(chosen, time.min, UTC))

    def how_many(self) -> int:
        return self._value("weeks") or self._usual_weeks

    def _value(self, name: str) -> Any:
        """What was asked for, where it makes sense."""
        self.is_valid()
        return getattr(self, "cleaned_data", {}).get(name)
