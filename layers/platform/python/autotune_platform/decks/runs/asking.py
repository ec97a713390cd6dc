"""Judgements as rows of the ledger: what is asked about a sample, and under which key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.protocol.completions import ABSTENTIONS, ReasonCode
from autotune.protocol.deck_results import DeckResultStatus
from autotune.protocol.deck_runs import DeckRunWait
from autotune.protocol.limits import MAX_LEVELS_TEXT_CHARACTERS
from autotune.protocol.llm_requests import EnqueueLlmRequest, LlmTrace
from autotune_platform.access.models import Caller
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.models import GraderVersion, Sample
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.runs.models import Asked, Chunk, Judged, Run
from autotune_platform.decks.runs.repository import unpacked_rows
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.judging.rubric.conversations import SampleTexts
from autotune_platform.judging.rubric.level_prompts import LevelFault, repair_notice
from autotune_platform.judging.rubric.levels import levels_request
from autotune_platform.ledger.affording import too_dear
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.ordering import RowOrders
from autotune_platform.ledger.planning import input_of
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

PURPOSE = "rubric_grading"
"""The only purpose whose prompts have held-out samples."""

MOST_BYTES = 5_000_000
"""Most bytes of samples that are asked about in one chunk: each is in memory some times."""

# A run takes a week at most; what is left behind goes a day later.
_RETENTION_DAYS = 8


@dataclass(frozen=True)
class Wanted:
    """A judgement that is to be made; ``paid`` is what earlier questions about it cost."""

    sample_id: str
    grader: int
    ask: int = 1
    fault: LevelFault | None = None
    paid: int = 0


@dataclass(frozen=True)
class Planned:
    """A judgement with its row, of which nothing is stored."""

    asked: Asked
    row: Row


@dataclass(frozen=True)
class Unaskable:
    """A judgement that no model can be asked for; without a reason, its sample was deleted."""

    wanted: Wanted
    reason: ReasonCode | None

    @property
    def status(self) -> DeckResultStatus:
        """How it ends."""
        if self.reason is None:
            return "canceled"
        return "abstained" if self.reason in ABSTENTIONS else "failed"


@dataclass
class Asking:
    """What one step of a run reads once.

    Attributes:
        caller: the organisation, with its limits.
        versions: of the run's graders, in their order; None where one is gone.
        prompts: system prompts of the deck, by version.
    """

    run_id: str
    caller: Caller
    versions: Sequence[GraderVersion | None]
    prompts: dict[int, str | None] = field(default_factory=dict)


@part
class RunAsking:
    """Makes rows of judgements, and has them asked."""

    decks: DeckRepository
    graders: DeckGraderRepository
    samples: SampleRepository
    orders: RowOrders

    def begin(self, run: Run) -> Asking | None:
        """Return what a step of a run needs for its questions; None while nobody may ask.

        Raises:
            NotFoundError: the organisation is gone.
        """
        if self.orders.organizations.organization(run.organization_id).status != "active":
            return None
        return Asking(
            run_id=run.id,
            caller=self.orders.caller_for(run.organization_id),
            versions=[self._version(run.deck_id, one) for one in run.graders],
        )

    def within_memory(self, run: Run, wanted: Sequence[Wanted]) -> Sequence[Wanted]:
        """Return as many of the first judgements as may be in memory together, and one at least."""
        headers = self.samples.headers(run.deck_id, {one.sample_id for one in wanted})
        size = 0
        for place, one in enumerate(wanted):
            size += headers[one.sample_id].judged_bytes if one.sample_id in headers else 0
            if place and size > MOST_BYTES:
                return wanted[:place]
        return wanted

    def plan(self, asking: Asking, run: Run, wanted: Sequence[Wanted]) -> list[Planned | Unaskable]:
        """Return a row for each judgement, or why there can be none; nothing is stored.

        No question says which model wrote the response.
        """
        texts = self._texts(run, {one.sample_id for one in wanted})
        answers: dict[int, Planned | Unaskable] = {}
        requests: dict[int, EnqueueLlmRequest] = {}
        for place, one in enumerate(wanted):
            found = texts.get(one.sample_id)
            if found is None:
                answers[place] = Unaskable(one, None)
            elif found[1].characters > MAX_LEVELS_TEXT_CHARACTERS:
                answers[place] = Unaskable(one, "input_too_long")
            elif (request := self._request(asking, run, one, *found)) is None:
                answers[place] = Unaskable(one, "model_connection_lost")
            else:
                requests[place] = request
        keyed = [(_key(run, wanted[place]), request) for place, request in requests.items()]
        lowest = self.orders.affording.lowest(run.organization_id)
        planned = self.orders.plan_orders(asking.caller, keyed)
        for place, row in zip(requests, planned, strict=True):
            one = wanted[place]
            if isinstance(row, InvalidRequestError):
                answers[place] = Unaskable(one, _reason_of(row))
            elif lowest is not None and too_dear(row.row, lowest) is not None:
                answers[place] = Unaskable(one, "budget_exhausted")
            else:
                answers[place] = Planned(_asked(one, row.row), row.row)
        return [answers[place] for place in range(len(wanted))]

    def order(self, asking: Asking, run: Run, chunk: Chunk) -> None:
        """Enqueue the rows of a chunk; doing it again changes nothing.

        A sample that was deleted in between is asked about no more: its row ends without a call. So
        does one at which steps are killed.

        Raises:
            TooManyOpenRowsError: the organisation has as much under way as it may.
            UnavailableError: a store refused work, or somebody else orders them right now.
        """
        assert chunk.rows is not None, "a chunk that is reserved has its rows"
        rows = unpacked_rows(chunk.rows)
        read = [one for one in chunk.left if not run.is_killer(one.row_id)]
        inputs = self.inputs(asking, run, read)
        self.orders.order_all(asking.caller, order_key(chunk), rows, inputs)

    def inputs(self, asking: Asking, run: Run, rows: Sequence[Asked]) -> dict[str, RowInput]:
        """Return what rows ask, without those whose samples were deleted."""
        texts = self._texts(run, {one.sample_id for one in rows})
        inputs: dict[str, RowInput] = {}
        for one in rows:
            wanted = Wanted(one.sample_id, one.grader, one.ask, one.fault)
            found = texts.get(one.sample_id)
            request = None if found is None else self._request(asking, run, wanted, *found)
            if request is not None:
                inputs[one.row_id] = input_of(request)
        return inputs

    def was_begun(self, run: Run, chunk: Chunk) -> bool:
        """Return whether any row of a chunk may be stored."""
        return self.orders.was_begun(run.organization_id, order_key(chunk))

    def cancel(self, chunk: Chunk) -> None:
        """Cancel the rows of a chunk that wait, and have no further tries of those at work.

        Raises:
            UnavailableError: the table is busy; some may be canceled.
        """
        self.orders.cancel(one.row_id for one in chunk.left)

    def ended(self, rows: Sequence[Asked]) -> list[Asked]:
        """Return those of some rows that have ended; no text of them is read."""
        found = self.orders.last(one.row_id for one in rows)
        # One that is not there was deleted with its organisation.
        return [one for one in rows if one.row_id not in found or found[one.row_id].has_ended]

    def are_calls(self, chunks: Sequence[Chunk]) -> bool:
        """Return whether all that is under way is asked by itself, and nothing in a job."""
        ids = [one.row_id for chunk in chunks for one in chunk.left if chunk.state == "asked"]
        found = self.orders.last(ids)
        return bool(found) and all(row.mode == "calls" for row in found.values())

    def waits_for(self, run: Run, chunks: Sequence[Chunk]) -> DeckRunWait | None:
        """Return what keeps the oldest row that is under way in its queue; None for nothing odd."""
        asked = next((one.left[0] for one in chunks if one.state == "asked" and one.left), None)
        if asked is None:
            return None
        return waiting_reason(self.orders, run.organization_id, asked.row_id)

    def _version(self, deck_id: str, judged: Judged) -> GraderVersion | None:
        return self.graders.version(deck_id, judged.grader_id, judged.version)

    def _texts(self, run: Run, sample_ids: set[str]) -> Mapping[str, tuple[Sample, SampleTexts]]:
        headers = self.samples.headers(run.deck_id, sample_ids)
        texts = self.samples.texts(headers.values())
        return {id_: (headers[id_], one.read()) for id_, one in texts.items()}

    def _request(
        self, asking: Asking, run: Run, wanted: Wanted, header: Sample, texts: SampleTexts
    ) -> EnqueueLlmRequest | None:
        """Return what is asked; None where there is no judge to ask any more."""
        version = asking.versions[wanted.grader]
        if version is None or version.judge is None:
            return None
        request = levels_request(
            version.rubric,
            version.judge,
            texts,
            deck_prompt=self._prompt(asking, run, header.deck_version),
            purpose=PURPOSE,
            deck_id=run.deck_id,
            trace=LlmTrace(rubric_id=version.grader_id, sample_id=wanted.sample_id),
            labels={
                "run": run.id,
                "grader": version.grader_id,
                "version": str(version.version),
                "ask": str(wanted.ask),
            },
            complete_by=run.deadline,
            retention_days=_RETENTION_DAYS,
        )
        return request if wanted.fault is None else asked_again(request, wanted.fault)

    def _prompt(self, asking: Asking, run: Run, version: int) -> str | None:
        if version not in asking.prompts:
            asking.prompts[version] = self.decks.prompts(run.deck_id, [version]).get(version)
        return asking.prompts[version]


def asked_again(request: EnqueueLlmRequest, fault: LevelFault) -> EnqueueLlmRequest:
    """Return a question that is asked a second time, with a word on what was wrong."""
    said = f"{request.input.user}\n\n{repair_notice(fault)}"
    return request.model_copy(
        update={
            "input": request.input.model_copy(update={"user": said}),
            "labels": {**request.labels, "fault": fault},
        }
    )


def waiting_reason(orders: RowOrders, organization_id: str, row_id: str) -> DeckRunWait | None:
    """Return what keeps a row in its queue; None for nothing odd."""
    row = orders.rows.get(row_id)
    if row is None or row.status != "queued":
        return None
    connection = orders.connection(organization_id, row.connection_id)
    if connection is not None and connection.status == "paused":
        return "connection_paused"
    room = orders.money.room(organization_id)
    return "budget_exhausted" if room is not None and room < row.bound_nano_usd else None


def order_key(chunk: Chunk) -> str:
    """Return the key that the rows of a chunk are enqueued under."""
    return f"{chunk.run_id}.{chunk.number}"


def _key(run: Run, wanted: Wanted) -> str:
    judged = run.graders[wanted.grader]
    parts = (run.id, wanted.sample_id, judged.grader_id, str(judged.version), str(wanted.ask))
    return "#".join(("deck", *parts))


def _asked(wanted: Wanted, row: Row) -> Asked:
    assert row.most_nano_usd is not None, "what is ordered by us has a bound"
    return Asked(
        sample_id=wanted.sample_id,
        grader=wanted.grader,
        ask=wanted.ask,
        fault=wanted.fault,
        paid=wanted.paid,
        row_id=row.id,
        most=row.most_nano_usd,
    )


def _reason_of(error: InvalidRequestError) -> ReasonCode:
    fields = {one.field for one in error.fields}
    return "model_connection_lost" if "connectionId" in fields else "model_rejected"
