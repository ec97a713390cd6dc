"""Runs of our apprentice, answered by the paid model, or by a small one that has graduated."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from autotune.protocol.signing import sign_api_request
from benchmarks.gateways.asking import ask
from benchmarks.gateways.deployed import Deployed
from benchmarks.gateways.gateway import MODEL, OURS
from benchmarks.gateways.saying import answer_of
from benchmarks.gateways.student import CASE, said_by
from benchmarks.gateways.student import MODEL as STUDENT_MODEL
from benchmarks.llm_provider import say

TASK = "intents"
WAIT_SECONDS = 25
EXAMPLES = 50
PAIRS = 40
# Processes know a task for half a minute.
KNOWN_SECONDS = 31
_AMPLE = Decimal(1_000)
_NOBODY = "http://127.0.0.1:9"
_FUNCTIONS = frozenset({"ApprenticeRunsApi", "WorkRuns"})


@dataclass(frozen=True)
class RunDoor:
    """Runs of a task, each of which is waited for.

    Attributes:
        base_url: of the API.
        api_key: of the organisation.
    """

    base_url: str
    organization_id: str
    api_key: str

    def post(self, client: httpx.Client, prompt: str) -> httpx.Response:
        """Ask, and wait for the answer."""
        path, query = f"/api/v1/apprentice/tasks/{TASK}/runs", f"wait={WAIT_SECONDS}"
        body = json.dumps({"input": {"text": f"{CASE} {prompt}"}}).encode()
        key_id, _, secret = self.api_key.partition(".")
        headers = sign_api_request(
            key_id=key_id,
            secret=secret,
            method="POST",
            path=path,
            query=query,
            body=body,
            request_id=secrets.token_hex(16),
        )
        return client.post(
            f"{self.base_url}{path}?{query}",
            headers={**headers, "content-type": "application/json"},
            content=body,
        )


@dataclass(frozen=True)
class ApprenticeGateway:
    """Runs through the API, which has a worker ask the models.

    Args:
        student_url: where the small model is; None where the paid one alone answers.
    """

    deployed: Deployed
    student_url: str | None = None

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{OURS}, {self.who} run of the apprentice"

    @property
    def who(self) -> str:
        """Who answers, as runs say it."""
        return "remote" if self.student_url is None else "local"

    def door(self, *, max_tokens: int, limit_usd: Decimal | None = None) -> RunDoor:
        """Return the door of a task of a new organisation; the limit is its budget of the day."""
        door = self.begun(max_tokens=max_tokens, limit_usd=limit_usd)
        if self.student_url is not None:
            self.teach(door)
            ask(door, PAIRS, at_once=4)
            time.sleep(KNOWN_SECONDS)
            self.promote(door)
        return door

    def begun(self, *, max_tokens: int, limit_usd: Decimal | None = None) -> RunDoor:
        """Return the door of a task that the paid model alone answers as yet."""
        organization_id, api_key = self.deployed.new_organization()
        door = RunDoor(self.deployed.stand.base_url, organization_id, api_key)
        with self.deployed.client(api_key) as client:
            configuration = _configuration(
                self.deployed.connect(client), self.student_url, max_tokens, limit_usd or _AMPLE
            )
            client.apprentice_tasks.put(TASK, configuration=configuration)
            if self.student_url is not None:
                client.apprentice.versions.register(TASK, model=STUDENT_MODEL)
                intent = json.loads(said_by(self.student_url))["intent"]
                # So that both agree.
                say(self.deployed.provider_url, answer_of(max_tokens, intent=intent))
        return door

    def teach(self, door: RunDoor) -> None:
        """Have the paid model give examples, so that both are asked from then on."""
        ask(door, EXAMPLES, at_once=4)
        time.sleep(KNOWN_SECONDS)

    def promote(self, door: RunDoor) -> None:
        """Have the small model, which has graduated, answer alone.

        Raises:
            RuntimeError: it does not.
        """
        with self.deployed.client(door.api_key) as client:
            client.apprentice.versions.promote(TASK, 1)
            time.sleep(KNOWN_SECONDS)
            run = client.apprentice.run(TASK, input={"text": CASE}, wait=WAIT_SECONDS)
        if run.routing is None or run.routing.answers != "local":
            raise RuntimeError(f"the small model does not answer: {run}")

    def cpu_seconds(self) -> Mapping[int, float]:
        """Return user and system time of the workers of both functions."""
        return self.deployed.cpu_seconds(_FUNCTIONS)


def _configuration(
    connection_id: str, student_url: str | None, max_tokens: int, limit_usd: Decimal
) -> dict[str, Any]:
    return {
        "description": "Tells what a customer wants.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"intent": {"type": "string"}, "reason": {"type": "string"}},
            "required": ["intent"],
        },
        "systemPrompt": "You tell intents apart.",
        "promptTemplate": "{{text}}",
        "remote": {
            "primary": {
                "connectionId": connection_id,
                "model": MODEL,
                "maxOutputTokens": max_tokens,
            }
        },
        "local": {"backend": "vllm", "url": student_url or _NOBODY},
        "evaluator": {"type": "structured_match", "matchFields": ["intent"]},
        "thresholds": {
            "phase1ToPhase2": EXAMPLES,
            "phase2ToPhase3": 0.5,
            "coachingTrigger": 0.3,
            "emergencyThreshold": 0.1,
        },
        # Next to nothing is checked, so that what is measured is the small model's answer.
        "sampling": {"decay": "exponential", "k": 20, "minFloor": 0.001},
        "budgets": {"daily": f"{limit_usd:f}", "whenExhausted": "fail"},
    }
