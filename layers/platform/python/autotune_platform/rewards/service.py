"""Creates, verifies and revokes reward URLs, whose tokens are an id and a MAC over it."""

import hashlib
import hmac

from autotune.protocol import rewards as wire
from autotune.protocol.ids import new_id
from autotune_platform.access.capabilities import require_future, split, text_of
from autotune_platform.access.models import Caller
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.rewards.models import RewardUrl
from autotune_platform.rewards.repository import RewardUrlRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.tasks.service import TaskService

_UNKNOWN = "no such reward URL, or it was revoked or has expired"
_SIGNED = b"autotune.reward-url.v1."


@part
class RewardUrlService:
    """Manages an organisation's reward URLs."""

    repository: RewardUrlRepository
    tasks: TaskService
    secrets: DerivedSecrets
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: wire.CreateRewardUrlRequest) -> tuple[RewardUrl, str]:
        """Create a reward URL; return it and its token, which cannot be read again.

        Raises:
            InvalidRequestError: the task is not the organisation's, or the expiry has passed.
        """
        now = self.clock.now()
        require_future(request.expires_at, now)
        try:
            self.tasks.get(caller, request.task_id)
        except NotFoundError as error:
            raise InvalidRequestError.of_field(
                "taskId", "a task of this organisation", detail="no such task in this organisation"
            ) from error
        reward_url = RewardUrl(
            id=new_id("rwu"),
            organization_id=caller.organization_id,
            created_at=now,
            created_by=caller.key_id,
            **request.model_dump(),
        )
        self.repository.add(reward_url, at_most=caller.limits.reward_urls)
        return reward_url, text_of(reward_url.id, self._mac(reward_url.id))

    def get(self, caller: Caller, reward_url_id: str) -> RewardUrl:
        """Return a reward URL of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.get_of(caller.organization_id, reward_url_id)

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[RewardUrl], str | None]:
        """Return a page of the organisation's reward URLs, oldest first."""
        return self.repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def revoke(self, caller: Caller, reward_url_id: str) -> RewardUrl:
        """Revoke a reward URL, at once and for good; revoking it again changes nothing.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.revoke(caller.organization_id, reward_url_id)

    def prove(self, token: str) -> RewardUrl:
        """Return the reward URL of a token, also one that was revoked or has expired.

        Raises:
            NotFoundError: the token is not valid. All invalid tokens get the same error and cost
                the same calls, except text without the form of a token, which costs none.
        """
        sent = split("rwu", token)
        if sent is None:
            raise NotFoundError(_UNKNOWN)
        reward_url_id, mac = sent
        # Read before the comparison, so that timing does not show whether id or MAC was wrong.
        reward_url = self.repository.get(reward_url_id)
        is_genuine = hmac.compare_digest(mac, self._mac(reward_url_id))
        if reward_url is None or not is_genuine:
            raise NotFoundError(_UNKNOWN)
        return reward_url

    def require_active(self, reward_url: RewardUrl) -> None:
        """Require that a reward URL is active.

        Raises:
            NotFoundError: it was revoked or has expired. The error is that of an unknown token.
        """
        if reward_url.state_at(self.clock.now()) != "active":
            raise NotFoundError(_UNKNOWN)

    def _mac(self, reward_url_id: str) -> str:
        # One secret for all organisations, so that made-up ids cost no calls of KMS.
        secret = self.secrets.derive("reward-url", "urls", 1)
        signed = _SIGNED + reward_url_id.encode()
        return hmac.new(bytes.fromhex(secret), signed, hashlib.sha256).hexdigest()


def reward_url_on_wire(reward_url: RewardUrl) -> wire.RewardUrl:
    """Return a reward URL without its token, with its state now."""
    state = reward_url.state_at(SYSTEM_CLOCK.now())
    return wire.RewardUrl.model_validate({**reward_url.model_dump(), "state": state})
