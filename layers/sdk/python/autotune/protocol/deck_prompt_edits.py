"""Edits of system prompts on the wire: what a model answers under another one, and the effect."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from autotune.protocol import limits, types
from autotune.protocol.coefficients import InsufficientBecause, NoIntervalBecause
from autotune.protocol.deck_agreement import MeanEstimate
from autotune.protocol.deck_runs import DeckRunStatus
from autotune.protocol.deck_samples import Split
from autotune.protocol.decks import Note, SystemPrompt, VersionNumber
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import ConnectionId

PromptEditStatus = Literal[
    "proposed", "generating", "generated", "accepted", "rejected", "rolled_back"
]

PromptOutcome = Literal["better", "worse", "no_evidence", "insufficient"]
"""What an edit does to responses, by one grader. ``no_evidence``: the difference may be chance.
``insufficient``: labels or responses are too few, so that there is no figure, and nothing is
claimed."""

PromptMissing = Literal[
    "missing_responses", "unequal_responses", "other_model", "fewer_labels_than_planned"
]
"""Why responses do not suffice. ``missing_responses``: more than 5 % of the inputs are in no pair.
``unequal_responses``: under one prompt more are missing than chance explains. ``other_model``: in
some pair the provider served another model under the new prompt than under the old one."""


class PromptGenerator(types.RequestModel):
    """The model that answers inputs, by both prompts in the same way.

    Attributes:
        connection_id: where it is called, with whose key, and at whose cost.
        params: as of any request.
    """

    connection_id: ConnectionId
    model: ModelName
    params: LlmParams


class CreatePromptEditRequest(types.RequestModel):
    """A system prompt that is tried in place of the deck's current one.

    Attributes:
        system_prompt: all of it; its placeholders are among those of the current prompt.
        base_version: the version that it is to replace, which has to be the current one; the
            current one where it is left out.
        generator: the model that answers under both prompts.
        groups: how many groups of samples are drawn by chance; all of them where it is left out.
        split: only inputs of this half; those of the held-out half alone can show an effect.
            ``null`` for both.
        labels: at how many drawn labels of each version it is measured first; then at twice as
            many, and so on, up to all responses. It is fixed now, because labels can be read while
            they come.
    """

    system_prompt: SystemPrompt
    base_version: VersionNumber | None = None
    generator: PromptGenerator
    groups: Annotated[int, Field(ge=1, le=limits.MAX_PROMPT_EDIT_INPUTS, strict=True)] | None = None
    split: Split | None = "holdout"
    labels: Annotated[
        int,
        Field(ge=limits.LEAST_PROMPT_EDIT_LABELS, le=limits.MAX_PROMPT_EDIT_INPUTS, strict=True),
    ] = limits.LEAST_PROMPT_EDIT_LABELS
    note: Note = ""

    @field_validator("system_prompt")
    @classmethod
    def _is_given(cls, prompt: str) -> str:
        if not prompt.strip():
            raise ValueError("expected a system prompt that is not empty")
        return prompt


class GenerateResponsesRequest(types.RequestModel):
    """Has a model answer the inputs under both prompts.

    ``cap_nano_usd`` is the most that it may cost, in billionths of a US dollar; where it is left
    out, what the estimate says it costs at most.
    """

    cap_nano_usd: Annotated[int, Field(ge=0, le=limits.MAX_DECK_RUN_CAP, strict=True)] | None = None


class AcceptPromptEditRequest(types.RequestModel):
    """Makes the edited prompt the deck's current one.

    ``consent``: a person wants it although no grader shows that it is better, or one that it is
    worse, or responses are missing.
    """

    consent: bool = False


class DecidePromptEditRequest(types.RequestModel):
    """Rejects an edit, or takes back one that was accepted."""

    reason: Note = ""


class PromptEditEstimate(types.ResponseModel):
    """What the responses will probably cost, and at most; nothing is asked, stored or spent.

    Attributes:
        samples: samples whose inputs are answered.
        unusable: drawn samples whose inputs are not: conversations of several turns, tools, images,
            or instructions that are not the deck's prompt.
        requests: responses that are to be paid: two of each input, without those that an earlier
            run has made; one that was deleted since is not made again.
        known: those that are there, from an earlier run.
        fits: whether the organisation's budget has room for the bound now.
    """

    samples: int
    unusable: int
    requests: int
    known: int
    estimate_nano_usd: int
    bound_nano_usd: int
    fits: bool


class PromptEditEstimateResponse(types.ResponseModel):
    """The estimate of an edit's responses."""

    estimate: PromptEditEstimate


