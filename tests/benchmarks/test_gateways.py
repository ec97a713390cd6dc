"""How gateways are asked and stormed, with ones that keep no budget, or open no door."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from benchmarks.gateways import asking, storms
from benchmarks.gateways.asking import ask, work
from benchmarks.gateways.gateway import MODEL, ChatDoor
from benchmarks.gateways.storms import CASES, OUTPUT_USD, REQUESTS
from tests.providers.server import FakeServer, serve


@dataclass
class Straight:
    """No gateway at all: its doors lead to the provider, whatever their limit."""

    url: str
    name: str = "straight"
    looks: list[Mapping[int, float]] = field(default_factory=lambda: [{1: 1.0}, {1: 3.0}])

    def door(self, *, max_tokens: int, limit_usd: Decimal | None = None) -> ChatDoor:
        return ChatDoor(f"{self.url}/v1/chat/completions", "fake-key", MODEL, max_tokens)

    def cpu_seconds(self) -> Mapping[int, float]:
        return self.looks.pop(0)


@dataclass
class Closed(Straight):
    """Lets nothing through."""

    def door(self, *, max_tokens: int, limit_usd: Decimal | None = None) -> ChatDoor:
        return ChatDoor(f"{self.url}/nowhere", "fake-key", MODEL, max_tokens)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setattr(asking, "SETTLES_WITHIN_SECONDS", 0)
    monkeypatch.setattr(storms, "SETTLES_WITHIN_SECONDS", 0)
    with serve() as server:
        yield server


def test_what_keeps_no_budget_is_found_to_keep_none(fake: FakeServer) -> None:
    found = list(storms.storms(Straight(fake.base_url), fake.base_url))
    assert [one.case for one in found] == list(CASES)
    # The provider bills each answer whole, and those that never arrive, too.
    assert [one.executions for one in found] == [REQUESTS] * len(CASES)
    whole, tiny, half, lost = (dict(one.statuses) for one in found)
    assert (whole, tiny, lost) == ({200: 64}, {200: 64}, {0: 64})
    assert half.keys() == {0, 200}
    least = REQUESTS * OUTPUT_USD * Decimal("0.99")
    assert all(one.billed_usd > least for one in found)
    assert all(one.over_usd == one.billed_usd - one.case.limit_usd for one in found)
    assert fake.world.traps.armed == []


def test_what_lets_nothing_through_is_over_no_limit(fake: FakeServer) -> None:
    found = list(storms.storms(Closed(fake.base_url), fake.base_url))
    assert [(one.over_usd, one.billed_usd, one.executions) for one in found] == [(0, 0, 0)] * 4
    assert found[0].as_json()["answers"] == "64 of 404"


def test_work_is_that_of_processes_that_stay(fake: FakeServer) -> None:
    gateway = Straight(fake.base_url)
    gateway.looks = [{1: 1.0}, {1: 2.0, 2: 9.0}, {1: 2.0, 2: 9.0}, {1: 2.5, 2: 9.5}]
    found = work(gateway, gateway.door(max_tokens=10), 10, at_once=2)
    # Another process began in the first pass; the second used a second for ten requests.
    assert (found.cpu_milliseconds, found.requests, found.at_once) == (100, 10, 2)
    assert 0 < found.p50 <= found.p99


def test_work_that_is_refused_is_not_measured(fake: FakeServer) -> None:
    gateway = Closed(fake.base_url)
    with pytest.raises(RuntimeError, match="404"):
        work(gateway, gateway.door(max_tokens=10), 3, at_once=1)


def test_asking_ends_when_its_time_is_over(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "PASS_SECONDS", 0)
    assert ask(Straight(fake.base_url).door(max_tokens=10), 10, at_once=2).statuses == Counter()
    assert fake.world.bill()["executions"] == 0
