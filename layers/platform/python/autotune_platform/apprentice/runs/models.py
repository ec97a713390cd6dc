"""One input of a task, and what became of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from autotune.protocol.periods import BudgetPeriod
from autotune_platform.apprentice.routing import Local, Model, Refusal, Remote
from autotune_platform.runtime.frozen_model import FrozenModel

RunState = Literal["pending", "answered", "refused", "failed"]
"""``refused`` where the budget had no room, ``failed`` where whoever was to answer could not.

All but ``pending`` are for good.
"""

Check = Literal["none", "due", "done", "skipped", "failed"]
"""Whether the paid model is still to check an answer that its caller has.

``skipped`` where the budget had no room for it, ``failed`` where the paid model did not answer.
"""


def _is_empty(value: object) -> bool:
    return not value


class RunPair(FrozenModel):
    """A comparison of a version's answer and the paid model's, without its place among others.

    ``is_sure`` is whether the version was as sure as its gate asks for, if it has one.
    ``missed`` has the fields that differ where ``structured_match`` compares fields: their places
    in ``matchFields``, from 0, since a day's counts have one for each field and version.
    """

    version: int
    score: float
    is_drawn: bool
    is_sure: Annotated[bool, Field(exclude_if=bool)] = True
    missed: Annotated[tuple[int, ...], Field(exclude_if=_is_empty)] = ()


class RunFault(FrozenModel):
    """Why the paid model did not answer: a code of the ledger, and words for people."""

    code: str
    message: str


class Exhausted(FrozenModel):
    """Which budget had no room for a run, and until when.

    Attributes:
        scope: the task's, or the organisation's.
        period: the longest one that has none.
        resets_at: when that period is over.
        exceeds_limit: whether one call may cost more than a whole period, so that waiting is vain.
    """

    scope: Literal["organization", "apprentice_task"]
    period: BudgetPeriod
    resets_at: datetime
    exceeds_limit: bool = False


class Run(FrozenModel):
    """A run as it is stored.

    Attributes:
        created_by: the key that sent it.
        fingerprint: SHA-256 of its task and input, in hexadecimal digits.
        phase: by which rules it goes, 1 to 3; None until somebody works on it. From then on this
            and the five below stay as they are, whatever becomes of the task.
        is_drawn: whether chance drew it for a comparison.
        sampling_rate: with which probability it would; None where no version was to be asked.
        in_canary: whether chance drew it for the canary.
        local_version: the version whose answer may go to the caller.
        shadow_version: one that is asked beside it.
        local_fault: why the version had no answer, in a word of ``local.contract.Reason`` or
            ``locally.GONE``; ``shadow_fault`` is the same of the other one.
        local_confidence: how sure the version was, 0 to 1; None where its backend does not say.
        local_output: what the version answered, as text; None where that cannot be kept.
        attempts: how often the paid model was asked, or is being asked.
        remote_row_ids: rows of the ledger, one for each attempt.
        remote_asking: the row of the attempt that is under way, or was when its worker was killed.
        remote_row_id: the one that has the answer.
        remote_fault: why the last attempt had none.
        answers: who answered the caller.
        exhausted: the budget that had no room, where one had none.
        pairs: what is learned from it, by version; none from what failed.
        additional: rows of additional models that were asked, by the place of the model.
        additional_cost_nano_usd: what these cost; it is no part of ``cost_nano_usd``.
        cost_nano_usd: of all attempts that have ended.
        erased_at: when its texts were deleted: ``input`` is empty since then.
        deadline_at: when whoever works on it has given up.
        ended_at: when it stopped being ``pending``.
    """

    id: str
    organization_id: str
    task_id: str
    task_name: str
    configuration_version: int
    definition_hash: str
    created_by: str
    input: Mapping[str, Any]
    fingerprint: str
    state: RunState = "pending"
    phase: int | None = None
    is_drawn: bool = False
    sampling_rate: float | None = None
    in_canary: bool = False
    local_version: int | None = None
    shadow_version: int | None = None
    local: Local | None = None
    local_fault: str | None = None
    local_confidence: float | None = None
    local_output: str | None = None
    shadow: Local | None = None
    shadow_fault: str | None = None
    shadow_confidence: float | None = None
    shadow_output: str | None = None
    attempts: int = 0
    remote: Remote | None = None
    remote_row_ids: tuple[str, ...] = ()
    remote_asking: str | None = None
    remote_row_id: str | None = None
    remote_fault: RunFault | None = None
    answers: Model | None = None
    refusal: Refusal | None = None
    exhausted: Exhausted | None = None
    escalated: bool = False
    unmonitored: bool = False
    check: Check = "none"
    pairs: tuple[RunPair, ...] = ()
    additional: Mapping[int, str] = {}
    additional_cost_nano_usd: int = 0
    cost_nano_usd: int = 0
    created_at: datetime
    ended_at: datetime | None = None
    deadline_at: datetime
    erased_at: datetime | None = None

    @property
    def has_ended(self) -> bool:
        """Whether its caller has an answer, or will have none."""
        return self.state != "pending"

    @property
    def day(self) -> str:
        """The UTC day that it is listed and counted under."""
        return self.created_at.date().isoformat()
