"""When the next training is due, from how many examples there are and what the last one had."""

import pytest

from autotune_platform.apprentice.training.due import Due, next_training
from autotune_platform.apprentice.training.models import LastTraining

PRESENT = "d" * 64
DOCUMENT = {"training": {"fineTuneBatchSize": 100}, "thresholds": {"phase1ToPhase2": 250}}


def due(last: LastTraining, *, examples: int = 400, emergency: int = 0, batch: int = 100) -> Due:
    document = {**DOCUMENT, "training": {"fineTuneBatchSize": batch}}
    return next_training(
        document, last, definition_hash=PRESENT, examples=examples, emergency=emergency
    )


def last(outcome: str, *, examples: int = 1_000, **fields: object) -> LastTraining:
    return LastTraining.model_validate(
        {
            "number": 1,
            "definition_hash": PRESENT,
            "examples": examples,
            "outcome": outcome,
            **fields,
        }
    )


@pytest.mark.parametrize(("batch", "needed"), [(100, 250), (300, 300)])
def test_the_first_takes_what_a_version_takes_to_be_asked_and_a_batch(
    batch: int, needed: int
) -> None:
    found = due(LastTraining(), examples=needed - 1, batch=batch)
    assert (found.needed, found.cause, found.is_due) == (needed, "examples", False)
    assert due(LastTraining(), examples=needed, batch=batch).is_due


def test_another_definition_begins_anew() -> None:
    other = last("hosted").model_copy(update={"definition_hash": "e" * 64})
    assert due(other).needed == 250


@pytest.mark.parametrize(("before", "needed"), [(1_000, 1_500), (1_001, 1_502), (120, 250)])
def test_after_one_that_made_a_version_it_takes_half_as_many_again(
    before: int, needed: int
) -> None:
    assert due(last("hosted", examples=before)).needed == needed


def test_it_takes_a_batch_at_least() -> None:
    assert due(last("hosted"), batch=800).needed == 1_800


@pytest.mark.parametrize("outcome", ["failed", "discarded"])
def test_one_that_made_none_is_tried_again_with_the_next_batch(outcome: str) -> None:
    found = due(last(outcome), examples=1_099)
    assert (found.needed, found.is_due) == (1_100, False)
    assert due(last(outcome), examples=1_100).is_due


def test_after_an_emergency_a_batch_is_enough_once() -> None:
    found = due(last("hosted"), examples=1_100, emergency=2)
    assert found == Due(1_100, 1_100, "emergency")
    assert found.is_due
    known = last("hosted", examples=1_100, emergency=2)
    assert due(known, emergency=2) == Due(400, 1_650, "examples")
    assert due(known, emergency=3).cause == "emergency"
