"""How much of a provider's bill each gateway lets through beyond a limit.

Requests with a large ``max_tokens`` come eight at once. The provider keeps its own bill, which is
what counts here: a gateway's own count is not asked for.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from benchmarks.gateways.asking import SETTLES_WITHIN_SECONDS, ask
from benchmarks.gateways.gateway import OURS, PRICES, Gateway
from benchmarks.gateways.saying import answer_of
from benchmarks.llm_provider import bill, say

REQUESTS = 64
AT_ONCE = 8
MAX_TOKENS = 4_000
OUTPUT_USD = PRICES["output"] * MAX_TOKENS / 1_000_000
"""What the answer to one of these requests costs, all of whose tokens are used."""


@dataclass(frozen=True)
class Case:
    """What is asked, and what goes wrong.

    Attributes:
        limit_usd: the budget.
        traps: of the fake.
    """

    name: str
    limit_usd: Decimal
    traps: tuple[Mapping[str, Any], ...] = ()


CASES = (
    Case("answers as long as they may be", OUTPUT_USD * Decimal("10.5")),
    Case("a limit that no request fits in", OUTPUT_USD / 10),
    Case(
        "half of the answers lost after they are billed",
        OUTPUT_USD * Decimal("10.5"),
        ({"name": "chat_answer_lost", "times": None, "probability": 0.5},),
    ),
    Case(
        "all answers lost after they are billed",
        OUTPUT_USD * Decimal("10.5"),
        ({"name": "chat_answer_lost", "times": None},),
    ),
)


@dataclass(frozen=True)
class Storm:
    """What a storm came to; money in US dollars."""

    gateway: str
    case: Case
    statuses: Mapping[int, int]
    executions: int
    billed_usd: Decimal

    @property
    def is_ours(self) -> bool:
        """Return whether it is held to what the product promises."""
        return self.gateway.startswith(OURS)

    @property
    def over_usd(self) -> Decimal:
        """Return how much of the bill is beyond the limit."""
        return max(self.billed_usd - self.case.limit_usd, Decimal(0))

    def as_json(self) -> dict[str, Any]:
        """Return it for the report."""
        return {
            "gateway": self.gateway,
            "case": self.case.name,
            "requests": REQUESTS,
            "answers": ", ".join(f"{n} of {status}" for status, n in sorted(self.statuses.items())),
            "executed by the provider": self.executions,
            "limit USD": f"{self.case.limit_usd:.5f}",
            "billed USD": f"{self.billed_usd:.5f}",
            "over the limit": f"{self.over_usd / self.case.limit_usd:.0%}",
        }


def storms(gateway: Gateway, provider_url: str) -> Iterator[Storm]:
    """Storm a gateway in each case, at a door of its own."""
    say(provider_url, answer_of(MAX_TOKENS))
    for case in CASES:
        door = gateway.door(max_tokens=MAX_TOKENS, limit_usd=case.limit_usd)
        before = bill(provider_url)
        traps = f"{provider_url}/_fake/traps"
        if case.traps:
            httpx.post(traps, json=[dict(trap) for trap in case.traps]).raise_for_status()
        try:
            asked = ask(door, REQUESTS, at_once=AT_ONCE)
            time.sleep(SETTLES_WITHIN_SECONDS)
        finally:
            httpx.delete(traps).raise_for_status()
        after = bill(provider_url)
        nano_usd = after["total_nano_usd"] - before["total_nano_usd"]
        yield Storm(
            gateway.name,
            case,
            statuses=asked.statuses,
            executions=after["executions"] - before["executions"],
            billed_usd=Decimal(nano_usd) / 1_000_000_000,
        )
