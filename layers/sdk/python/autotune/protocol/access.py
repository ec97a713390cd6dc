"""Keys and who holds them, on the wire."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.types import Moment, Name, RequestModel, ResponseModel, Timestamp

Role = Literal["training_operator", "grader_owner", "reviewer", "admin"]

OrganizationStatus = Literal["active", "suspended", "deleting", "deleted"]
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


class OrganizationLimits(ResponseModel):
    """How much an organisation may ask for; operators set it, and what they leave out is as here.

    Attributes:
        requests_per_second: of all its keys, links and reward URLs together.
        requests_per_second_of_key: of each of them; sessions of a key count as the key.
        open_completions: accepted and not yet decided, when more are submitted.
        runs_per_request: runs that one request begins: one for each hundred completions of each
            grader.
        waiting_requests: requests to reward URLs that wait for scores at once, and as many reads.
        graders: registered at once.
        tasks: there at once.
        keys: not revoked at once.
        sessions: made in twelve hours, which is the longest that one lasts. One key makes at most
            a tenth of them, or ten.
        reward_urls: not revoked at once.
        connections: to providers of language models, not revoked at once.
        open_llm_rows: requests to language models that have not ended, when more are enqueued.
        open_llm_bytes: bytes of all that these ask, with variables put in.
    """

    requests_per_second: int = 200
    requests_per_second_of_key: int = 100
    open_completions: int = 1_000_000
    runs_per_request: int = 100
    waiting_requests: int = 50
    graders: int = 1_000
    tasks: int = 10_000
    keys: int = 1_000
    sessions: int = 1_000
    reward_urls: int = 1_000
    connections: int = 100
    open_llm_rows: int = 1_000_000
    open_llm_bytes: int = limits.MAX_OPEN_LLM_BYTES


class OrganizationLimitChanges(RequestModel):
    """Limits of an organisation that operators set; what is left out stays as it is.

    What is null goes back to what every organisation has.
    """

    requests_per_second: Annotated[int, Field(ge=1, le=10_000)] | None = None
    requests_per_second_of_key: Annotated[int, Field(ge=1, le=10_000)] | None = None
    open_completions: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    runs_per_request: Annotated[int, Field(ge=1, le=5_000)] | None = None
    waiting_requests: Annotated[int, Field(ge=0, le=1_000)] | None = None
    graders: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    tasks: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    keys: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    sessions: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    reward_urls: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    connections: Annotated[int, Field(ge=1, le=10_000)] | None = None
    open_llm_rows: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    open_llm_bytes: (
        Annotated[int, Field(ge=limits.MIN_OPEN_LLM_BYTES, le=1_000_000_000_000_000)] | None
    ) = None


class Organization(ResponseModel):
    """A tenant: everything belongs to exactly one.

    Of one that is not active nothing is accepted or returned. Of one that is deleted only its id is
    left, which the audit log names. ``deleted_items`` is how much was deleted of one that is being
    deleted.
    """

    id: str
    name: str
    status: OrganizationStatus = "active"
    created_at: Timestamp
    deleted_items: int | None = None
    limits: OrganizationLimits = Field(default_factory=OrganizationLimits)


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
