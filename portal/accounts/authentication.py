"""Programs sign in with a token: `Authorization: Bearer mfly_…`. Never in an address."""

from datetime import UTC, datetime

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from portal.accounts.models import ApiToken, Person
from portal.accounts.tokens import note_use, token_with_secret


class TokenAuthentication(BaseAuthentication):
    """Finds the token by its hash. A wrong token is refused, even beside a good session cookie."""

    def authenticate(self, request: Request) -> tuple[Person, ApiToken] | None:
        scheme, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        now = datetime.now(UTC)
        token = token_with_secret(secret.strip())
        if token is None:
            raise AuthenticationFailed("The token is not one of ours.")
        if problem := _problem(token, now):
            raise AuthenticationFailed(problem)
        note_use(token=token, now=now)
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="mayfly"'


def _problem(token: ApiToken, now: datetime) -> str:
    """Why a token that exists does not let in. Only who holds its secret reads this."""
    if token.state != ApiToken.State.ACTIVE:
        return "The token has been revoked."
    if token.expires_at <= now:
        return f"The token expired on {token.expires_at:%Y-%m-%d}."
    if not token.owner.is_active:
        return "The token's owner has been deactivated."
    if token.owner.must_change_password:
        return "The token's owner must choose a password of their own first."
    return ""


class TokenScheme(OpenApiAuthenticationExtension):
    """How the API's description names it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "mfly_…"}
