"""Graders with one disease each, seeded, beside healthy ones."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from tests.support.graders import (
    Disease,
    Exchange,
    LoopbackGrader,
    answering,
    healthy,
    loopback_grader,
    scoring,
)


@dataclass
class Patient:
    """A grader, what it signed, and what it suffers from."""

    name: str
    grader: LoopbackGrader
    is_healthy: bool
    signed: dict[str, set[float]] = field(default_factory=dict)


def _sometimes(share: float, seed: int, disease: Disease) -> Disease:
    """Fall ill in a share of the requests."""
    draw = random.Random(seed)

    def fitful(exchange: Exchange) -> None:
        if draw.random() < share:
            disease(exchange)

    return fitful


def _rate_limited(exchange: Exchange) -> None:
    exchange.status = 429
    exchange.headers["retry-after"] = "2"


def _swapped(exchange: Exchange) -> None:
    exchange.signed_request_id = "req_of_another_request"


def _missing_items(exchange: Exchange) -> None:
    if "scores" in exchange.answer:
        del exchange.answer["scores"][::2]


def _duplicated_items(exchange: Exchange) -> None:
    if "scores" in exchange.answer:
        exchange.answer["scores"] += exchange.answer["scores"][::3]


def _flapping() -> Disease:
    """Be down for one stretch of requests in three."""
    count = 0

    def disease(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        if (count // 5) % 3 == 1:
            exchange.status = 503

    return disease


def wards(seed: int) -> dict[str, Callable[[], Disease]]:
    """Return a maker of each grader's disease, by name."""
    return {
        "healthy-1": lambda: healthy,
        "healthy-2": lambda: healthy,
        "slow": lambda: _sometimes(0.2, seed, answering(delay_seconds=1.5)),
        "answers 500": lambda: _sometimes(0.4, seed + 1, answering(status=500)),
        "429 with Retry-After": lambda: _sometimes(0.4, seed + 2, _rate_limited),
        "drops connections": lambda: _sometimes(0.4, seed + 3, answering(drop=True)),
        "drips": lambda: _sometimes(0.1, seed + 4, answering(drip_seconds=0.001)),
        "garbage": lambda: _sometimes(0.3, seed + 5, answering(body=b"<html>maintenance</html>")),
        "NaN": lambda: _sometimes(0.3, seed + 6, scoring(float("nan"))),
        "wrong signature": lambda: _sometimes(0.3, seed + 7, answering(secret="wrong")),
        "swapped answers": lambda: _sometimes(0.3, seed + 8, _swapped),
        "missing items": lambda: _sometimes(0.5, seed + 9, _missing_items),
        "duplicated items": lambda: _sometimes(0.5, seed + 10, _duplicated_items),
        "flapping": _flapping,
    }


@contextmanager
def hospital(seed: int) -> Iterator[list[Patient]]:
    """Run every grader on loopback; each notes what values it signed for which completion."""
    with ExitStack() as running:
        patients = []
        for name, make in wards(seed).items():
            grader = running.enter_context(loopback_grader())
            patient = Patient(name, grader, is_healthy=name.startswith("healthy"))
            grader.disease = _noting(patient, make())
            patients.append(patient)
        yield patients


def _noting(patient: Patient, disease: Disease) -> Disease:
    def noted(exchange: Exchange) -> None:
        asked = json.loads(exchange.request_body)
        disease(exchange)
        signed_well = (
            exchange.status == 200
            and not exchange.drop
            and exchange.body is None
            and exchange.secret is None
            and exchange.signed_request_id is None
        )
        if not signed_well:
            return
        if "scores" in exchange.answer:
            for item in exchange.answer["scores"]:
                if "score" in item:
                    value = item["score"]["value"]
                    patient.signed.setdefault(item["completionId"], set()).add(value)
        elif "score" in exchange.answer and "completion" in asked:
            value = exchange.answer["score"]["value"]
            patient.signed.setdefault(asked["completion"]["id"], set()).add(value)

    return noted
