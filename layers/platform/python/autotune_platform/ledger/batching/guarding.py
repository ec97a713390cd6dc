"""What keeps one line of a job's results from killing each step that reads it (ADR 0074).

An ordinary step notes nothing: that it has the batch is stored before it begins, and taken back at
its end. After three steps that were lost while results were stored, the next goes line by line, and
notes the one at hand before it reads it. A line at which three were killed is not read again: its
row has failed. What a store refuses is no kill, and takes the note back.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from aws_lambda_powertools import Logger

from autotune.protocol.ids import ID_BODY
from autotune_platform.ledger.batching.custom_ids import row_of
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.job_states import JobState
from autotune_platform.ledger.models import Batch

logger = Logger()

LOST_STEPS: Final = 3
"""So many lost steps have the next one go line by line."""

MOST_KILLS: Final = 3
"""A line at which so many were killed is not read again: lines come in order, none has a turn."""

MOST_KILLERS: Final = 20
"""So many such lines of one job have no other read, and end all rows without a result."""

RESERVED_SECONDS: Final = 180
"""A careful step begins no line in its last so many: a store that hangs is an error by then."""

KILLED: Final = Refusal(
    "result_malformed",
    "step_killed: functions were killed while they read this row's line of the job's results",
    may_be_paid=True,
)

READ: Final[Mapping[str, Any]] = {"at_hand": None, "lost_steps": 0, "suspects": {}}
"""What changes of a job of which as many lines were read as a step reads together."""

# A quote within a text has a backslash before it.
_NAMED = re.compile(
    rb'(?<!\\)"(?:custom_id|recordId|key)"\s*:\s*"(' + ID_BODY.encode() + rb'x[1-9][0-9]?)"'
)


def key_of(state: JobState, offset: int) -> str:
    """Return what a line is noted by: the results that it is in, and where it begins."""
    return f"{state.source}#{offset}"


def is_careful(state: JobState) -> bool:
    """Return whether results are read line by line."""
    return state.lost_steps >= LOST_STEPS or bool(state.suspects)


def is_killer(state: JobState, key: str) -> bool:
    """Return whether a line is not read any more, because steps were killed at it."""
    return state.suspects.get(key, 0) >= MOST_KILLS


def as_lost(batch: Batch) -> JobState | None:
    """Return how far a job is after a step that was lost; None where that says nothing.

    One that went line by line and was killed at none says that no line kills steps.
    """
    state = batch.job
    if batch.phase != "ingesting" or state is None:
        return None
    lost, suspects = state.lost_steps, dict(state.suspects)
    if state.at_hand is not None:
        suspects[state.at_hand] = suspects.get(state.at_hand, 0) + 1
        logger.warning("step was killed", batch_id=batch.id, line=state.at_hand, kills=suspects)
    elif is_careful(state):
        logger.warning("step was killed at no line", batch_id=batch.id)
        lost, suspects = 0, {key: kills for key, kills in suspects.items() if is_killer(state, key)}
    else:
        lost += 1
    return state.model_copy(update={"at_hand": None, "lost_steps": lost, "suspects": suspects})


def as_refused(batch: Batch) -> JobState | None:
    """Return how far a job is after a step that a store refused something; None without a note."""
    if batch.job is None or batch.job.at_hand is None:
        return None
    return batch.job.model_copy(update={"at_hand": None})


def stored_state(state: JobState | None) -> dict[str, Any]:
    """Return the change of a batch that stores how far its job is; none for None."""
    return {} if state is None else {"job": state.model_dump(mode="json", exclude_none=True)}


def named_in(raw: bytes) -> tuple[str, int] | None:
    """Return whose a line is that is not read: the row's id and the attempt.

    None where no name of a row is in it, or several are: nobody's row fails by what another wrote.
    """
    names = {*_NAMED.findall(raw)}
    return row_of(names.pop().decode()) if len(names) == 1 else None
