"""What people ask of their notifications and of deliveries."""

from django import forms

from portal.notifications.models import Delivery


class SeenForm(forms.Form):
    """The newest notification that was there when the page was drawn."""

    up_to = forms.IntegerField(min_value=0, max_value=2**63 - 1)


class DeliveryFilter(forms.Form):
    """Which deliveries to list; what makes no sense asks for the failed ones."""

    state = forms.ChoiceField(choices=[*Delivery.State.choices, ("all", "All")])

    def chosen(self) -> str:
        return str(self.cleaned_data["state"]) if self.is_valid() else Delivery.State.FAILED.value
