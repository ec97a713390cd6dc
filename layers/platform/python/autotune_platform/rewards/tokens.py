"""Tokens of reward URLs: an id and a MAC over it."""

import hashlib
import hmac
import re

from autotune.protocol.ids import ID_BODY
from autotune_platform.access.secrets import DerivedSecrets

_SHAPE = re.compile(rf"(rwu_{ID_BODY})-([0-9a-f]{{64}})")
_SIGNED = b"autotune.reward-url.v1."


class RewardTokens:
    """Creates and reads tokens; it stores nothing of them."""

    def __init__(self, secrets: DerivedSecrets) -> None:
        self._secrets = secrets

    def token(self, reward_url_id: str) -> str:
        """Return the token of a reward URL."""
        return f"{reward_url_id}-{self._mac(reward_url_id)}"

    def claimed_id(self, token: str) -> str | None:
        """Return the id in a token, unverified; None if the text has not the form of a token."""
        shaped = _SHAPE.fullmatch(token)
        return shaped[1] if shaped else None

    def is_genuine(self, token: str) -> bool:
        """Return whether a token's MAC is right; the comparison takes constant time."""
        shaped = _SHAPE.fullmatch(token)
        return shaped is not None and hmac.compare_digest(shaped[2], self._mac(shaped[1]))

    def _mac(self, reward_url_id: str) -> str:
        # One secret for all organisations, so that made-up ids cost no calls of KMS.
        secret = self._secrets.derive("reward-url", "urls", 1)
        signed = _SIGNED + reward_url_id.encode()
        return hmac.new(bytes.fromhex(secret), signed, hashlib.sha256).hexdigest()
