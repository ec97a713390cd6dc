"""The phases of a batch have one record each, which the picture shows and which is enforced."""

import re
from itertools import pairwise, product
from pathlib import Path
from typing import Any, get_args
from unittest.mock import Mock

import pytest

from autotune_platform.ledger.batching.stepping import Desk
from autotune_platform.ledger.batching.work import _TIMED
from autotune_platform.ledger.job_states import JobState
from autotune_platform.ledger.models import Batch, BatchPhase
from autotune_platform.ledger.phases import PHASES, PhaseOrderError, entering

PAGE = Path(__file__).parents[3] / "docs/architecture-ledger.md"
ALL: tuple[BatchPhase, ...] = get_args(BatchPhase)
LEGAL = {(phase, after) for phase, record in PHASES.items() for after in record.followed_by}
ILLEGAL = sorted(
    (before, after) for before, after in set(product(ALL, ALL)) - LEGAL if before != after
)


def batch_in(phase: BatchPhase) -> Batch:
    return Batch.model_construct(id="lbt_1", phase=phase, job=JobState(nonce="n"))


def desk(changed: list[dict[str, Any]]) -> Desk:
    batches = Mock()
    batches.change.side_effect = lambda _, changes: changed.append(changes) or True
    rest = Mock()
    return Desk(batches=batches, connections=rest, keys=rest, exchanges=rest, roles=rest)


def test_each_phase_has_its_record() -> None:
    assert tuple(PHASES) == ALL


def test_the_picture_shows_each_transition_and_no_other() -> None:
    picture = PAGE.read_text().partition("subgraph batches")[2].partition("\n  end\n")[0]
    shown = set[tuple[str, str]]()
    for line in picture.splitlines()[1:]:
        nodes = [
            [one.strip() for one in some.split("&")]
            for some in re.split(r"-->|-- [^>]*? -->", line.strip())
        ]
        for before, after in pairwise(nodes):
            shown |= set(product(before, after))
    assert shown == LEGAL


@pytest.mark.parametrize(("before", "after"), ILLEGAL)
def test_a_phase_that_may_not_follow_is_refused_and_not_stored(
    before: BatchPhase, after: BatchPhase
) -> None:
    changed: list[dict[str, Any]] = []
    with pytest.raises(PhaseOrderError, match=f"from {before} to {after}"):
        desk(changed).store(batch_in(before), phase=after)
    assert changed == []


@pytest.mark.parametrize(("before", "after"), sorted(LEGAL))
def test_a_phase_that_may_follow_is_stored_with_its_status(
    before: BatchPhase, after: BatchPhase
) -> None:
    changed: list[dict[str, Any]] = []
    stored = desk(changed).store(batch_in(before), phase=after)
    status = PHASES[after].status
    expected = {"phase": after} if status is None else {"phase": after, "status": status}
    assert [{name: one[name] for name in one if name != "job"} for one in changed] == [expected]
    assert stored.phase == after


def test_a_phase_may_be_stored_again() -> None:
    for phase in ALL:
        assert entering(batch_in(phase), phase)["phase"] == phase


def test_all_phases_lead_to_the_end_and_nothing_leaves_it() -> None:
    ended: set[BatchPhase] = {"settled"}
    for _ in ALL:
        ended |= {phase for phase, record in PHASES.items() if record.followed_by & ended}
    assert ended == set(ALL)
    assert not PHASES["settled"].followed_by


def test_what_was_not_sent_may_have_a_job_at_any_moment() -> None:
    assert {phase for phase, one in PHASES.items() if one.is_unsent} == set(ALL[2:5])
    assert {phase for phase, one in PHASES.items() if one.may_be_live} == set(ALL[2:7])


def test_each_phase_of_a_job_has_its_handler() -> None:
    elsewhere = {"building", "working", "unknown", "polling", "cleaning", "settled"}
    assert set(_TIMED) == set(ALL) - elsewhere
