"""Runs of decks on the wire: samples that graders judge, with their price before and after."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol import limits, types
from autotune.protocol.deck_proposals import DeckProposal
from autotune.protocol.deck_samples import Split
from autotune.protocol.decks import VersionNumber
from autotune.protocol.ids import ID_BODY

DeckRunId = Annotated[str, StringConstraints(pattern=rf"^drn_{ID_BODY}$")]

PromptEditId = Annotated[str, StringConstraints(pattern=rf"^ped_{ID_BODY}$")]

DeckRunKind = Literal["grade", "replay", "propose", "generate"]
"""``grade`` has samples judged. ``replay`` does so by a version that is not current yet, to measure
an edit. ``propose`` has a model propose graders. ``generate`` has a model answer the inputs of
samples under another version of the system prompt, and the one before."""

DeckRunStatus = Literal["running", "completed", "stopped", "canceled", "failed"]
"""``stopped``: a limit came first, and nothing more is paid. All but ``running`` are for good."""

DeckRunStop = Literal["cap", "deadline"]
"""Why a run stopped: what is left of its cap is too little for one more judgement, or it took a
week."""

DeckRunWait = Literal[
    "open_requests", "budget_exhausted", "connection_paused", "organization_suspended"
]
"""What a run waits for; it goes on by itself.

