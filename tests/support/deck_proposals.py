"""A deck whose prompt the planted proposer writes graders for."""

from typing import Any

from tests.judges.models import PROPOSING_MODEL, PlantedModel, serve_planted
from tests.judges.planted_samples import SYSTEM_PROMPT
from tests.providers.answers import Ask
from tests.support.deck_runs import DeckRuns
from tests.support.ledger import Ledger

PRICES = {PROPOSING_MODEL: {"inputUsd": "0.1", "outputUsd": "0.4"}}


class Proposals(DeckRuns):
    """A deck whose prompt a model proposes graders for."""

    def __init__(self, ledger: Ledger, prompt: str = SYSTEM_PROMPT) -> None:
        super().__init__(ledger, systemPrompt=prompt)
        self.planted: PlantedModel = serve_planted(ledger.fake.world)
        self.connection_id = ledger.connect(maxWaitSeconds=0, prices=PRICES)
        self.judging(self.planted)  # type: ignore[arg-type] - it answers with what it costs, too
        self.proposer = {
            "connectionId": self.connection_id,
            "model": PROPOSING_MODEL,
            "params": {"maxTokens": 20_000},
        }

    def faults(self, *faults: str) -> None:
        self.planted.proposer.faults = list(faults)

    def propose(self, *, key: str | None = None, **body: Any) -> dict[str, Any]:
        headers = {} if key is None else {"idempotency-key": key}
        answer = self.platform.call(
            "POST",
            f"{self.path}/graders/propose",
            {"proposer": self.proposer, **body},
            headers=headers,
        )
        assert answer.status == 202, answer.text
        run: dict[str, Any] = answer.json["run"]
        return run

    def graders(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.platform.call("GET", f"{self.path}/graders").json[
            "graders"
        ]
        return found

    def asked_for(self, field: str) -> list[Ask]:
        return [one for one in self.asked if f'"{field}"' in one.prompt]
