"""What is asked for when a task is calibrated on phones."""

from decimal import Decimal
from typing import Any

from django import forms

from aggregation.compiler import bounds


class EpsilonForm(forms.Form):
    epsilon = forms.DecimalField(
        label="ε of the calibration",
        initial=Decimal(1),
        min_value=bounds.EPSILON_STEP,
        max_value=bounds.MAX_EPSILON,
        decimal_places=2,
        help_text="Charged once, for one window. ε times devices has to reach 100,000.",
    )


class ScalesForm(EpsilonForm):
    """Slices are made of the task's keys that have few values."""

    def __init__(self, *args: Any, keys: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["by"] = forms.MultipleChoiceField(
            label="A scale for each",
            choices=[(key, key) for key in keys],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text="Without any there is one scale per metric.",
        )


class ClipForm(EpsilonForm):
    scales = forms.CharField(max_length=64, widget=forms.HiddenInput)


class UseForm(forms.Form):
    clip = forms.CharField(max_length=64, widget=forms.HiddenInput)
    quantile = forms.FloatField(
        label="Devices that stay below the clip, in %",
        min_value=50,
        max_value=99.99,
        help_text="100 − 0.5/ε of the task is usually best.",
    )
