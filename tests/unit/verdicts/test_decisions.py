"""A list says of verdicts all that is counted, exactly, and is the same item for the same ones."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.completions import DecidedBy, ReasonCode
from autotune_platform.storage.changes import Change
from autotune_platform.storage.item_format import Item
from autotune_platform.verdicts.decisions import (
    NEW_DECISIONS,
    Decision,
    decisions_in,
    list_items,
)
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.stored_verdicts import verdict_attributes, verdict_key
from benchmarks.boundary import item_bytes
from tests.support.verdicts import verdict

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@st.composite
def verdicts(draw: st.DrawFn) -> list[Verdict]:
    """Draw verdicts and opinions of one batch."""
    made = []
    for index in draw(st.lists(st.integers(0, 499), max_size=20, unique=True)):
        panel_id = draw(st.sampled_from([None, "pnl_1"]))
        failed = draw(st.booleans())
        fields = {
            "index": index,
            "generation": draw(st.integers(0, 20)),
            "panel_id": panel_id,
            "grader_id": draw(st.sampled_from(["grd_a", "grd_b"])),
            "state": "failed" if failed else "scored",
            "value": None if failed else draw(st.floats(0, 1)),
            "reason_code": draw(st.sampled_from(get_args(ReasonCode))) if failed else None,
            "reported_version": draw(st.sampled_from([None, "1", "2#x"])),
            "grader_latency_ms": draw(st.none() | st.integers(0, 10**6)),
            "decided_by": draw(st.sampled_from(get_args(DecidedBy))),
            "decided_at": NOW + timedelta(microseconds=draw(st.integers(0, 10**10))),
        }
        made.append(verdict(1, **fields))
    return made


def listed(items: list[Item]) -> list[Decision]:
    changes = [Change(event="INSERT", pk=one["pk"], sk=one["sk"], new=one) for one in items]
    assert all(NEW_DECISIONS[0].includes(change) for change in changes)
    return [decision for change in changes for decision in decisions_in(change)]


@given(verdicts())
def test_what_is_listed_is_what_is_counted_of_the_verdicts(some: list[Verdict]) -> None:
    decisions = [Decision.of(one) for one in some]
    found = listed(list(list_items(decisions)))
    assert sorted(found, key=lambda one: one.index) == sorted(decisions, key=lambda one: one.index)


@given(verdicts(), st.randoms())
def test_the_same_decisions_are_the_same_item_in_any_order(
    some: list[Verdict], dice: Random
) -> None:
    decisions = [Decision.of(one) for one in some]
    once = list(list_items(decisions))
    dice.shuffle(decisions)
    assert [one["sk"] for one in list_items(decisions)] == [one["sk"] for one in once]


def test_other_decisions_are_another_item() -> None:
    first, second = (Decision.of(verdict(1, index=index)) for index in (0, 1))
    keys = {one["sk"] for some in ([first], [second], [first, second]) for one in list_items(some)}
    assert len(keys) == 3


def test_opinions_of_a_whole_batch_stay_far_below_the_limit_of_an_item() -> None:
    opinions = [
        Decision.of(
            verdict(
                1,
                index=index,
                panel_id="pnl_1",
                grader_id=f"grd_{member}",
                state="scored",
                value=1 / 3,
                reported_version=f"{index}".rjust(100, "v"),
                grader_latency_ms=10**6,
            )
        )
        for index in range(500)
        for member in range(10)
    ]
    items = list(list_items(opinions))
    assert len(listed(items)) == 5_000
    sizes = [item_bytes({"decisions": {"S": one["decisions"]}}) for one in items]
    assert max(sizes) < 400_000


def test_only_a_batch_of_one_is_followed_by_its_verdict() -> None:
    def change(of: Verdict) -> Change:
        sk = verdict_key(of.grader_id, of.grader_version)
        stored = {"pk": of.completion_id, "sk": sk, **verdict_attributes(of)}
        return Change(event="INSERT", pk=of.completion_id, sk=sk, new=stored)

    several, alone = change(verdict(1)), change(verdict(1, alone=True))
    assert not any(kind.includes(several) for kind in NEW_DECISIONS)
    assert any(kind.includes(alone) for kind in NEW_DECISIONS)
    assert list(decisions_in(alone)) == [Decision.of(verdict(1, alone=True))]
