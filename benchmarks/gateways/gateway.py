"""What a gateway is to a benchmark: doors that programs ask at, and the processes behind them."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import httpx

OURS = "ours"
MODEL = "gpt-4.1-mini"
PRICES = {"input": Decimal("0.4"), "cached": Decimal("0.1"), "output": Decimal("1.6")}
"""Of ``MODEL`` at the fake, in US dollars for a million tokens; both gateways know them."""


class Door(Protocol):
    """Where a program asks, with a key of its own."""

    def post(self, client: httpx.Client, prompt: str) -> httpx.Response:
        """Ask, and wait for the answer."""


@dataclass(frozen=True)
class ChatDoor:
    """OpenAI's chat completions.

    Attributes:
        url: of ``/chat/completions``.
        secret: the bearer.
        model: its name there.
        max_tokens: of each answer.
    """

    url: str
    secret: str
    model: str
    max_tokens: int

    def post(self, client: httpx.Client, prompt: str) -> httpx.Response:
        """Ask, and wait for the answer."""
        return client.post(
            self.url,
            headers={"authorization": f"Bearer {self.secret}"},
            json={
                "model": self.model,
                "max_tokens": self.max_tokens,
                "messages": [{"role": "user", "content": prompt}],
            },
        )


class Gateway(Protocol):
    """Stands between programs and the provider."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def door(self, *, max_tokens: int, limit_usd: Decimal | None = None) -> Door:
        """Return a new door; what is asked at it is paid from a budget of its own."""

    def cpu_seconds(self) -> Mapping[int, float]:
        """Return user and system time of each of its processes, by process id."""
