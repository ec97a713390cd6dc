"""What callers ask of edits of system prompts: making one, its price, and its responses.

A run is named in its edit before it is stored: whoever is killed in between leaves an edit whose
run is missing, and another request starts one. Responses have ids that follow from the edit, so
that a second run makes those that are missing alone.
"""

from dataclasses import dataclass
from typing import Any

from autotune.protocol import deck_prompt_edits as wire
from autotune.protocol.ids import new_id
from autotune.protocol.limits import (
    EDIT_COPIED_WORDS,
    MAX_DECK_SAMPLES,
    MAX_EDIT_COMPARED_SAMPLES,
)
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.decks.models import Deck
from autotune_platform.decks.prompting.asking import request_of
from autotune_platform.decks.prompting.inputs import DrawnSources, PromptInputs
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.runs.estimating import BYTES_PER_TOKEN, USUAL_ANSWER_TOKENS
from autotune_platform.decks.runs.models import Judged, Run
from autotune_platform.decks.runs.service import RunService
from autotune_platform.decks.runs.starting import START_WITHIN
from autotune_platform.decks.service import DeckService, require_current
from autotune_platform.judging.rubric.system_prompts import placeholders
from autotune_platform.ledger.planning import PlannedRow
from autotune_platform.ledger.prices import bound, cost
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooManyEntitiesError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.storage.transactions import Write


@dataclass(frozen=True)
class _Planned:
    """What a run of an edit answers, and what that costs in nano-USD."""

    deck: Deck
    drawn: DrawnSources
    requests: int
    known: int
    estimate: int
    bound: int


