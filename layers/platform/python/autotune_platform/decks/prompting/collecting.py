"""What models have answered, stored as samples of the version whose prompt they were given.

A sample is stored first, then the chunk and the run in one transaction. Its id follows from the
edit, so that whoever is killed in between is followed by a step that finds it there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autotune.protocol.deck_results import DeckResultStatus
from autotune.protocol.deck_samples import NewSample
from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.decks.conversion import FaultySampleError, conversation_of
from autotune_platform.decks.models import Deck, Sample
from autotune_platform.decks.prompting.asking import GenerationAsking
from autotune_platform.decks.prompting.inputs import messages_of, parameters, values_of
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.results import Place
from autotune_platform.decks.runs.asking import Wanted
from autotune_platform.decks.runs.collecting import Draft, RunCollecting
from autotune_platform.decks.runs.models import Asked, Counts, Run
from autotune_platform.decks.runs.pairs import NextPairs, place_of
from autotune_platform.decks.sample_intake import in_transactions
from autotune_platform.decks.sample_making import SampleOrigin, made_sample
from autotune_platform.decks.sample_repository import (
    AT_A_TIME,
    PackedSample,
    SampleRepository,
    packed,
)
from autotune_platform.judging.rubric.levels import LevelReading
from autotune_platform.ledger.ordering import Ordered
from autotune_platform.runtime.errors import NotFoundError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

# Each has an item that leads to it from its source, and may have one that has it expire.
_TOGETHER = AT_A_TIME // 2
_ATTEMPTS = 8


@dataclass(frozen=True)
class Response(Draft):
    """A response that is to be stored.

    Attributes:
        served_model: the model that the provider says has answered, if it says so.
        made: what is stored of it; None until it is made, and where it is no sample.
    """

    text: str = ""
    served_model: str | None = None
    is_cut: bool = False
    made: PackedSample | None = None


@part
class GenerationPairs(NextPairs):
    """Reads which responses of a run come next, and which of them are there."""

    edits: PromptEditRepository
    samples: SampleRepository

    def known(self, run: Run, wanted: Sequence[Wanted]) -> Mapping[Place, DeckResultStatus]:
        """Return responses that were made, which are not paid for again.

        One that is gone is not made again either.
        """
        edit = self.edits.get(run.deck_id, run.fingerprint)
        if edit is None:
            return {}
        ids = {at: edit.response_id(at[2], at[1]) for at in (place_of(run, one) for one in wanted)}
        there = self.samples.headers(run.deck_id, ids.values())
        gone = edit.has_made()
        known: dict[Place, DeckResultStatus] = {
            at: "canceled" for at in ids if (at[2], at[1]) in gone
        }
        return known | {at: "scored" for at, id_ in ids.items() if id_ in there}


@part
class GenerationCollecting(RunCollecting):
    """Stores what has come of responses."""

    asking: GenerationAsking

    def draft(self, asked: Asked, ordered: Ordered | None, *, is_given_up: bool) -> Draft:
        """Return what has come of a response; one that was refused, or is empty, has failed."""
        draft = super().draft(asked, ordered, is_given_up=is_given_up)
        if ordered is None or ordered.row.status != "completed" or ordered.answered is None:
            return draft
        row, text = ordered.row, ordered.answered.raw_output
        if row.finish_reason == "refusal" or not text.strip():
            reading = LevelReading(status="failed", reason="model_refused")
            return Draft(draft.wanted, "failed", draft.cost, reading, row.id)
        return Response(
            draft.wanted,
            "scored",
            draft.cost,
            LevelReading(status="scored"),
            row.id,
            text=text,
            served_model=row.served_model,
            is_cut=row.finish_reason == "length",
        )

    def made(self, run: Run, drafts: list[Draft]) -> list[Draft]:
        """Return responses with what is stored of them, for which their sources' texts are read."""
        responses = [one for one in drafts if isinstance(one, Response)]
        sources = self.samples.headers(run.deck_id, {one.wanted.sample_id for one in responses})
        made = self._samples(run, responses, sources)
        return [
            replace(one, made=made.get(one.wanted)) if isinstance(one, Response) else one
            for one in drafts
        ]

    def store(self, run: Run, drafts: Sequence[Draft], counts: Counts) -> Counts:
        """Store responses as samples; return counts with them, as they stand then.

        Of an input that was deleted nothing is stored, and what was stored goes with it.
        """
        sources = self.samples.headers(run.deck_id, {one.wanted.sample_id for one in drafts})
        responses = [one for one in drafts if isinstance(one, Response)]
        for one in drafts:
            if not isinstance(one, Response):
                is_there = one.wanted.sample_id in sources
                counts = counts.plus(one.status if is_there else "canceled")
        made = [one.made for one in responses if one.made and one.wanted.sample_id in sources]
        stored: list[Sample] = []
        for some in in_transactions(made, at_most=_TOGETHER):
            added = self.samples.add(run.deck_id, some)
            stored += added
            if len(added) < len(some):
                break  # the deck is full
        self._note(run, stored)
        there = self.samples.headers(run.deck_id, sources)
        kept = [one for one in stored if one.source_id in there]
        for sample in stored:
            if sample.source_id not in there:
                self.samples.delete(sample)
        gone = sum(one.wanted.sample_id not in there for one in responses)
        counts = counts.plus("scored", len(kept)).plus("canceled", gone)
        return counts.plus("failed", len(responses) - len(kept) - gone)

    def _note(self, run: Run, stored: Sequence[Sample]) -> None:
        """Note in the edit which responses were made.

        Raises:
            UnavailableError: the edit changes all the time, or the table is busy; the same step
                comes again.
        """
        made = [(one.source_id, one.deck_version) for one in stored if one.source_id is not None]
        for _ in BUSY.attempts(_ATTEMPTS):
            edit = self.asking.edits.get(run.deck_id, run.fingerprint)
            if edit is None or {*made} <= edit.has_made():
                return
            after = edit.with_made(made)
            after = after.model_copy(update={"revision": edit.revision + 1})
            if self.asking.edits.change(edit, after):
                return
        raise UnavailableError("the edit is busy", retry_after_seconds=1)

    def _samples(
        self, run: Run, responses: Sequence[Response], sources: Mapping[str, Sample]
    ) -> dict[Wanted, PackedSample]:
        """Return what is stored of responses, by what was wanted."""
        edit = self.asking.edits.get(run.deck_id, run.fingerprint)
        deck = self._deck(run)
        if edit is None or deck is None or not responses:
            return {}
        wanted = {one.wanted.sample_id for one in responses}
        texts = self.samples.texts(one for id_, one in sources.items() if id_ in wanted)
        prompts = self.asking.decks.prompts(run.deck_id, edit.arms)
        connection = self.orders.planner.connections.get(edit.generator.connection_id)
        made: dict[Wanted, PackedSample] = {}
        for one in responses:
            source, found = sources.get(one.wanted.sample_id), texts.get(one.wanted.sample_id)
            version = run.graders[one.wanted.grader].version
            if source is None or found is None or prompts.keys() != {*edit.arms}:
                continue
            read = found.read()
            values = values_of(prompts[edit.base_version], read)
            if values is None:
                continue
            messages = messages_of(prompts[version], values, read.turns[0].text)
            provider = connection.provider if connection else None
            given = _given(edit, one, messages, provider)
            try:
                sample = _sample(deck, edit, source, one, prompts[version], given)
            except FaultySampleError:
                continue
            made[one.wanted] = sample
        return made

    def _deck(self, run: Run) -> Deck | None:
        try:
            return self.asking.decks.get_of(run.organization_id, run.deck_id)
        except NotFoundError:
            return None


