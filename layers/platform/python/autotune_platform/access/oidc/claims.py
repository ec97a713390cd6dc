"""What an ID token says of a person, in our terms: who it is, and what they may do."""

import hashlib
from collections.abc import Mapping
from typing import Any

from autotune.protocol.access import Role
from autotune.protocol.limits import MAX_NAME_CHARACTERS

# Of several roles in a claim without a mapping the first of these counts.
_ROLES: tuple[Role, ...] = ("admin", "training_operator", "grader_owner", "reviewer")
_NAMES = ("email", "preferred_username", "name")
_NAMELESS = "OpenID Connect"


def role_of(claims: Mapping[str, Any], *, claim: str, roles: Mapping[str, Role]) -> Role | None:
    """Return the role that a claim gives; None where it gives none.

    Args:
        claim: its name, or names with dots between them where it lies deeper. Names with dots in
            them, as URLs are, come first.
        roles: roles by values of the claim, of which the first that the claim has counts. Empty
            where its values are roles.
    """
    found = _at(claims, claim)
    values = {found} if isinstance(found, str) else _texts(found)
    by_value = roles or {role: role for role in _ROLES}
    return next((role for value, role in by_value.items() if value in values), None)


def principal_of(issuer: str, subject: str) -> str:
    """Return who a person is here; no two of any provider are the same.

    A subject is unique and never used again within its provider, as an address of e-mail is not
    (OpenID Connect Core 1.0, 5.7); it may have characters that a principal may not.
    """
    hashed = hashlib.sha256(f"{issuer}\0{subject}".encode()).hexdigest()
    return f"oidc_{hashed[:40]}"


def name_of(claims: Mapping[str, Any]) -> str:
    """Return what a person is called in lists."""
    for claim in _NAMES:
        name = claims.get(claim)
        if isinstance(name, str) and name.strip() and name.isprintable():
            return name.strip()[:MAX_NAME_CHARACTERS].strip()
    return _NAMELESS


def _at(claims: Mapping[str, Any], name: str) -> Any:
    if name in claims:
        return claims[name]
    found: Any = claims
    for step in name.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _texts(found: Any) -> set[str]:
    return {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()