class PromptArm(types.ResponseModel):
    """The responses under one version of the prompt, on held-out inputs that both have answered.

    Attributes:
        answered: held-out inputs that have a response under this version; the rest were refused,
            came empty, failed or were deleted.
        labels: responses with a drawn level of people, given blind after the run began; of the
            first so many that were planned.
        outside_commonest: of these, how many have another level than the commonest.
        judged: the others that the judge alone has judged.
        unjudged: responses that the judge has not judged; where there is one, labels alone count.
        without_truth: drawn responses that have no truth that counts: people are apart on them,
            left them to others, or had been shown the judge's result.
        mean: what people would say on average, corrected by their labels; null where nothing is
            claimed.
    """

    version: int
    answered: int = 0
    labels: int
    outside_commonest: int
    judged: int
    unjudged: int = 0
    without_truth: int = 0
    mean: MeanEstimate | None = None
    insufficient_because: InsufficientBecause | None = None


class PromptEffect(types.ResponseModel):
    """What an edit does to responses, by one grader.

    Attributes:
        grader_version: the version whose judge's levels are corrected.
        inputs: held-out inputs that were drawn, those that were deleted since among them.
        pairs: those with a response under both prompts, of which nobody said anything before.
        other_model: pairs whose two responses were served by different models of the same name.
        insufficient_because: why responses do not suffice, or that there are fewer labels than were
            planned; else each version says what its labels lack.
        delta: corrected mean after minus before, compared in pairs by group; null where nothing is
            claimed. ``low`` and ``high`` are its interval at ``confidence``.
    """

    grader_id: str
    grader_name: str
    grader_version: int
    inputs: int = 0
    pairs: int
    other_model: int = 0
    old: PromptArm
    new: PromptArm
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    no_interval_because: NoIntervalBecause | None = None
    confidence: float | None = None
    outcome: PromptOutcome
    insufficient_because: PromptMissing | None = None


class PromptEdit(types.ResponseModel):
    """A system prompt in place of another one, what it was measured to do, and what became of it.

    Attributes:
        base_version: the version that it is to replace; ``candidate_version`` has its prompt, and
            is not the current one before the edit is accepted.
        inputs: samples whose inputs are answered, drawn when the first run began.
        run_id: the latest run; ``unfinished`` is how that ended, where it did not come to an end.
        labels: at how many labels of each version it is measured first, then at twice as many.
        look: number of the look at which its figures were made, among those of all edits of the
            deck. The first is spent with the first run; each further showing spends one more.
        effects: what was measured then, by grader; of graders that are not active any more, what
            they said last where that was worse.
        consented: whether a person wanted it although the figures do not speak for it.
        reason: why it was rejected or taken back.
    """

    id: str
    deck_id: str
    status: PromptEditStatus
    base_version: int
    candidate_version: int
    generator: PromptGenerator
    groups: int | None = None
    split: Split | None = None
    labels: int = limits.LEAST_PROMPT_EDIT_LABELS
    note: str = ""
    inputs: int = 0
    run_id: str | None = None
    unfinished: DeckRunStatus | None = None
    look: int | None = None
    effects: list[PromptEffect] = []
    measured_at: types.Timestamp | None = None
    consented: bool = False
    reason: str = ""
    created_at: types.Timestamp
    created_by: str
    decided_at: types.Timestamp | None = None
    decided_by: str | None = None


class PromptEditResponse(types.ResponseModel):
    """One edit of a system prompt."""

    edit: PromptEdit


class PromptEditList(types.ResponseModel):
    """A page of a deck's edits of the system prompt, newest first."""

    edits: list[PromptEdit]
    next_token: str | None = None
