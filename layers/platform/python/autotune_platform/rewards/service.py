"""Creates, verifies and revokes reward URLs."""

from collections.abc import Callable
from datetime import UTC, datetime

from autotune.protocol.ids import new_id
from autotune.protocol.rewards import CreateRewardUrlRequest
from autotune_platform.access.models import Caller
from autotune_platform.rewards.models import RewardUrl
from autotune_platform.rewards.repository import RewardUrlRepository
from autotune_platform.rewards.tokens import RewardTokens
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.tasks.service import TaskService

_UNKNOWN = "no such reward URL, or it was revoked or has expired"


class RewardUrlService:
    """Manages an organisation's reward URLs."""

    def __init__(
        self, *, repository: RewardUrlRepository, tasks: TaskService, tokens: RewardTokens
    ) -> None:
        self._repository = repository
        self._tasks = tasks
        self._tokens = tokens
        self.now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def create(self, caller: Caller, request: CreateRewardUrlRequest) -> tuple[RewardUrl, str]:
        """Create a reward URL; return it and its token, which cannot be read again.

        Raises:
            InvalidRequestError: the task is not the organisation's, or the expiry has passed.
        """
        now = self.now()
        if request.expires_at is not None and request.expires_at <= now:
            raise InvalidRequestError.of_field("expiresAt", "a moment in the future")
        try:
            self._tasks.get(caller, request.task_id)
        except NotFoundError as error:
            raise InvalidRequestError.of_field(
                "taskId", "a task of this organisation", told="no such task in this organisation"
            ) from error
        reward_url = RewardUrl(
            id=new_id("rwu"),
            organization_id=caller.organization_id,
            created_at=now,
            **request.model_dump(),
        )
        self._repository.add(reward_url)
        return reward_url, self._tokens.token(reward_url.id)

    def get(self, caller: Caller, reward_url_id: str) -> RewardUrl:
        """Return a reward URL of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        reward_url = self._repository.get(reward_url_id)
        if reward_url is None or reward_url.organization_id != caller.organization_id:
            raise NotFoundError(f"no reward URL {reward_url_id}")
        return reward_url

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[RewardUrl], str | None]:
        """Return a page of the organisation's reward URLs, oldest first."""
        return self._repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def revoke(self, caller: Caller, reward_url_id: str) -> RewardUrl:
        """Revoke a reward URL, at once and for good; revoking it again changes nothing.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        revoked = self._repository.revoke(self.get(caller, reward_url_id))
        if revoked is None:
            raise NotFoundError(f"no reward URL {reward_url_id}")
        return revoked

    def prove(self, token: str) -> RewardUrl:
        """Return the reward URL of a token, also one that was revoked or has expired.

        Raises:
            NotFoundError: the token is not valid. All invalid tokens get the same error and cost
                the same calls, except text without the form of a token, which costs none.
        """
        claimed = self._tokens.claimed_id(token)
        if claimed is None:
            raise NotFoundError(_UNKNOWN)
        # Read before the comparison, so that timing does not show whether id or MAC was wrong.
        reward_url = self._repository.get(claimed)
        genuine = self._tokens.is_genuine(token)
        if reward_url is None or not genuine:
            raise NotFoundError(_UNKNOWN)
        return reward_url

    def require_active(self, reward_url: RewardUrl) -> None:
        """Require that a reward URL is active.

        Raises:
            NotFoundError: it was revoked or has expired. The error is that of an unknown token.
        """
        if reward_url.state_at(self.now()) != "active":
            raise NotFoundError(_UNKNOWN)
