"""What a reader of the fleet's counts can ask for."""

from datetime import date

from django import forms

from portal.collection.fleet_counts import Span
from portal.collection.fleet_spans import Choice
from portal.tasks.models import Population


class FleetForm(forms.Form):
    """In the URL. What makes no sense has its error beside it, and the usual is shown."""

    by = forms.ChoiceField(choices=Span, required=False)
    at = forms.DateField(required=False)
    population = forms.CharField(required=False, max_length=64)

    def __init__(self, data: object, *, today: date) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self._today = today

    def clean_population(self) -> str:
        name = str(self.cleaned_data["population"])
        if name and not Population.objects.filter(name=name).exists():
            raise forms.ValidationError("There is no population of this name.")
        return name

    def clean(self) -> None:
        given = self.cleaned_data.get("at")
        if given and not self._choice(given, "").is_shown:
            self.add_error("at", "The counts of that time are not shown here.")

    def choice(self) -> Choice:
        self.is_valid()
        found = self.cleaned_data
        return self._choice(found.get("at") or self._today, found.get("population", ""))

    def _choice(self, at: date, population: str) -> Choice:
        span = Span(self.cleaned_data.get("by") or Span.DAY)
        return Choice.of(span, at=at, population=population, today=self._today)
