"""Whether people are reached by e-mail here."""

from django.conf import settings

_NO_EMAIL = "django.core.mail.backends.dummy.EmailBackend"


def email_is_on() -> bool:
    """Without a mail server, production sends no e-mail, and queues none."""
    return settings.EMAIL_BACKEND != _NO_EMAIL
