"""Who asks for what in a round: organisations, connections to every provider, and their traps."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.chaos_ledger.storm import Storm
from tests.providers.catalogue import BATCH, CATALOGUE, CONTENT, REQUEST
from tests.support.lambdas import Answer

LABELS = ("pass", "fail")
_VERDICT = {"type": "label", "labels": list(LABELS)}
_PURPOSES = ("scoring", "scoring", "scoring", "critic", "probe")
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

# They need Bedrock; or a name of ours that is too long, which there is not unless we are wrong.
NOT_SET = frozenset([*(name for name in CATALOGUE if name.startswith("bedrock_")), "custom_id_65"])
# No request for what is left at a provider is ever sent twice at once, or a second is a long time.
_PARAMS: dict[str, dict[str, Any]] = {
    **{name: {"stall_seconds": 0.02} for name in CATALOGUE if name.endswith("_timeout")},
    **{name: {"seconds": 0.01} for name in CATALOGUE if name.endswith("_slow")},
    "download_stalls": {"stall_seconds": 0.02},
    "jsonl_long_line": {"bytes": 1_000_000},
    "output_id_later": {"seconds": 900},
}
_OF_ROWS = {
    "row_error": 0.01,
    "rows_missing": 0.003,
    "finish_length": 0.01,
    "finish_refusal": 0.01,
    "cached_tokens": 0.05,
    "other_model": 0.01,
    "no_usage": 0.01,
}


@dataclass
class Organization:
    """One that asks, with its connections by provider."""

    name: str
    api_key: str
    connections: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """A row that was sent."""

    name: str
    provider: str
    organization: str
    has_verdict: bool


class Load:
    """Sends rows, cancels some, changes keys, and looks after what is paused.

    Attributes:
        sent: every row that was ever sent, by what it asks.
        ids: the ids of those that were accepted, with the same.
        keys: every key that was ever in use.
    """

    def __init__(self, storm: Storm, seed: int) -> None:
        self._storm, self._seed = storm, seed
        self.random = random.Random(f"load-{seed}")
        self.organizations: list[Organization] = []
        self.sent: dict[str, Sent] = {}
        self.ids: dict[str, Sent] = {}
        self.keys: list[str] = []
        self.canceled = 0
        storm.fake.world.answers.answerer = lambda ask: answer_of(ask.prompt)

    def begin(self, rows: int, providers: Sequence[str]) -> None:
        """Make organisations and connections, and plan everything that is asked of providers."""
        self._providers = [one for one in PROVIDERS if one.name in providers]
        platform = self._storm.platform
        for number, limits in enumerate(_BUDGETS):
            key = platform.api_key if number == 0 else platform.new_organization(f"org {number}")
            organization = Organization(f"o{number}", key)
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
        """Set every trap, each for its own occasion."""
        traps, draw = self._storm.fake.world.traps, self.random
        for trap in CATALOGUE.values():
            if trap.name in NOT_SET or trap.name == "poison_row":
                continue
            params = _PARAMS.get(trap.name, {})
            if trap.level in (REQUEST, BATCH, CONTENT):
                for _ in range(1 if trap.name in ("account_refused", "credit_ends") else 2):
                    few = draw.randrange(8 if trap.level == REQUEST else 12)
                    traps.arm(trap.name, times=1, after=few, params=params)
        for name, chance in _OF_ROWS.items():
            if name == "row_error":
                for status in (500, 400, 429, 0):
                    traps.arm(name, probability=chance / 4, params={"status": status})
            else:
                traps.arm(name, probability=chance)
        traps.arm("poison_row", times=None, contains="poisoned")

    def call(
        self, organization: Organization, method: str, path: str, body: Any = None, **more: Any
    ) -> Answer:
        return self._storm.platform.call(method, path, body, api_key=organization.api_key, **more)

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
            self._at(self.random.uniform(0, 4), self._enqueue(organization, provider, number, some))

    def _enqueue(
        self, organization: Organization, provider: Provider, number: int, rows: int
    ) -> Any:
        purpose, asked = self.random.choice(_PURPOSES), []
        key = f"chunk-{number}-{self._seed}"
        for place in range(rows):
            bad = provider.name != "simulated" and self.random.random() < 0.003
            name = f"<{number}.{place}{' poisoned' if bad else ''}>"
            asked.append(Sent(name, provider.name, organization.name, place % 2 == 0))
        body = {
            "requests": [
                {
                    "connectionId": organization.connections[provider.name],
                    "purpose": purpose,
                    "model": provider.model,
                    "input": {
                        "user": "Is {{name}} sound?" + " word" * (place % 7),
                        "variables": {"name": one.name},
                    },
                    "params": {"maxTokens": 100},
                    **({"verdict": _VERDICT} if one.has_verdict else {}),
                }
                for place, one in enumerate(asked)
            ]
        }

        def enqueue() -> bool:
            self.sent.update((one.name, one) for one in asked)
            answer = self.call(
                organization,
                "POST",
                "/api/v1/llm-requests/batch",
                body,
                headers={"idempotency-key": key},
            )
            if answer.status >= 500:
                raise RuntimeError(answer.text)
            assert answer.status == 202, answer.text
            for row_id, one in zip(answer.json["requestIds"], asked, strict=True):
                assert self.ids.setdefault(row_id, one) == one, "one key, two rows"
            return True

        return enqueue

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
        if live:
            self._answered(organization, f"/api/v1/llm-batches/{live[0]}/cancel", {})
            self._storm.faults["batches canceled"] += 1
        return True

    def _rotate(self) -> bool:
        for organization in self.organizations:
            for connection in organization.connections.values():
                self._change(organization, connection, {"apiKey": self._new_key(organization)})
                self._storm.faults["keys rotated"] += 1
        return True

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


def name_in(prompt: str) -> str:
    """Return the name of the row that a prompt is of."""
    start = prompt.index("<")
    return prompt[start : prompt.index(">") + 1]


def verdict_of(name: str) -> str | None:
    """Return the verdict that the fake gives on a row; None where it gives none."""
    byte = hashlib.sha256(name.encode()).digest()[0]
    return None if byte < 40 else LABELS[byte % 2]


def answer_of(prompt: str) -> str | None:
    """Return what the fake answers: some do not end as they should."""
    if "<" not in prompt:
        return None
    name = name_in(prompt)
    verdict = verdict_of(name)
    if verdict is not None:
        return f"It names VERDICT: {name} early.\nVERDICT: {verdict}"
    byte = hashlib.sha256(name.encode()).digest()[0]
    return f"No word on {name}." if byte % 2 else f"A strange one: {name}.\nVERDICT: perhaps"