def _given(
    edit: PromptEdit,
    response: Response,
    messages: list[dict[str, str]],
    provider: LlmProvider | None,
) -> NewSample:
    """Return a request and its response as OpenAI has them."""
    answer = {
        "index": 0,
        "message": {"role": "assistant", "content": response.text},
        "finish_reason": "length" if response.is_cut else "stop",
    }
    return NewSample(
        request={
            "model": edit.generator.model,
            "messages": messages,
            **parameters(edit.generator),
        },
        response={"model": response.served_model or edit.generator.model, "choices": [answer]},
        provider=provider,
        model=edit.generator.model,
    )


def _sample(
    deck: Deck, edit: PromptEdit, source: Sample, response: Response, prompt: str, given: NewSample
) -> PackedSample:
    """Return what is stored of a response: in the group and the half of its source.

    Raises:
        FaultySampleError: it is no sample, because it is too large.
    """
    version = edit.arms[response.wanted.grader]
    origin = SampleOrigin(
        sample_id=edit.response_id(source.id, version),
        deck_version=version,
        prompt=prompt,
        collection="generated",
        created_at=edit.created_at,
        expires_at=source.expires_at,
    )
    whole = made_sample(deck, given, conversation_of(given), origin)
    of_source = {
        "group_key": source.group_key,
        "split": source.split,
        "source_id": source.id,
        "prompt_edit_id": edit.id,
        "served_model": response.served_model,
    }
    return packed(whole.model_copy(update={"sample": whole.sample.model_copy(update=of_source)}))
