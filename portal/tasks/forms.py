"""What readers of the task list ask for, and what people say when they act on a task."""

from typing import Any

from django import forms

from portal.streams.selectors import installed_catalog
from portal.tasks.commenting import MAX_LENGTH
from portal.tasks.selectors import TaskFilter

VIEWS = [
    ("", "All"),
    ("mine", "Mine"),
    ("review", "Awaiting review"),
    ("active", "Active"),
    ("ended", "Ended"),
]


class TaskFilterForm(forms.Form):
    """Filters in the URL; what makes no sense asks for nothing."""

    view = forms.ChoiceField(required=False, choices=VIEWS, widget=forms.HiddenInput)
    text = forms.CharField(
        required=False, max_length=100, label="Search", widget=forms.TextInput({"type": "search"})
    )
    stream = forms.ChoiceField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(stream.name, stream.name) for stream in installed_catalog()]
        self.fields["stream"].choices = [("", "Every stream"), *named]  # type: ignore[attr-defined]

    def wanted(self) -> TaskFilter:
        self.is_valid()
        found = getattr(self, "cleaned_data", {})
        return TaskFilter(**{name: value for name, value in found.items() if value})


class ReasonForm(forms.Form):
    reason = forms.CharField(
        required=False, max_length=500, help_text="Everyone who works on the task reads it."
    )


class DuplicateForm(forms.Form):
    name = forms.CharField(
        max_length=64,
        label="Name of the new task",
        help_text="Lower-case letters, digits and hyphens.",
    )


class CommentForm(forms.Form):
    text = forms.CharField(
        max_length=MAX_LENGTH, label="Comment", widget=forms.Textarea({"rows": 3})
    )
    thread = forms.IntegerField(required=False, widget=forms.HiddenInput)
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)
    part = forms.CharField(required=False, max_length=10, widget=forms.HiddenInput)
    line = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)


class DecisionForm(forms.Form):
    """One form, three buttons. What was seen travels with it."""

    seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    comment = forms.CharField(
        required=False,
        max_length=MAX_LENGTH,
        widget=forms.Textarea({"rows": 3}),
        help_text="Needed to ask for changes or to reject.",
    )
    password = forms.CharField(
        required=False,
        label="Your password",
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
        help_text="Needed to approve.",
    )
