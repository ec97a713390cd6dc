"""Labels of all graders of a deck, with what holds: all that a team takes elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune.protocol import deck_label_exports as wire
from autotune_platform.access.models import Caller
from autotune_platform.decks.held_out import HeldOut
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Rating, Truth
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.labels.results import JudgeResults, JudgeWord
from autotune_platform.decks.labels.wire import result_on_wire, truth_on_wire
from autotune_platform.decks.models import DeckGrader
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor

_READ_AT_ONCE = 10
# Twenty people may say ten thousand characters each of a sample.
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class _Of:
    """A grader that is exported, and what is read with its labels."""

    grader: DeckGrader
    criteria: str
    has_results: bool


@part
class LabelExport:
    """Pages through labels. What is shown of results is noted, as everywhere."""

    graders: LabelledGraders
    labels: LabelRepository
    pool: SamplePool
    results: JudgeResults
    held_out: HeldOut

    def page(
        self,
        caller: Caller,
        deck_id: str,
        *,
        grader_id: str | None,
        with_results: bool,
        limit: int,
        next_token: str | None,
    ) -> wire.DeckLabelList:
        """Return a page of labels, by grader and sample; a page with long texts is shorter.

        Args:
            grader_id: of this grader alone.
            with_results: with what each grader's current version said. The caller has seen it then:
                what they say, or upload, of these samples later is not blind.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
            UnavailableError: others look at the same labels right now.
        """
        deck = self.graders.decks.require(caller, deck_id)
        if grader_id is not None:
            named = [self.graders.require(caller, deck_id, grader_id)]
        else:
            named = sorted(self.graders.graders.list(deck.id), key=lambda one: one.id)
        at, after = decode_cursor(next_token, parts=2) if next_token else ("", "")
        found: list[wire.DeckLabel] = []
        size = 0
        for grader in named:
            if grader.id < at:
                continue
            of = _Of(grader, self.graders.criteria(grader), with_results)
            begin = after if grader.id == at else ""
            truths = self.labels.truths_from(grader.id, after=begin, limit=limit - len(found) + 1)
            for some in groups(truths, _READ_AT_ONCE):
                for label in self._on_wire(caller, of, some):
                    if len(found) == limit or size > _MOST_BYTES:
                        last = found[-1]
                        token = encode_cursor(last.grader_id, last.sample_id)
                        return wire.DeckLabelList(labels=found, next_token=token)
                    found.append(label)
                    size += len(label.model_dump_json().encode())
        return wire.DeckLabelList(labels=found)

    def _on_wire(
        self, caller: Caller, of: _Of, truths: Sequence[Truth]
    ) -> Iterator[wire.DeckLabel]:
        grader = of.grader
        said = self.labels.ratings_of(
            grader.id,
            [
                (one.sample_id, rater, number)
                for one in truths
                for rater, voice in one.voices.items()
                for number in range(voice.corrections + 1)
            ],
        )
        external_ids = self.pool.external_ids(grader.deck_id, [one.sample_id for one in truths])
        results = self._results(caller, grader, truths) if of.has_results else {}
        for truth in truths:
            result = results.get(truth.sample_id)
            yield wire.DeckLabel(
                grader_id=grader.id,
                grader_name=grader.name,
                sample_id=truth.sample_id,
                external_id=external_ids.get(truth.sample_id),
                split=truth.split,
                truth=truth_on_wire(truth, criteria=of.criteria),
                ratings=[*_ratings(truth, said)],
                result=None if result is None else result_on_wire(result),
                result_withheld=of.has_results and truth.sample_id not in results,
            )

    def _results(
        self, caller: Caller, grader: DeckGrader, truths: Sequence[Truth]
    ) -> dict[str, JudgeWord | None]:
        """Return the results that may be shown, None where there is none, by sample."""
        held = {one.sample_id for one in truths if one.split == "holdout"}
        found = self.results.whole(grader.id, grader.version, [one.sample_id for one in truths])
        if not held.isdisjoint(found) and not self.held_out.show(grader, grader.version):
            found = {id_: one for id_, one in found.items() if id_ not in held}
        else:
            held = set()
        self.labels.note_shown(caller.organization_id, grader.id, caller.principal_id, found)
        return {
            one.sample_id: found.get(one.sample_id) for one in truths if one.sample_id not in held
        }


def _ratings(truth: Truth, said: Sequence[Rating]) -> Iterator[wire.ExportedRating]:
    """Yield of each person the word that counts, else the last one, with its reasons."""
    words = truth.words
    for rater, voice in sorted(truth.voices.items()):
        word = words.get(rater, voice.latest)
        own = [one for one in said if (one.sample_id, one.rater) == (truth.sample_id, rater)]
        rating = next((one for one in own if one.word == word), None)
        yield wire.ExportedRating(
            sample_id=truth.sample_id,
            rater=rater,
            score=word.score,
            does_not_apply=word.score is None,
            explanation=rating.explanation if rating else "",
            version=word.version,
            saw_result=word.saw_result,
            # Who chose a drawn sample as well counts for nothing, and does so elsewhere.
            selection=rating.selection if rating else "chosen",
            probability=rating.probability if rating and rating.selection == "random" else None,
        )
