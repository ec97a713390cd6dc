"""Who may do what."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from autotune.protocol.access import KeyStatus, OrganizationLimits, OrganizationStatus, Role
from autotune.protocol.sessions import SessionStatus
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity

Resource = Literal[
    "keys",
    "sessions",
    "tasks",
    "completions",
    "scores",
    "exports",
    "graders",
    "webhooks",
    "reviews",
    "reward_urls",
    "llm_connections",
    "llm_requests",
    "llm_budget",
    "decks",
    "deck_labels",
    "deck_capture",
    "apprentice",
    "audit",
]
Action = Literal["create", "read", "update", "delete"]
Scope = Literal["own", "organization"]


class Deletion(FrozenModel):
    """Where the deletion of an organisation stands.

    Attributes:
        place: what is emptied now.
        found_at: when it began, or the end of the last pass that found something.
        after: the key behind which it goes on.
        found: how much the present pass found.
        deleted: how much was deleted in all.
    """

    place: str
    found_at: datetime
    pass_began_at: datetime
    after: tuple[str, str] | None = None
    found: int = 0
    deleted: int = 0


class Organization(FrozenModel):
    """A tenant; of one that operators suspended nothing is accepted or returned.

    ``own_limits`` are those that operators set for it, by their names.
    """

    id: str
    name: str
    status: OrganizationStatus = "active"
    created_at: datetime
    own_limits: Mapping[str, int] = {}
    deletion: Deletion | None = None

    @property
    def limits(self) -> OrganizationLimits:
        """Its limits, its own and those that every organisation has."""
        return OrganizationLimits.model_validate(self.own_limits)


class Key(Entity):
    """An API key; its secret is derived from id and version and stored nowhere.

    ``created_by`` is the key that made it, None where an operator did.
    """

    name: str
    role: Role
    principal_id: str
    status: Literal["active", "revoked"]
    secret_version: int = 1
    created_at: datetime
    created_by: str | None = None
    expires_at: datetime | None = None

    def status_at(self, moment: datetime) -> KeyStatus:
        """Return the status at a moment; a revoked key stays revoked when it expires."""
        if self.status == "revoked":
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= moment else "active"


class Session(Entity):
    """Signs requests of a browser in place of the key that made it, for some hours.

    Its secret is derived as those of keys are. Of the code that a browser exchanges for it, once,
    the hash alone is kept. What a person began by signing in at an OpenID provider has neither key
    nor code, and is active at once.

    Attributes:
        issuer: the provider, where there was one.
        code_until: when the code stops working.
        valid_until: when the session ends by its time; it ends with its key at the latest.
    """

    name: str
    role: Role
    principal_id: str
    key_id: str | None = None
    issuer: str | None = None
    status: Literal["pending", "active", "revoked"] = "pending"
    secret_version: int = 1
    created_at: datetime
    code_sha256: str | None = None
    code_until: datetime | None = None
    exchanged_at: datetime | None = None
    valid_until: datetime

    def status_at(self, moment: datetime) -> SessionStatus:
        """Return the status at a moment; a revoked session stays revoked when it expires."""
        if self.status == "revoked":
            return "revoked"
        until = self.code_until if self.status == "pending" else self.valid_until
        return "expired" if until is None or until <= moment else self.status


class Person(FrozenModel):
    """Who signed in at an OpenID provider, and what they may do here.

    Attributes:
        principal_id: follows from the provider and its name for the person, which never changes.
        name: what the person is called in lists; it proves nothing.
    """

    issuer: str
    organization_id: str
    principal_id: str
    name: str
    role: Role


Signer = Key | Session
"""What signs requests."""


class Caller(FrozenModel):
    """The authenticated sender of one request.

    ``session_id`` is the session that signed in place of the key, which made it. Where no key did,
    ``key_id`` is that of the session as well: it stands for what makes things.
    ``by_link`` is whether the sender came by a link rather than signed with a key; ``review_id``
    is the one review that such a link is confined to, if it is. ``limits`` are those of the
    organisation.
    """

    key_id: str
    session_id: str | None = None
    organization_id: str
    principal_id: str
    role: Role
    request_id: str
    by_link: bool = False
    review_id: str | None = None
    limits: OrganizationLimits = Field(default_factory=OrganizationLimits)


_Grants = Mapping[tuple[Resource, Action], Scope]


def _grants(
    scope: Scope, resource: Resource, *actions: Action
) -> dict[tuple[Resource, Action], Scope]:
    return {(resource, action): scope for action in actions}


# A webhook gets every score of its organisation: who may not read those may not have one.
# A trainer reads graders to choose one for a task; what a grader's owner keeps private is left out
# of what it reads (``functions.graders.api``). To a grader's owner, scores are ``own`` that their
# graders gave in their organisation. Exports hold scores and texts: they are for who may read both,
# of the whole organisation. Nobody deletes scores: a verdict is permanent. No role reaches beyond
# its organisation; what a provider would call ``all`` is for operators with AWS credentials.
# Decks hold prompts, samples and results: they are for who may read completions. A reviewer sees of
# them what is to be labelled and no result before that, so that labels are blind.
# A session lends a browser what its key may do: every role has its principal's own.
PERMISSIONS: Mapping[Role, _Grants] = {
    "training_operator": {
        **_grants("own", "sessions", "create", "read", "delete"),
        **_grants("organization", "tasks", "create", "read", "update"),
        **_grants("organization", "completions", "create", "read"),
        **_grants("organization", "scores", "read"),
        **_grants("organization", "exports", "create", "read", "delete"),
        **_grants("organization", "graders", "read"),
        **_grants("organization", "webhooks", "create", "read", "update", "delete"),
        **_grants("organization", "reviews", "create", "read", "update"),
        **_grants("organization", "reward_urls", "create", "read", "delete"),
        **_grants("organization", "llm_connections", "read"),
        **_grants("organization", "llm_requests", "create", "read"),
        **_grants("organization", "llm_budget", "read"),
        **_grants("organization", "decks", "create", "read", "update", "delete"),
        **_grants("organization", "deck_labels", "create", "read", "update"),
        **_grants("organization", "deck_capture", "read"),
        **_grants("organization", "apprentice", "create", "read", "update", "delete"),
    },
    "grader_owner": {
        **_grants("own", "sessions", "create", "read", "delete"),
        **_grants("own", "graders", "create", "read", "update", "delete"),
        **_grants("own", "scores", "read"),
    },
    "reviewer": {
        **_grants("own", "sessions", "create", "read", "delete"),
        **_grants("organization", "reviews", "read", "update"),
        **_grants("organization", "deck_labels", "create", "read"),
    },
    "admin": {
        **_grants("organization", "keys", "create", "read", "update", "delete"),
        **_grants("organization", "sessions", "create", "read", "delete"),
        **_grants("organization", "tasks", "create", "read", "update", "delete"),
        **_grants("organization", "completions", "create", "read", "delete"),
        **_grants("organization", "scores", "read"),
        **_grants("organization", "exports", "create", "read", "delete"),
        **_grants("organization", "graders", "create", "read", "update", "delete"),
        **_grants("organization", "webhooks", "create", "read", "update", "delete"),
        **_grants("organization", "reviews", "create", "read", "update"),
        **_grants("organization", "reward_urls", "create", "read", "delete"),
        **_grants("organization", "llm_connections", "create", "read", "update", "delete"),
        **_grants("organization", "llm_requests", "create", "read", "delete"),
        **_grants("organization", "llm_budget", "read", "update"),
        **_grants("organization", "decks", "create", "read", "update", "delete"),
        **_grants("organization", "deck_labels", "create", "read", "update"),
        **_grants("organization", "deck_capture", "read", "update"),
        **_grants("organization", "apprentice", "create", "read", "update", "delete"),
        **_grants("organization", "audit", "read"),
    },
}
