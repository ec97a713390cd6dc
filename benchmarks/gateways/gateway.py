"""What a gateway is to a benchmark: doors that programs ask at, and the processes behind them."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

OURS = "ours"
MODEL = "gpt-4.1-mini"
PRICES = {"input": Decimal("0.4"), "cached": Decimal("0.1"), "output": Decimal("1.6")}
"""Of ``MODEL`` at the fake, in US dollars for a million tokens; both gateways know them."""


@dataclass(frozen=True)
class Door:
    """Where a program asks, with a key of its own.

    Attributes:
        url: of ``/chat/completions`` and what is beside it; or of another endpoint that takes POST.
        secret: the bearer.
        body: what is sent beside messages and ``max_tokens``; it names the model.
    """

    url: str
    secret: str
    body: Mapping[str, Any]


class Gateway(Protocol):
    """Stands between programs and the provider."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def door(self, limit_usd: Decimal | None = None) -> Door:
        """Return a new door; what is asked at it is paid from a budget of its own."""

    def cpu_seconds(self) -> Mapping[int, float]:
        """Return user and system time of each of its processes, by process id."""
