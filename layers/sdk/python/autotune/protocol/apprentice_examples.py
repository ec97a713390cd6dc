"""Examples on the wire: what a small model learns from, and is judged by."""

from typing import Annotated, Any, Literal

from autotune.protocol import limits
from autotune.protocol.apprentice_runs import ApprenticeInput
from autotune.protocol.deck_samples import RejectedLine
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp, bounded_json

ApprenticeSelection = Literal["phase1", "random", "escalated", "imported"]
"""Why the paid model was asked: there was no small one, chance drew the run, the small one failed
or was unsure; or somebody brought the example. Only the first two say how often inputs come."""

ApprenticeSide = Literal["train", "holdout"]
"""Whether an example trains or validates."""


class NewApprenticeExample(RequestModel):
    """An example that somebody brings.

    Attributes:
        input: an object of the task's ``inputSchema``, of up to 100,000 bytes as compact JSON.
        output: what is right for it: an object of its ``outputSchema``, as long at most.
    """

    input: ApprenticeInput
    output: Annotated[dict[str, Any], bounded_json(limits.MAX_APPRENTICE_OUTPUT_BYTES)]


class ImportedExamples(ResponseModel):
    """What came of lines: some were added, some were there already, some are no examples."""

    added: int
    repeated: int
    rejected: list[RejectedLine]


class ApprenticeExample(ResponseModel):
    """An example.

    Attributes:
        definition_hash: of the definition that it is an example of.
        propensity: how probable it was that such an input became an example; None where chance had
            no part.
        side: by the present split of its definition; None where it is on neither.
        input: None where the texts of its run were erased; then it trains nothing.
        output: None where the texts of its request were erased.
        at: when it was answered, or brought.
    """

    id: str
    definition_hash: str
    selection: ApprenticeSelection
    propensity: float | None = None
    side: ApprenticeSide | None = None
    run_id: str | None = None
    input: dict[str, Any] | None = None
    output: dict[str, Any] | None = None
    at: Timestamp


class ApprenticeExampleList(ResponseModel):
    """A page of examples, in no order that means anything."""

    examples: list[ApprenticeExample]
    next_token: str | None = None


class ApprenticeSplit(ResponseModel):
    """How examples are split.

    Attributes:
        holdout: the share of groups that validates.
        split_by: fields of the input that make a group; all of it without any.
        is_fixed: whether something was trained by it, so that it holds for good.
    """

    holdout: float
    split_by: list[str]
    is_fixed: bool


class ApprenticeSelectionCounts(ResponseModel):
    """How many examples there are, by why the paid model was asked."""

    phase1: int
    random: int
    escalated: int
    imported: int


class ApprenticeSideCounts(ResponseModel):
    """How many examples are on each side.

    Attributes:
        holdout: of those whose selection says how often inputs come; others validate nothing.
        neither: on the side of the hold-out, but of another selection; or of no group.
    """

    train: int
    holdout: int
    neither: int


class ApprenticeExampleCounts(ResponseModel):
    """How many examples a definition has.

    Attributes:
        sides: None where there are more than 100,000, which are not looked at one by one.
    """

    definition_hash: str
    examples: int
    selections: ApprenticeSelectionCounts
    split: ApprenticeSplit
    sides: ApprenticeSideCounts | None


class ApprenticeExampleCountsResponse(ResponseModel):
    """How many examples a definition has."""

    counts: ApprenticeExampleCounts