@part
class PromptEditService:
    """Makes edits of system prompts, and has models answer for them."""

    decks: DeckService
    edits: PromptEditRepository
    inputs: PromptInputs
    runs: RunService
    connections: UsableConnections
    clock: Clock = SYSTEM_CLOCK

    def create(
        self, caller: Caller, deck_id: str, request: wire.CreatePromptEditRequest
    ) -> PromptEdit:
        """Store an edit, and its prompt as a version that is not the current one.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: the prompt is the current one, has other placeholders, or has words
                of held-out samples; or the connection is none that the organisation may use.
            ConflictError: the base is not the current version, or the deck changed at once.
            TooManyEntitiesError: the deck has as many versions as it may.
        """
        deck = self.decks.require(caller, deck_id)
        require_current(deck.version, request.base_version)
        base = self._prompt(deck, deck.version)
        unknown = sorted({*placeholders(request.system_prompt)} - {*placeholders(base)})
        if unknown:
            expected = f"the placeholders of the current prompt alone, not {unknown[0]}"
            raise InvalidRequestError.of_field("systemPrompt", expected)
        if request.system_prompt == base:
            raise InvalidRequestError.of_field(
                "systemPrompt", "another prompt than the current one"
            )
        copied = self.inputs.copied(
            deck_id, base, request.system_prompt, at_most=MAX_EDIT_COMPARED_SAMPLES
        )
        if copied is not None:
            raise InvalidRequestError.of_field(
                "systemPrompt",
                f"words of its own: no {EDIT_COPIED_WORDS} in a row from a held-out sample",
                detail=f"it copies from sample {copied}",
            )
        self._connection(caller, request.generator)
        edit = PromptEdit(
            id=new_id("ped"),
            organization_id=deck.organization_id,
            deck_id=deck.id,
            base_version=deck.version,
            candidate_version=deck.versions + 1,
            generator=request.generator,
            groups=request.groups,
            split=request.split,
            labels=request.labels,
            note=request.note,
            created_at=self.clock.now(),
            created_by=caller.principal_id,
        )
        added = self.edits.added(edit)
        self.decks.add_candidate(
            caller, deck, request.system_prompt, request.note, added, edit_id=edit.id
        )
        return edit

    def get(self, caller: Caller, deck_id: str, edit_id: str) -> PromptEdit:
        """Return an edit; one whose run has ended is ``generated`` from then on.

        Raises:
            NotFoundError: there is no such deck or edit, or it is another organisation's.
        """
        self.decks.require(caller, deck_id)
        return self._settled(self.edits.require(deck_id, edit_id))

    def page(
        self, caller: Caller, deck_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[PromptEdit], str | None]:
        """Return a page of a deck's edits, newest first.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        self.decks.require(caller, deck_id)
        found, token = self.edits.page(deck_id, limit=limit, next_token=next_token)
        return [self._settled(one) for one in found], token

    def estimate(self, caller: Caller, deck_id: str, edit_id: str) -> wire.PromptEditEstimate:
        """Return what an edit's responses would cost; nothing is stored or asked.

        Raises:
            NotFoundError: there is no such deck or edit, or it is another organisation's.
            InvalidRequestError: the model cannot be asked.
            ConflictError: the edit is decided, there is no input that can be answered, or its
                prompt has words of a held-out one.
        """
        planned = self._planned(caller, self.get(caller, deck_id, edit_id))
        room = self.runs.orders.money.room(caller.organization_id)
        return wire.PromptEditEstimate(
            samples=len(planned.drawn.sources),
            unusable=planned.drawn.unusable,
            requests=planned.requests,
            known=planned.known,
            estimate_nano_usd=planned.estimate,
            bound_nano_usd=planned.bound,
            fits=room is None or planned.bound <= room,
        )

    def generate(
        self, caller: Caller, deck_id: str, edit_id: str, request: wire.GenerateResponsesRequest
    ) -> PromptEdit:
        """Start a run that answers the inputs under both prompts; one under way stays as it is.

        Raises:
            NotFoundError: there is no such deck or edit, or it is another organisation's.
            InvalidRequestError: the model cannot be asked.
            ConflictError: the edit is decided, there is no input, its prompt has words of a
                held-out one, or it changed at the same time.
            TooManyEntitiesError: the deck has no room for the responses, or the organisation as
                many runs under way as it may.
        """
        edit = self.get(caller, deck_id, edit_id)
        if edit.status == "generating" and self._run(edit) is not None:
            return edit
        planned = self._planned(caller, edit)
        self._require_room(planned)
        run = self._new_run(caller, edit, planned, request.cap_nano_usd)
        changes: dict[str, Any] = {"status": "generating", "run_id": run.id, "unfinished": None}
        if edit.started_at is None:
            changes |= {
                "started_at": run.created_at,
                "sources": [one.sample.id for one in planned.drawn.sources],
                "unusable": planned.drawn.unusable,
            }
        named = self._changed(edit, changes, *self._first_look(edit))
        sources = [one.sample.id for one in planned.drawn.sources]
        try:
            self.runs.add(run, sources, idempotency_key=None)
        except (ConflictError, TooManyEntitiesError):
            back = {"status": edit.status, "run_id": edit.run_id, "unfinished": edit.unfinished}
            self._changed(named, back)
            raise
        return named

    def _new_run(self, caller: Caller, edit: PromptEdit, planned: _Planned, cap: int | None) -> Run:
        now = self.clock.now()
        return Run(
            id=new_id("drn"),
            organization_id=edit.organization_id,
            deck_id=edit.deck_id,
            kind="generate",
            graders=[Judged(grader_id=edit.id, version=version) for version in edit.arms],
            split=edit.split,
            deck_version=edit.base_version,
            samples=len(planned.drawn.sources),
            estimate=planned.estimate,
            bound=planned.bound,
            cap=planned.bound if cap is None else min(cap, planned.bound),
            fingerprint=edit.id,
            looked_at=now,
            due_at=now + START_WITHIN,
            created_at=now,
            created_by=caller.principal_id,
        )

    def _planned(self, caller: Caller, edit: PromptEdit) -> _Planned:
        if edit.status not in {"proposed", "generating", "generated"}:
            raise ConflictError(f"edit {edit.id} is {edit.status.replace('_', ' ')}")
        deck = self.decks.require(caller, edit.deck_id)
        prompts = {version: self._prompt(deck, version) for version in edit.arms}
        self._connection(caller, edit.generator)
        # Drawn once: an edit that was begun goes on with the same inputs.
        is_begun = edit.started_at is not None
        drawn = self.inputs.kept(edit, prompts) if is_begun else self.inputs.draw(edit, prompts)
        if not drawn.sources:
            raise ConflictError(_nothing_to_answer(drawn.unusable))
        copied = next((one.sample.id for one in drawn.sources if one.is_copied), None)
        if copied is not None and not is_begun:
            raise ConflictError(
                f"edit {edit.id} has {EDIT_COPIED_WORDS} words in a row from the held-out sample "
                f"{copied}; propose a prompt with words of its own"
            )
        ids = {
            (one.sample.id, version): edit.response_id(one.sample.id, version)
            for one in drawn.sources
            for version in edit.arms
        }
        there = self.inputs.samples.headers(edit.deck_id, ids.values())
        empty = self._empty(caller, edit)
        prices = self.runs.orders.prices_of(empty.row, empty.connection)
        made = edit.has_made()
        estimate = most = requests = 0
        for source in drawn.sources:
            for version in edit.arms:
                at = source.sample.id, version
                if ids[at] in there or at in made:
                    continue
                size = empty.row.input_bytes + source.sizes[version]
                requests += 1
                estimate += _usual(empty, size)
                most += max(
                    bound(size, empty.row.messages, empty.row.max_tokens, price) for price in prices
                )
        return _Planned(deck, drawn, requests, len(there), estimate, most)

    def _empty(self, caller: Caller, edit: PromptEdit) -> PlannedRow:
        """Return the row that asks nothing, with a prompt of nothing."""
        asked = request_of(edit, system="", user="")
        (planned,) = self.runs.orders.plan_orders(caller, [("estimate", asked)])
        if isinstance(planned, InvalidRequestError):
            raise InvalidRequestError.of_field(
                "generator", "a model that can be asked", detail=planned.detail
            )
        return planned

    def _connection(self, caller: Caller, generator: wire.PromptGenerator) -> None:
        self.connections.require(
            caller.organization_id, generator.connection_id, field="generator.connectionId"
        )

    def _prompt(self, deck: Deck, version: int) -> str:
        prompt = self.decks.repository.prompts(deck.id, [version]).get(version)
        if prompt is None:
            raise NotFoundError(f"no deck {deck.id}")
        return prompt

    def _require_room(self, planned: _Planned) -> None:
        counts = self.decks.repository.counts([planned.deck.id]).get(planned.deck.id)
        there = 0 if counts is None else counts.samples
        if there + planned.requests > MAX_DECK_SAMPLES:
            raise TooManyEntitiesError(
                f"the deck has {there} samples, and {planned.requests} responses are more than "
                f"its limit of {MAX_DECK_SAMPLES}; draw fewer groups",
                limit=LimitProblem(
                    name="deckSamples", maximum=MAX_DECK_SAMPLES, unit="samples", actual=there
                ),
            )

    def _run(self, edit: PromptEdit) -> Run | None:
        return None if edit.run_id is None else self.runs.repository.get(edit.deck_id, edit.run_id)

    def _settled(self, edit: PromptEdit) -> PromptEdit:
        run = self._run(edit) if edit.status == "generating" else None
        if run is None or run.is_open:
            return edit
        unfinished = None if run.status == "completed" else run.status
        changes = {"status": "generated", "unfinished": unfinished}
        after = edit.model_copy(update={**changes, "revision": edit.revision + 1})
        if self.edits.change(edit, after):
            return after
        return self.edits.require(edit.deck_id, edit.id)

    def _first_look(self, edit: PromptEdit) -> list[Write]:
        """Return what spends the look of an edit whose responses are made for the first time."""
        if edit.started_at is not None:
            return []
        looks = self.edits.looks(edit)
        spent = looks.begun(edit.id, self.clock.now())
        return [] if spent is looks else [self.edits.spent(edit.deck_id, looks, spent)]

    def _changed(self, edit: PromptEdit, changes: dict[str, Any], *others: Write) -> PromptEdit:
        after = edit.model_copy(update={**changes, "revision": edit.revision + 1})
        if not self.edits.change(edit, after, *others):
            raise ConflictError(f"edit {edit.id} changed at the same time; read it again")
        return after


def _nothing_to_answer(unusable: int) -> str:
    none = "the deck has no such sample whose input can be answered"
    if not unusable:
        return none
    return (
        f"{none}: {unusable} were drawn that have several turns, tools or images, or a system "
        "prompt that is not the deck's, as redactions of capture make it where they find its "
        "placeholders"
    )


def _usual(planned: PlannedRow, size: int) -> int:
    output = min(planned.row.max_tokens, USUAL_ANSWER_TOKENS)
    usage = Usage(input_tokens=-(-size // BYTES_PER_TOKEN), output_tokens=output)
    return cost(usage, planned.row.price)
