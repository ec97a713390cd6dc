"""Jobs whose traps wait for a cancellation or another key meet it, once each."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tests.chaos_ledger.orders import Orders
from tests.chaos_ledger.traps import CANCELED, ROTATED, Occasions


class Storm:
    """As much of a storm as whoever plans something in it uses."""

    def __init__(self, *batches: Any) -> None:
        self.now = 100.0
        self.planned: list[tuple[float, Callable[[], object]]] = []
        self.keys = {"*": {"old": "o1", "other": "o1"}}
        by_id = {one.id: one for one in batches}
        self.fake = SimpleNamespace(world=SimpleNamespace(batches=by_id, keys=self.keys))
        items = [
            {
                "pk": {"S": f"lbt_{one.id}"},
                "organization_id": {"S": "org_a"},
                "connection_id": {"S": "llc_a"},
                "job": {"M": {"job_id": {"S": one.id}}},
            }
            for one in batches
        ]
        self.store = SimpleNamespace(items=lambda _: items)
        self.looks: list[Callable[[], object]] = []

    def at(self, seconds: float, act: Callable[[], object]) -> None:
        self.planned.append((seconds, act))

    def every(self, _: float, act: Callable[[], object], *, until: float) -> None:
        assert until > self.now
        self.looks.append(act)

    def pass_time(self, seconds: float) -> None:
        """Do what is due within some seconds."""
        self.now += seconds
        due = [one for one in self.planned if one[0] <= self.now]
        self.planned = [one for one in self.planned if one[0] > self.now]
        for _, act in due:
            act()


def job(id_: str, *traps: str, over: bool = False) -> Any:
    return SimpleNamespace(id=id_, traps={name: {} for name in traps}, over=over, key="old")


def led(*batches: Any) -> tuple[Storm, list[tuple[str, ...]]]:
    """Look for jobs twice; return what was done to them."""
    storm: Any = Storm(*batches)
    done: list[tuple[str, ...]] = []
    Occasions(
        storm,
        cancel=lambda *given: not done.append(("cancel", *given)),
        rotate=lambda *given: not done.append(("rotate", *given)),
    )
    for _ in range(2):
        storm.looks[0]()
        storm.pass_time(0)
    return storm, done


def test_a_job_that_completes_although_it_is_canceled_is_canceled_once() -> None:
    _, done = led(job("a", CANCELED), job("b"), job("c", CANCELED, over=True))
    assert done == [("cancel", "org_a", "lbt_a")]


def test_a_job_that_one_key_sees_alone_has_that_key_refused_for_a_while() -> None:
    storm, done = led(job("a", ROTATED))
    assert done == [("rotate", "org_a", "llc_a")]
    assert storm.keys["*"] == {"other": "o1"}
    storm.pass_time(3600)
    assert storm.keys["*"] == {"old": "o1", "other": "o1"}


def test_a_look_at_an_order_that_is_doubled_comes_to_one_more_look() -> None:
    storm: Any = Storm()
    orders = Orders(storm)
    for number in (1, 1, 2, 1, 2):
        orders._look_later("llm_a", number)
    assert len(storm.planned) == 2