``open_requests``: the organisation has as many requests to language models under way as it may.
``budget_exhausted``: its budget for them has no room in this period. ``connection_paused``: the
provider refused the account; somebody has to see to it.
"""


class StartDeckRunRequest(types.RequestModel):
    """What is judged, by whom, and what it may cost.

    Attributes:
        grader_ids: graders of the deck, each by its current version; all active ones where it is
            left out. Those that are proposed may only be tried, on up to three samples of the
            development half that are named.
        sample_ids: samples of the deck; all of them, or all of ``split``, where it is left out.
            What was generated for edits of the system prompt is judged where it is named, or its
            edit.
        split: only samples of this half.
        deck_version: only samples that came with this version of the system prompt, of those that
            are not named.
        prompt_edit_id: only responses that were generated for this edit of the system prompt.
        labelled: only drawn held-out samples that people rated for one of the graders: those that
            a judge is measured on, as after another model came or a calibration was suspended.
            They have the deck's current system prompt, or that of ``deck_version``.
        repeat: judge samples again that these versions have judged, and keep the first results. It
            shows how far a judge agrees with itself. Without samples, and ``labelled``, twenty that
            were judged are taken. What was judged is not judged, or paid, again without it.
        cap_nano_usd: the most that the run may cost, in billionths of a US dollar: it stops before
            it could cost more. Where it is left out, or is more than that, what the estimate says
            it costs at most.
    """

    grader_ids: (
        Annotated[
            list[types.GraderId],
            Field(min_length=1, max_length=limits.MAX_DECK_GRADERS),
            types.at_most(limits.MAX_DECK_GRADERS),
        ]
        | None
    ) = None
    sample_ids: (
        Annotated[
            list[types.SampleId],
            Field(min_length=1, max_length=limits.MAX_DECK_RUN_SAMPLES),
            types.at_most(limits.MAX_DECK_RUN_SAMPLES),
        ]
        | None
    ) = None
    split: Split | None = None
    deck_version: VersionNumber | None = None
    prompt_edit_id: PromptEditId | None = None
    labelled: bool = False
    repeat: bool = False
    cap_nano_usd: Annotated[int, Field(ge=0, le=limits.MAX_DECK_RUN_CAP, strict=True)] | None = None

    @model_validator(mode="after")
    def _chooses_once(self) -> "StartDeckRunRequest":
        named = (self.sample_ids is not None, self.split is not None, self.labelled)
        if sum(named) > 1:
            raise ValueError("expected one of sampleIds, split and labelled")
        if self.sample_ids is not None and self.deck_version is not None:
            raise ValueError("expected sampleIds or deckVersion, not both")
        if self.prompt_edit_id is not None and (self.sample_ids is not None or self.labelled):
            raise ValueError("expected one of promptEditId, sampleIds and labelled")
        return self


class RunGrader(types.ResponseModel):
    """A grader of a run, in the version that judges."""

    grader_id: str
    version: int


class DeckEstimateOfGrader(types.ResponseModel):
    """What judging by one grader will probably cost, and at most.

    Attributes:
        requests: judgements that are to be paid.
        known: those that are there already, and are not paid again.
        measured: whether the estimate follows from what judgements of this version cost, and not
            from the length of texts.
    """

    grader_id: str
    version: int
    requests: int
    known: int
    estimate_nano_usd: int
    bound_nano_usd: int
    measured: bool


class DeckEstimate(types.ResponseModel):
    """What a run will probably cost, and at most; nothing is asked, and nothing is spent.

    Attributes:
        estimate_nano_usd: a token is taken to have four bytes, and an answer to be as long as
            usual; or what such judgements have cost so far.
        bound_nano_usd: where a token has one byte, each answer is as long as it may be, and each is
            asked for a second time.
        fits: whether the organisation's budget has room for the bound now.
    """

    samples: int
    requests: int
    known: int
    estimate_nano_usd: int
    bound_nano_usd: int
    fits: bool
    graders: list[DeckEstimateOfGrader]


class DeckEstimateResponse(types.ResponseModel):
    """The estimate of a run."""

    estimate: DeckEstimate


class DeckRunCounts(types.ResponseModel):
    """What has become of a run's judgements: ``expected`` is the sum of the five that follow.

    Attributes:
        expected: samples times graders; of a run that generates, times two versions.
        scored: of a run that generates, responses that are stored as samples.
        failed: there is no level, for a reason that the result has.
        canceled: they were not made, because the run was canceled or stopped before.
        pending: under way, or not begun.
        known: of those that are scored or abstained, how many were there before the run.
    """

    expected: int
    scored: int
    abstained: int
    failed: int
    canceled: int
    pending: int
    known: int


class Repeatability(types.ResponseModel):
    """How far second judgements agree with the first: of ``compared`` pairs that have levels.

    Attributes:
        same: pairs of the same level.
        within_one: pairs whose levels are at most one apart.
    """

    compared: int
    same: int
    within_one: int


class DeckRun(types.ResponseModel):
    """Judgements of a deck's samples by its graders.

    Attributes:
        samples: how many samples it judges.
        deck_version: of a run that judges samples of one version of the system prompt alone.
        estimate_nano_usd: what it would probably cost, as it was at the start; so with
            ``bound_nano_usd``, the most.
        cost_nano_usd: what has been paid for judgements that have ended.
        reserved_nano_usd: what those that are under way may cost at most; with the cost it is never
            above the cap.
        repeatability: of a run that repeats.
        waiting_because: what it waits for, while it does.
        proposal: of one that proposes graders, which has no samples and no counts.
        prompt_edit_id: the edit of the system prompt that it generates responses for, without
            graders, or whose responses it judges.
    """

    id: str
    deck_id: str
    kind: DeckRunKind
    status: DeckRunStatus
    graders: list[RunGrader]
    split: Split | None = None
    deck_version: int | None = None
    repeat: bool
    samples: int
    counts: DeckRunCounts
    estimate_nano_usd: int
    bound_nano_usd: int
    cost_nano_usd: int
    reserved_nano_usd: int
    cap_nano_usd: int
    repeatability: Repeatability | None = None
    stopped_because: DeckRunStop | None = None
    waiting_because: DeckRunWait | None = None
    cancel_requested_at: types.Timestamp | None = None
    created_at: types.Timestamp
    created_by: str
    ended_at: types.Timestamp | None = None
    proposal: DeckProposal | None = None
    prompt_edit_id: str | None = None


class DeckRunResponse(types.ResponseModel):
    """One run of a deck."""

    run: DeckRun


class DeckRunList(types.ResponseModel):
    """A page of a deck's runs, newest first."""

    runs: list[DeckRun]
    next_token: str | None = None
