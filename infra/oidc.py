"""Where people sign in to the console with OpenID Connect: context values of a deployment."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

ROLES = ("admin", "training_operator", "grader_owner", "reviewer")
NAMES = (
    *("oidc-issuer", "oidc-client-id", "oidc-organization", "oidc-role-claim", "oidc-roles"),
    *("oidc-scope", "oidc-session-minutes"),
)
"""The context values."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LEAST_MINUTES, _MOST_MINUTES, _USUAL_MINUTES = 5, 720, 480


class InvalidOidcError(ValueError):
    """A context value of OpenID Connect is missing or cannot be used."""


@dataclass(frozen=True, kw_only=True)
class OidcConfig:
    """The provider of a deployment.

    Attributes:
        issuer: Its name, a URL that its configuration lies below.
        client_id: The console's name there, a client without a secret.
        organization_id: The organisation that everybody signs in to.
        role_claim: The claim that says what somebody may do.
        roles: Roles by values of that claim; empty where its values are roles.
        scope: What the provider is asked for.
        session_minutes: How long a session lasts.
    """

    issuer: str
    client_id: str
    organization_id: str
    role_claim: str
    roles: Mapping[str, str]
    scope: str
    session_minutes: int

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of the function that signs people in."""
        return {
            "OIDC_ISSUER": self.issuer,
            "OIDC_CLIENT_ID": self.client_id,
            "OIDC_ORGANIZATION": self.organization_id,
            "OIDC_ROLE_CLAIM": self.role_claim,
            "OIDC_ROLES": json.dumps(self.roles),
            "OIDC_SCOPE": self.scope,
            "OIDC_SESSION_MINUTES": str(self.session_minutes),
        }

    @classmethod
    def create(cls, values: Mapping[str, object], *, admits_loopback: bool) -> "OidcConfig | None":
        """Reads context values; returns None where none is set.

        Args:
            values: Context values by their names, those of ``NAMES``; None where one is not set.
            admits_loopback: Whether an issuer on loopback may do without TLS.

        Raises:
            InvalidOidcError: One is missing, or is not what it should be.
        """
        given = {name: value for name, value in values.items() if value not in (None, "")}
        if not given:
            return None
        for name in ("oidc-issuer", "oidc-client-id", "oidc-organization"):
            if name not in given:
                raise InvalidOidcError(f"{name} is not set, and {', '.join(sorted(given))} is")
        return cls(
            issuer=_issuer(str(given["oidc-issuer"]), admits_loopback=admits_loopback),
            client_id=_text("oidc-client-id", given["oidc-client-id"]),
            organization_id=_organization(str(given["oidc-organization"])),
            role_claim=_text("oidc-role-claim", given.get("oidc-role-claim", "roles")),
            roles=_roles(given.get("oidc-roles", {})),
            scope=_scope(str(given.get("oidc-scope", "openid email profile"))),
            session_minutes=_minutes(given.get("oidc-session-minutes", _USUAL_MINUTES)),
        )


def _issuer(given: str, *, admits_loopback: bool) -> str:
    expected = "a URL that begins with https://, as the provider's configuration has it"
    try:
        parts = urlsplit(given)
        _ = parts.port
    except ValueError as error:
        raise _invalid("oidc-issuer", given, expected) from error
    is_plain = re.fullmatch(r"[!-~]+", given) is not None and not parts.query and not parts.fragment
    is_loopback = admits_loopback and parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not is_plain or not parts.hostname or parts.username is not None:
        raise _invalid("oidc-issuer", given, expected)
    if parts.scheme != "https" and not is_loopback:
        raise _invalid("oidc-issuer", given, expected)
    return given


def _text(name: str, given: object) -> str:
    if not isinstance(given, str) or re.fullmatch(r"[!-~]{1,500}", given) is None:
        raise _invalid(name, given, "text without spaces, of at most 500 characters")
    return given


def _organization(given: str) -> str:
    if re.fullmatch(r"org_[0-9a-v]{26}", given) is None:
        raise _invalid("oidc-organization", given, "the id of an organisation, org_…")
    return given


def _roles(given: object) -> Mapping[str, str]:
    """Return roles by values of the claim, in their order: the first that somebody has counts."""
    expected = f'a JSON object such as {{"my-group": "admin"}}, with roles {", ".join(ROLES)}'
    try:
        found = json.loads(given) if isinstance(given, str) else given
    except json.JSONDecodeError as error:
        raise _invalid("oidc-roles", given, expected) from error
    if not isinstance(found, Mapping) or not all(role in ROLES for role in found.values()):
        raise _invalid("oidc-roles", given, expected)
    return {str(value): str(role) for value, role in found.items()}


def _scope(given: str) -> str:
    scopes = given.split()
    if "openid" not in scopes or re.fullmatch(r"[!-~ ]{1,500}", given) is None:
        raise _invalid("oidc-scope", given, "scopes with spaces between them, openid among them")
    return " ".join(scopes)


def _minutes(given: object) -> int:
    text = str(given)
    if not text.isdecimal() or not _LEAST_MINUTES <= int(text) <= _MOST_MINUTES:
        expected = f"a number from {_LEAST_MINUTES} to {_MOST_MINUTES}"
        raise _invalid("oidc-session-minutes", given, expected)
    return int(text)


def _invalid(name: str, given: object, expected: str) -> InvalidOidcError:
    return InvalidOidcError(f"{name} is {given!r}, expected {expected}")
