"""Keys and who holds them, on the wire."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from autotune.protocol.types import Moment, Name, RequestModel, ResponseModel, Timestamp

Role = Literal["training_operator", "grader_owner", "reviewer", "admin"]

OrganizationStatus = Literal["active", "suspended"]
KeyStatus = Literal["active", "revoked", "expired"]

PrincipalId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.@-]{1,100}$")]


class CreateKeyRequest(RequestModel):
    """A key for one program or person.

    What a principal registers is ``own`` to every key with the same ``principal_id``; without one
    the key stands for itself. ``expires_at`` is when it stops working, in the future; without it,
    once it is revoked.
    """

    name: Name
    role: Role
    principal_id: PrincipalId | None = None
    expires_at: Moment | None = None


class UpdateKeyRequest(RequestModel):
    """Another name for a key."""

    name: Name


class Key(ResponseModel):
    """An API key, without its secret.

    ``last_used_at`` is when it last signed a request that was accepted, to within an hour;
    ``created_by`` the key that made it, null for the first of an organisation.
    """

    id: str
    organization_id: str
    name: str
    role: Role
    principal_id: str
    status: KeyStatus
    created_at: Timestamp
    created_by: str | None = None
    expires_at: Timestamp | None = None
    last_used_at: Timestamp | None = None


class CreateKeyResponse(ResponseModel):
    """``api_key`` is shown this once; it cannot be read again."""

    key: Key
    api_key: str


class KeyResponse(ResponseModel):
    """One key."""

    key: Key


class KeyList(ResponseModel):
    """A page of keys."""

    keys: list[Key]
    next_token: str | None = None


class Organization(ResponseModel):
    """A tenant: everything belongs to exactly one.

    Of one that is suspended nothing is accepted or returned.
    """

    id: str
    name: str
    status: OrganizationStatus = "active"
    created_at: Timestamp


class OrganizationList(ResponseModel):
    """A page of organisations, in order of their creation; ``next_after`` begins the next one."""

    organizations: list[Organization]
    next_after: str | None = None


class OrganizationResponse(ResponseModel):
    """One organisation."""

    organization: Organization


class CreateOrganizationResponse(ResponseModel):
    """What the operator's command returns: the organisation and its first admin key."""

    organization: Organization
    key: Key
    api_key: str
