"""What a reader of the audit log can ask for."""

from django import forms

from portal.audit.selectors import AuditFilter, values_in_log


def _day(name: str) -> forms.DateField:
    return forms.DateField(
        required=False,
        label=name,
        widget=forms.DateInput({"type": "date"}),
        error_messages={"invalid": "This is no date. Write it as 2026-12-31."},
    )


class AuditForm(forms.Form):
    """Filters in the URL. Choices are what the log holds, so nothing can be asked in vain."""

    person = forms.ChoiceField(required=False)
    action = forms.ChoiceField(required=False)
    object_type = forms.ChoiceField(required=False, label="Kind of object")
    object_label = forms.CharField(required=False, max_length=200, label="Object")
    object_id = forms.CharField(required=False, max_length=100, label="Object id")
    first_day = _day("From")
    last_day = _day("To")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if not self.data.get("object_id"):
            # A link to one object has it; people write what the table shows.
            del self.fields["object_id"]
        self._offer("person", "actor", "Everyone")
        self._offer("action", "action", "Every action")
        self._offer("object_type", "object_type", "Every kind")

    def wanted(self) -> AuditFilter:
        if not self.is_bound:
            return AuditFilter()
        return AuditFilter(**{k: v for k, v in self.cleaned_data.items() if v})

    def _offer(self, field: str, column: str, everything: str) -> None:
        options = [(value, value) for value in values_in_log(column)]
        self.fields[field].choices = [("", everything), *options]  # type: ignore[attr-defined]
        unknown = "The log has no “%(value)s”. Choose one from the list."
        self.fields[field].error_messages["invalid_choice"] = unknown
