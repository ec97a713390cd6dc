"""Graders with one disease each, seeded, beside healthy ones."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.support.graders import (
    Disease,
    Exchange,
    LoopbackGrader,
    answering,
    healthy,
    loopback_grader,
    scoring,
)

LATER_THAN_ALLOWED = 33
"""Seconds; a call to a grader may take 30."""

DRIP_SECONDS = 0.05
"""For each byte of an answer of over a thousand."""

THINKING_SECONDS = 0.1
"""What a grader takes when nothing ails it: long enough for two runs to ask at the same time."""

POLL_SECONDS = 0.25
"""How often each of many servers looks whether it is to end."""

DEADLINE_SECONDS = 60
"""The shortest that a task may have; the one of the grader that is down for good."""

FLAPPING = "flapping health"
DOWN_FOR_GOOD = "down for good"
HOLDING = ("time-outs", "slow drip", DOWN_FOR_GOOD)
"""Those whose sickness holds a completion for half a minute or more."""

_ABSTAINS = 0.05


@dataclass(frozen=True)
class Ward:
    """What a grader suffers from, and how it is registered."""

    disease: Disease
    grader_batch: int = 10
    health_disease: Disease = healthy
    deadline_seconds: int | None = None


@dataclass
class Patient:
    """A grader, what it signed, and what it suffers from.

    Attributes:
        signed: every value that it signed for a completion; no two are alike.
        struck: requests in which its disease changed the answer.
        struck_at: when a completion was first in such a request.
        is_ill: whether the disease shows at all; it begins with the second stage.
    """

    name: str
    ward: Ward
    grader: LoopbackGrader
    draw: random.Random
    signed: dict[str, set[float]] = field(default_factory=dict)
    struck: int = 0
    struck_at: dict[str, datetime] = field(default_factory=dict)
    is_ill: bool = False
    thinking_seconds: float = THINKING_SECONDS
    task_id: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_healthy(self) -> bool:
        """Whether it has no disease at all."""
        return self.ward.disease is healthy

    def answer(self, exchange: Exchange) -> None:
        """Give every completion a new value, let the disease strike, note what was signed."""
        exchange.delay_seconds = self.thinking_seconds
        asked = json.loads(exchange.request_body)
        with self.lock:
            for item in exchange.items:
                _decide(item, self.draw)
            before = repr(exchange)
            if self.is_ill:
                self.ward.disease(exchange)
            if repr(exchange) != before:
                self._note_struck(asked)
            if _is_signed_well(exchange):
                self._note(asked, exchange)

    def _note_struck(self, asked: dict[str, Any]) -> None:
        self.struck += 1
        for completion in asked.get("completions") or [asked["completion"]]:
            self.struck_at.setdefault(completion["id"], datetime.now(UTC))

    def _note(self, asked: dict[str, dict[str, str]], exchange: Exchange) -> None:
        for item in exchange.items:
            if "score" in item:
                completion_id = item.get("completionId") or asked["completion"]["id"]
                self.signed.setdefault(completion_id, set()).add(item["score"]["value"])

    def check_health(self, exchange: Exchange) -> None:
        """Answer ``/health`` as the disease has it."""
        if self.is_ill:
            self.ward.health_disease(exchange)


def _decide(item: dict[str, object], draw: random.Random) -> None:
    if draw.random() < _ABSTAINS:
        item.pop("score", None)
        item["abstained"] = True
    elif isinstance(score := item.get("score"), dict):
        score["value"] = draw.random()


def _is_signed_well(exchange: Exchange) -> bool:
    return (
        exchange.status == 200
        and not exchange.drop
        and exchange.body is None
        and exchange.secret is None
        and exchange.signed_request_id is None
    )


def _every(nth: int, seed: int, disease: Disease) -> Disease:
    """Fall ill in every n-th request, so that none of a few is enough to be spared."""
    count = seed

    def fitful(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        if count % nth == 0:
            disease(exchange)

    return fitful


def _rate_limited(exchange: Exchange) -> None:
    exchange.status = 429
    exchange.headers["retry-after"] = "2"


def _swapped() -> Disease:
    """Give a request the scores and the signature of the one before."""
    last: list[Exchange] = []

    def disease(exchange: Exchange) -> None:
        before = last.pop() if last else exchange
        last.append(exchange)
        values = [item["score"]["value"] for item in before.items if "score" in item]
        for item, value in zip(exchange.items, reversed(values), strict=False):
            if "score" in item:
                item["score"]["value"] = value
        exchange.signed_request_id = before.request_id + ("" if before is not exchange else "_")
        exchange.signed_request_body = before.request_body

    return disease


def _missing_items(exchange: Exchange) -> None:
    if "scores" in exchange.answer:
        del exchange.answer["scores"][::2]


def _duplicated_items(exchange: Exchange) -> None:
    if "scores" in exchange.answer:
        exchange.answer["scores"] += exchange.answer["scores"][::3]


def _flapping() -> Disease:
    """Be down for two requests in ten, one after the other.

    For longer, and the circuit stays open for minutes: that is what the one down for good is for.
    """
    count = 0

    def disease(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        if count % 10 in {4, 5}:
            exchange.status = 503

    return disease


def _alternating() -> Disease:
    """Be down every other time."""
    count = 0

    def disease(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        if count % 2:
            exchange.status = 503

    return disease


def _dripping(exchange: Exchange) -> None:
    exchange.drip_seconds = DRIP_SECONDS
    exchange.answer["padding"] = "." * 1_000


def wards(seed: int) -> dict[str, Callable[[], Ward]]:
    """Return each grader's name and what it suffers from, fresh."""
    dead = answering(drop=True)
    late = answering(delay_seconds=LATER_THAN_ALLOWED)
    return {
        "healthy 1": lambda: Ward(healthy),
        "healthy 2": lambda: Ward(healthy),
        "time-outs": lambda: Ward(_every(5, seed + 1, late)),
        "500s": lambda: Ward(_every(3, seed + 2, answering(status=500))),
        "429 with Retry-After": lambda: Ward(_every(3, seed + 3, _rate_limited)),
        "connection drops": lambda: Ward(_every(3, seed + 4, dead)),
        "slow drip": lambda: Ward(_every(5, seed + 5, _dripping)),
        "garbage": lambda: Ward(_every(3, seed + 6, answering(body=b"\x00{]"))),
        "NaN": lambda: Ward(_every(3, seed + 7, scoring(float("nan")))),
        "wrong signature": lambda: Ward(_every(3, seed + 8, answering(secret="wrong"))),
        "swapped answers": lambda: Ward(_every(3, seed + 9, _swapped())),
        "missing items": lambda: Ward(_every(2, seed + 10, _missing_items)),
        "duplicated items": lambda: Ward(_every(2, seed + 11, _duplicated_items)),
        FLAPPING: lambda: Ward(_flapping(), health_disease=_alternating()),
        DOWN_FOR_GOOD: lambda: Ward(
            dead, grader_batch=5, health_disease=dead, deadline_seconds=DEADLINE_SECONDS
        ),
    }


@contextmanager
def hospital(seed: int) -> Iterator[list[Patient]]:
    """Run every grader on loopback, all of them well for now."""
    with ExitStack() as running:
        patients = []
        for index, (name, make) in enumerate(wards(seed).items()):
            grader = running.enter_context(loopback_grader(poll_interval=POLL_SECONDS))
            patient = Patient(name, make(), grader, random.Random(seed * 100 + index))
            grader.disease = patient.answer
            grader.health_disease = patient.check_health
            patients.append(patient)
        yield patients
