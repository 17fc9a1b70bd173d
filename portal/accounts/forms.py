"""What people fill in about themselves and each other."""

from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError
from django.views.decorators.debug import sensitive_variables

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.accounts.emails import email_is_on
from portal.accounts.models import Person, Role, Scope
from portal.accounts.names import only_what_is_seen
from portal.accounts.passwords import require_password
from portal.accounts.sign_in import TooManyFailures
from portal.accounts.tokens import LIFETIMES_DAYS


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": (
            "This username and password do not match. Both must be typed exactly; "
            "an operator can give you a new password."
        ),
        "inactive": "This username and password do not match.",
    }
    # Seconds to wait, where there were too many failures.
    wait_seconds = 0

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean()
        except TooManyFailures as problem:
            self.wait_seconds = problem.wait_seconds
            raise ValidationError(str(problem), code="throttled") from None


class PasswordForm(PasswordChangeForm):
    """The old password is asked like at a sign-in: a borrowed screen is no place to guess it."""

    field_order = ["old_password", "new_password1", "new_password2"]

    def __init__(
        self, user: Person, *args: Any, clock: Clock, now: datetime, **kwargs: Any
    ) -> None:
        super().__init__(user, *args, **kwargs)
        self._clock, self._now = clock, now
        self.fields["old_password"].label = "Password you have now"
        self.fields["new_password1"].label = "New password"
        self.fields["new_password1"].help_text = (
            "At least 12 characters, and not a common one. Four random words are good and easy "
            "to remember."
        )
        self.fields["new_password2"].label = "New password again"
        self.fields["new_password2"].help_text = ""

    def clean_old_password(self) -> str:
        times = {"clock": self._clock, "now": self._now}
        return _own(self.user, self.cleaned_data["old_password"], may_be_starting=True, **times)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        new = cleaned.get("new_password1")
        if new and new == cleaned.get("old_password"):
            self.add_error("new_password1", "This is the password you have now. Choose another.")
        return cleaned


class WithPassword(forms.Form):
    """Asks who is signed in for their password: a stolen session ends within hours, and what was
    made with it would not."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )

    def __init__(
        self, asked: Person, *args: Any, clock: Clock, now: datetime, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._asked, self._clock, self._now = asked, clock, now
        self.fields["password"].help_text = (
            "The demo’s people have their username as password."
            if settings.DEMO
            else "The one you sign in with."
        )

    def clean_password(self) -> str:
        password = self.cleaned_data["password"]
        return _own(self._asked, password, clock=self._clock, now=self._now)


class ProfileForm(WithPassword, forms.ModelForm):
    field_order = ["full_name", "email", "wants_email", "password"]

    class Meta:
        model = Person
        fields = ["full_name", "email", "wants_email"]
        labels = {"email": "E-mail address", "wants_email": "Send me notifications by e-mail"}
        help_texts = {"full_name": "How others see you; your username where it is empty."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].required = False
        self.fields["password"].help_text = "Needed for another e-mail address, and to end e-mails."
        if not email_is_on():
            self.fields["wants_email"].help_text = "No mail server is set here, so none are sent."

    def clean_password(self) -> str:
        """What is mailed to somebody tells of tasks, and warns of what is done to their account."""
        ends = "wants_email" in self.changed_data and not self.cleaned_data.get("wants_email")
        if not (ends or "email" in self.changed_data):
            return ""
        if not self.cleaned_data["password"]:
            message = "This needs your password: e-mails warn of what is done to your account."
            raise ValidationError(message, code="required")
        return super().clean_password()

    def changed(self) -> list[str]:
        return [name for name in self.changed_data if name != "password"]


class RolesForm(forms.Form):
    roles = forms.MultipleChoiceField(
        label="What they may do",
        choices=[(role.value, f"{role.label}: {role.does}") for role in Role],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Nobody can approve a task of their own, whatever their roles are.",
    )

    def chosen(self) -> frozenset[Role]:
        return frozenset(Role(value) for value in self.cleaned_data["roles"])


class HeldRolesForm(WithPassword, RolesForm):
    """Of somebody who holds some: those that the page showed travel with it."""

    field_order = ["roles", "password"]
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def seen_roles(self) -> frozenset[str] | None:
        """None where the form was not the page's."""
        seen = self.data.get("seen")
        return None if seen is None else frozenset(seen.split())


class NewPersonForm(WithPassword, RolesForm, forms.ModelForm):
    field_order = ["username", "full_name", "email", "roles", "password"]

    class Meta:
        model = Person
        fields = ["username", "full_name", "email"]
        labels = {"email": "E-mail address"}
        help_texts = {"username": "Small letters, digits, dots, hyphens and underscores."}
        # Not what the browser remembers of whoever adds them.
        widgets = {
            "username": forms.TextInput({"autocomplete": "off"}),
            "email": forms.EmailInput({"autocomplete": "off"}),
        }

    def clean_username(self) -> str:
        return Person.normalize_username(self.cleaned_data["username"])


class TokenForm(WithPassword):
    field_order = ["name", "scopes", "lifetime_days", "password"]
    name = forms.CharField(
        max_length=60,
        validators=[only_what_is_seen],
        help_text="What will use it, such as “nightly export”.",
    )
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, f"{scope.label}: {scope.allows}") for scope in Scope],
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ.value],
        help_text="No token can approve a task, make other tokens or change your password.",
    )
    lifetime_days = forms.TypedChoiceField(
        label="Lifetime",
        choices=[(days, f"{days} days") for days in LIFETIMES_DAYS],
        coerce=int,
        initial=90,
    )

    def wanted(self) -> dict[str, Any]:
        """What the token is to be."""
        return {name: self.cleaned_data[name] for name in ("name", "scopes", "lifetime_days")}


@sensitive_variables("password")
def _own(person: Person, password: str, **how: Any) -> str:
    """The password, if it is this person's; else a sentence beside its field."""
    try:
        require_password(person, password, **how)
    except Problem as problem:
        raise ValidationError(str(problem), code="password_incorrect") from None
    return password
