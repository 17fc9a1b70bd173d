"""What people ask the lab for. A form gives parameters; the study's kind judges them."""

from typing import Any

from django import forms


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


class ComparisonForm(forms.Form):
    devices = forms.IntegerField(
        label="Devices to fit on",
        initial=200_000,
        min_value=10_000,
        max_value=2_000_000,
        help_text="About 10,000 live in a region. A million take about two minutes for each ε.",
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
    phones = forms.IntegerField(
        label="Phones",
        initial=200_000,
        min_value=20_000,
        max_value=2_000_000,
        help_text="200,000 take about 15 seconds.",
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=1,
        min_value=0,
        max_value=2**62,
        help_text="Another one is another fleet.",
    )


FORMS: dict[str, type[forms.Form]] = {"comparison": ComparisonForm, "reach": ReachForm}


class CompareForm(forms.Form):
    """Two studies to stand side by side."""

    first = forms.IntegerField(label="Study", min_value=1, max_value=2**62)
    second = forms.IntegerField(label="beside study", min_value=1, max_value=2**62)
