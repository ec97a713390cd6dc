"""Our chat completions, passed through to a connection."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from benchmarks.gateways.deployed import Deployed
from benchmarks.gateways.gateway import MODEL, OURS, ChatDoor

_FUNCTIONS = frozenset({"ChatApi"})


@dataclass(frozen=True)
class OurGateway:
    """The function that passes chat completions through."""

    deployed: Deployed
    name: str = f"{OURS}, passed through"

    def door(self, *, max_tokens: int, limit_usd: Decimal | None = None) -> ChatDoor:
        """Return a door of an organisation of its own, with the limit as its budget of the day."""
        _, api_key = self.deployed.new_organization()
        with self.deployed.client(api_key) as client:
            if limit_usd is not None:
                client.llm.set_budget(day_usd=limit_usd)
            connection_id = self.deployed.connect(client)
            token = client.llm.tokens.create(name="bench", connection_id=connection_id)
        return ChatDoor(
            f"{self.deployed.stand.base_url}/v1/chat/completions",
            token.secret,
            f"{connection_id}/{MODEL}",
            max_tokens,
        )

    def cpu_seconds(self) -> Mapping[int, float]:
        """Return user and system time of the function's workers."""
        return self.deployed.cpu_seconds(_FUNCTIONS)
