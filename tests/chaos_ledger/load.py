"""Who asks for what in a round: organisations, connections to every provider, and their traps."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.chaos_ledger.answers import LABELS, answer_of, name_in
from tests.chaos_ledger.orders import Orders
from tests.chaos_ledger.storm import Storm
from tests.chaos_ledger.traps import Occasions, arm
from tests.providers.answers import Ask
from tests.support.lambdas import Answer

_VERDICT = {"type": "label", "labels": list(LABELS)}
_PURPOSES = ("scoring", "scoring", "scoring", "critic", "probe")
# Of chunks of rows so small, so many are ordered, row by row.
_MOST_ORDERED, _CHANCE_OF_ORDERS = 20, 0.4
_BUDGETS = ({}, {"dayUsd": "0.03"}, {"dayUsd": "0.2", "monthUsd": "0.9"})
_GPT = {
    "inputUsd": "0.25",
    "outputUsd": "2",
    "cachedInputUsd": "0.025",
    "batchInputUsd": "0.125",
    "batchOutputUsd": "1",
    "batchCachedInputUsd": "0.0125",
}
_HAIKU = {
    "inputUsd": "1",
    "outputUsd": "5",
    "cachedInputUsd": "0.1",
    "batchInputUsd": "0.5",
    "batchOutputUsd": "2.5",
    "batchCachedInputUsd": "0.05",
}
_FLASH = {
    "inputUsd": "0.3",
    "outputUsd": "2.5",
    "cachedInputUsd": "0.03",
    "batchInputUsd": "0.15",
    "batchOutputUsd": "1.25",
    "batchCachedInputUsd": "0.03",
}
_SERVED = {"inputUsd": "0.1", "outputUsd": "0.4"}


@dataclass(frozen=True)
class Provider:
    """One that rows go to: where the fake has it, and what its model costs."""

    name: str
    path: str
    model: str
    price: dict[str, str]


PROVIDERS = (
    Provider("openai", "/v1", "gpt-5-mini", _GPT),
    Provider("azure", "", "gpt-5-mini", _GPT),
    Provider("anthropic", "", "claude-haiku-4-5", _HAIKU),
    Provider("gemini", "", "gemini-2.5-flash", _FLASH),
    Provider("openrouter", "/api/v1", "openai/gpt-5-mini", _GPT),
    Provider("simulated", "/served/v1", "small", _SERVED),
)


@dataclass
class Organization:
    """One that asks, with its connections by provider."""

    name: str
    api_key: str
    id: str
    connections: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """A row that was sent.

    Attributes:
        has_verdict: whether the ledger reads its answer.
        asks_again: whether the ledger asks again where it cannot.
        is_ordered: whether it was ordered as by a rubric grader's run, which reads it itself.
    """

    name: str
    provider: str
    organization: str
    has_verdict: bool = False
    asks_again: bool = False
    is_ordered: bool = False


class Load:
    """Sends rows, cancels some, changes keys, and looks after what is paused.

    Attributes:
        sent: every row that was ever sent, by what it asks.
        ids: the ids of those that were accepted, with the same.
        keys: every key that was ever in use.
        orders: those that were ordered.
    """

    def __init__(self, storm: Storm, seed: int) -> None:
        self._storm, self._seed = storm, seed
        self.random = random.Random(f"load-{seed}")
        self.organizations: list[Organization] = []
        self.sent: dict[str, Sent] = {}
        self.ids: dict[str, Sent] = {}
        self.keys: list[str] = []
        self.canceled = 0
        self.orders = Orders(storm)
        self._asked: Counter[str] = Counter()
        storm.fake.world.answers.answerer = self._answer

    def begin(self, rows: int, providers: Sequence[str]) -> None:
        """Make organisations and connections, and plan everything that is asked of providers."""
        self._providers = [one for one in PROVIDERS if one.name in providers]
        platform = self._storm.platform
        for number, limits in enumerate(_BUDGETS):
            key = platform.api_key if number == 0 else platform.new_organization(f"org {number}")
            organization = Organization(f"o{number}", key, platform.me(key)["organizationId"])
            self.organizations.append(organization)
            if limits:
                assert self.call(organization, "PUT", "/api/v1/llm-budget", limits).status == 200
            for provider in self._providers:
                organization.connections[provider.name] = self._connect(organization, provider)
        self._plan_rows(rows)
        for hours in (0.4, 1.1, 3.2):
            self._at(hours, self._cancel_probes)
            self._at(hours + 0.3, self._cancel_a_batch)
            self._at(hours + 0.1, self._rotate)
        self._storm.every(3600, self._look_after)

    def arm(self) -> None:
        """Set every trap, and see that those are sprung that nobody may come by."""
        arm(self._storm.fake.world.traps, self.random)
        Occasions(self._storm, cancel=self._cancel, rotate=self._replace_key)

    def call(
        self, organization: Organization, method: str, path: str, body: Any = None, **more: Any
    ) -> Answer:
        return self._storm.platform.call(method, path, body, api_key=organization.api_key, **more)

    def ordered(self) -> list[str]:
        """Return the ids of accepted rows that were ordered."""
        return [row_id for row_id, one in self.ids.items() if one.is_ordered]

    def _answer(self, ask: Ask) -> str | None:
        if "<" not in ask.prompt:
            return None
        name = name_in(ask.prompt)
        self._asked[name] += 1
        return answer_of(ask.prompt, self._asked[name])

    def _new_key(self, organization: Organization) -> str:
        key = f"sk-chaos-{self.random.randbytes(12).hex()}"
        self.keys.append(key)
        self._storm.fake.world.keys["*"][key] = organization.name
        return key

    def _connect(self, organization: Organization, provider: Provider) -> str:
        body = {
            "name": provider.name,
            "provider": provider.name,
            "baseUrl": f"{self._storm.fake.base_url}{provider.path}",
            "apiKey": self._new_key(organization),
            "prices": {provider.model: provider.price},
            "maxRows": self.random.choice([20, 40, 90]),
            "minRows": self.random.choice([1, 10, 20]),
            "timeoutSeconds": 20,
        }
        answer = self.call(organization, "POST", "/api/v1/llm-connections", body)
        assert answer.status == 201, answer.text
        return str(answer.json["connection"]["id"])

    def _plan_rows(self, rows: int) -> None:
        left, number = rows, 0
        while left:
            some = min(left, self.random.choice([3, 20, 45, 90]))
            left, number = left - some, number + 1
            organization = self.random.choice(self.organizations)
            provider = self._providers[number % len(self._providers)]
            hours = self.random.uniform(0, 4)
            if some <= _MOST_ORDERED and self.random.random() < _CHANCE_OF_ORDERS:
                for place in range(some):
                    order = self._order(organization, provider, f"<{number}.{place} ordered>")
                    self._at(hours, order)
            else:
                self._at(hours, self._enqueue(organization, provider, number, some))

    def _order(self, organization: Organization, provider: Provider, name: str) -> Any:
        """Return what orders a row as a rubric grader's run does."""
        sent = Sent(name, provider.name, organization.name, is_ordered=True)
        request = self._request(organization, provider, sent, purpose="scoring")

        def order() -> bool:
            self.sent[name] = sent
            return self.orders.order(
                organization.id, f"{name}-{self._seed}", request, lambda id_: self._take(id_, sent)
            )

        return order

    def _request(
        self, organization: Organization, provider: Provider, sent: Sent, *, purpose: str
    ) -> dict[str, Any]:
        verdict = {**_VERDICT, **({"onParseFailure": "reask"} if sent.asks_again else {})}
        return {
            "connectionId": organization.connections[provider.name],
            "purpose": purpose,
            "model": provider.model,
            "input": {"user": "Is {{name}} sound?", "variables": {"name": sent.name}},
            "params": {"maxTokens": 100},
            **({"verdict": verdict} if sent.has_verdict else {}),
        }

    def _enqueue(
        self, organization: Organization, provider: Provider, number: int, rows: int
    ) -> Any:
        purpose, asked = self.random.choice(_PURPOSES), []
        key = f"chunk-{number}-{self._seed}"
        for place in range(rows):
            bad = provider.name != "simulated" and self.random.random() < 0.003
            name = f"<{number}.{place}{' poisoned' if bad else ''}>"
            sent = Sent(name, provider.name, organization.name, place % 2 == 0, place % 4 == 0)
            asked.append(sent)
        requests = [self._request(organization, provider, one, purpose=purpose) for one in asked]
        for place, one in enumerate(requests):
            one["input"]["user"] += " word" * (place % 7)

        def enqueue() -> bool:
            self.sent.update((one.name, one) for one in asked)
            answer = self.call(
                organization,
                "POST",
                "/api/v1/llm-requests/batch",
                {"requests": requests},
                headers={"idempotency-key": key},
            )
            if answer.status >= 500:
                raise RuntimeError(answer.text)
            assert answer.status == 202, answer.text
            for row_id, one in zip(answer.json["requestIds"], asked, strict=True):
                self._take(row_id, one)
            return True

        return enqueue

    def _take(self, row_id: str, sent: Sent) -> None:
        """Note a row that was accepted."""
        assert self.ids.setdefault(row_id, sent) == sent, "one key, two rows"

    def _cancel_probes(self) -> bool:
        organization, token = self.organizations[0], None
        while True:
            body = {"filter": {"purpose": "probe"}, **({"nextToken": token} if token else {})}
            answer = self._answered(organization, "/api/v1/llm-requests/cancel", body)
            self.canceled += len(answer.json["requestIds"])
            token = answer.json.get("nextToken")
            if token is None:
                return True

    def _cancel_a_batch(self) -> bool:
        organization = self.organizations[1]
        answer = self.call(organization, "GET", "/api/v1/llm-batches")
        found = answer.json.get("batches", [])
        live = [one["id"] for one in found if one["status"] in ("queued", "submitted")]
        return self._cancel(organization.id, live[0]) if live else True

    def _cancel(self, organization_id: str, batch_id: str) -> bool:
        path = f"/api/v1/llm-batches/{batch_id}/cancel"
        self._answered(self._of(organization_id), path, {})
        self._storm.faults["batches canceled"] += 1
        return True

    def _rotate(self) -> bool:
        for organization in self.organizations:
            for connection in organization.connections.values():
                self._replace_key(organization.id, connection)
        return True

    def _replace_key(self, organization_id: str, connection: str) -> bool:
        organization = self._of(organization_id)
        self._change(organization, connection, {"apiKey": self._new_key(organization)})
        self._storm.faults["keys rotated"] += 1
        return True

    def _of(self, organization_id: str) -> Organization:
        return next(one for one in self.organizations if one.id == organization_id)

    def _look_after(self) -> None:
        """Do what operators do: go on with what is paused."""
        for organization in self.organizations:
            answer = self.call(organization, "GET", "/api/v1/llm-connections")
            for one in answer.json.get("connections", []):
                if one["status"] == "paused":
                    self._change(organization, one["id"], {"name": "paid"})
                    self._storm.faults["accounts refused"] += 1

    def _change(self, organization: Organization, connection: str, body: Any) -> None:
        path = f"/api/v1/llm-connections/{connection}"
        answer = self.call(organization, "PATCH", path, body)
        assert answer.status == 200 or answer.status >= 500, answer.text

    def _answered(self, organization: Organization, path: str, body: Any) -> Answer:
        answer = self.call(organization, "POST", path, body)
        if answer.status >= 500 or answer.status == 429:
            raise RuntimeError(answer.text)
        assert answer.status in (200, 202, 404, 409), answer.text
        return answer

    def _at(self, hours: float, act: Any) -> None:
        self._storm.at(hours * 3600, act)
