"""What people ask the lab for. A form gives parameters; the study's kind judges them."""

from typing import Any

from django import forms

from portal.lab.given import SEEDS
from portal.tasks.models import Task


class Several(forms.CharField):
    """Numbers with commas or blanks between them."""

    def __init__(self, number: type[int] | type[float], **options: Any) -> None:
        self.number = number
        super().__init__(max_length=200, **options)

    def to_python(self, value: Any) -> Any:
        words = (super().to_python(value) or "").replace(",", " ").split()
        try:
            return [self.number(word) for word in words]
        except ValueError:
            raise forms.ValidationError("Write numbers with commas between them.") from None


def _devices(what: str, help_text: str, *, fewest: int = 10_000) -> forms.IntegerField:
    return _whole(fewest, 2_000_000, label=what, initial=200_000, help_text=help_text)


def _seed(another: str) -> forms.IntegerField:
    said = f"Another one is another {another}."
    return _whole(0, SEEDS - 1, label="Seed", initial=1, help_text=said)


def _whole(least: int, most: int, **options: Any) -> forms.IntegerField:
    said = f"Write a whole number from {least:,} to {most:,}."
    messages = dict.fromkeys(("invalid", "min_value", "max_value"), said)
    return forms.IntegerField(min_value=least, max_value=most, error_messages=messages, **options)


class ComparisonForm(forms.Form):
    devices = _devices(
        "Devices to fit on",
        "About 10,000 live in a region. A million take a minute or two for each ε.",
    )
    epsilons = Several(
        float, label="ε", initial="0.25, 0.5, 1, 2, 4, 8, 16", help_text="The paper's whole figure."
    )
    seeds = Several(int, label="Seeds", initial="1", help_text="Each one is another population.")
    people = forms.ChoiceField(
        label="People",
        choices=[("travellers", "travellers, as uneven as the paper's"), ("world", "the fleet's")],
    )


class ReachForm(forms.Form):
    phones = _devices("Phones", "200,000 take about 15 seconds.", fewest=20_000)
    seed = _seed("fleet")


class CalibrationForm(forms.Form):
    task = forms.ModelChoiceField(
        label="Task",
        queryset=Task.objects.exclude(state=Task.State.ENDED)
        .filter(draft__isnull=False)
        .order_by("name"),
        to_field_name="name",
        empty_label="Choose a task",
        help_text="As its draft is now: its query, keys, metrics and ε.",
    )
    fit = forms.ChoiceField(
        label="Mechanism",
        choices=[
            ("rotated", "Rotated + ρ"),
            ("group_scaling_grid", "Group Scaling, C by grid"),
            ("group_scaling_q98", "Group Scaling, C = q98"),
            ("budget_split", "Budget Split"),
            ("joint_clipping", "Joint Clipping"),
        ],
    )
    devices = _devices("Devices to fit on", "A million take about five minutes, and fit best.")
    seed = _seed("world of the same kind")

    def clean_task(self) -> str:
        """The draft's text: what is fitted stays what it was when it was asked for."""
        text: str = self.cleaned_data["task"].draft.text
        return text


class LoadForm(forms.Form):
    text = forms.CharField(
        label="Result",
        max_length=900_000,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="All that <code>manage.py calibrate</code> printed.",
    )


FORMS: dict[str, type[forms.Form]] = {
    "comparison": ComparisonForm,
    "calibration": CalibrationForm,
    "reach": ReachForm,
}


class CompareForm(forms.Form):
    """Two studies to stand side by side."""

    first = forms.IntegerField(label="Study", min_value=1, max_value=2**62)
    second = forms.IntegerField(label="beside study", min_value=1, max_value=2**62)
