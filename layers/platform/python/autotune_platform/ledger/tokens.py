"""Tokens that let a program ask one connection, or one task, in OpenAI's own words.

A token is an id and 256 random bits; of these a digest and the last four characters are stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from autotune.protocol import llm_tokens as wire
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_LLM_TOKENS
from autotune_platform.access.capabilities import NewSecret, require_future
from autotune_platform.access.models import Caller
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.token_repository import Token, TokenRepository
from autotune_platform.ledger.usable_connections import require_usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part


class TaskIds(Protocol):
    """Knows tasks of the apprentice, which is above the ledger."""

    def ids_of(self, organization_id: str, names: Iterable[str]) -> Mapping[str, str]:
        """Return ids of an organisation's tasks by their names, without those that are gone."""


@part
class TokenService:
    """Manages an organisation's tokens."""

    repository: TokenRepository
    connections: ConnectionRepository
    tasks: TaskIds
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: wire.CreateLlmTokenRequest) -> tuple[Token, str]:
        """Create a token; return it and what it is sent as, which cannot be read again.

        Raises:
            InvalidRequestError: the connection is not the organisation's or is revoked, there is
                no such task, or the expiry has passed.
            TooManyEntitiesError: the organisation has as many tokens as it may.
        """
        now = self.clock.now()
        require_future(request.expires_at, now)
        secret = NewSecret()
        token = Token(
            id=new_id("llt"),
            organization_id=caller.organization_id,
            **secret.stored,
            created_at=now,
            created_by=caller.key_id,
            **request.model_dump(exclude={"purpose"}),
            **self._asked(caller, request),
        )
        self.repository.add(token, at_most=MAX_LLM_TOKENS)
        return token, secret.text(token.id)

    def get(self, caller: Caller, token_id: str) -> Token:
        """Return a token of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.get_of(caller.organization_id, token_id)

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[Token], str | None]:
        """Return a page of the organisation's tokens, oldest first."""
        return self.repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def revoke(self, caller: Caller, token_id: str) -> Token:
        """Revoke a token, at once and for good; revoking it again changes nothing.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.revoke(caller.organization_id, token_id)

    def on_wire(self, *tokens: Token) -> Sequence[wire.LlmToken]:
        """Return an organisation's tokens without their secrets, with their states now."""
        now, lost = self.clock.now(), self._of_lost_tasks(tokens)
        return [
            wire.LlmToken.model_validate(
                {
                    **one.model_dump(),
                    "state": "revoked" if one.id in lost else one.state_at(now),
                }
            )
            for one in tokens
        ]

    def _asked(self, caller: Caller, request: wire.CreateLlmTokenRequest) -> dict[str, str]:
        """Return what a token has besides, by whom it may ask.

        Raises:
            InvalidRequestError: that is not there.
        """
        if request.connection_id is not None:
            require_usable(
                self.connections,
                caller.organization_id,
                request.connection_id,
                field="connectionId",
            )
            return {"purpose": request.purpose or wire.DEFAULT_PURPOSE}
        name = request.apprentice_task or ""
        task_id = self.tasks.ids_of(caller.organization_id, [name]).get(name)
        if task_id is None:
            raise InvalidRequestError.of_field(
                "apprenticeTask", "a task of this organization", detail=f"no task {name}"
            )
        return {"apprentice_task_id": task_id}

    def _of_lost_tasks(self, tokens: Sequence[Token]) -> set[str]:
        """Return the ids of those whose task was deleted, also where its name has another now."""
        asking = [one for one in tokens if one.apprentice_task is not None]
        if not asking:
            return set()
        names = {one.apprentice_task or "" for one in asking}
        kept = self.tasks.ids_of(asking[0].organization_id, names).items()
        return {
            one.id for one in asking if (one.apprentice_task, one.apprentice_task_id) not in kept
        }
