"""Disagreements as a model is shown them: of the development half, and of no other sample."""

from collections.abc import Iterable, Sequence

from autotune_platform.decks.fixing.prompts import Shown
from autotune_platform.decks.labels.disagreements import development, differences, shown_truths
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.labels.results import JudgeResults
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.judging.rubric.conversations import SampleTexts, sample_texts
from autotune_platform.runtime.parts import part

_MOST_CHARACTERS = 20_000


@part
class EditShowing:
    """Reads what a model is shown that proposes edits."""

    labels: LabelRepository
    results: JudgeResults
    pool: SamplePool
    samples: SampleRepository

    def widest(self, deck_id: str, grader_id: str, version: int, *, most: int) -> list[str]:
        """Return samples of the development half on which judge and people differ most."""
        truths = shown_truths(self.labels, self.pool, deck_id, grader_id)
        results = self.results.scores(grader_id, version, [one.sample_id for one in truths])
        found = differences(truths, results, truth=None, score=None)
        return [one.truth.sample_id for one in found[:most]]

    def shown(
        self, deck_id: str, grader_id: str, version: int, sample_ids: Iterable[str]
    ) -> list[Shown]:
        """Return those of some disagreements that are there still, with their texts."""
        ids = list(sample_ids)
        truths = {one.sample_id: one for one in development(self._truths(grader_id, ids))}
        results = self.results.whole(grader_id, version, truths)
        headers = self.samples.headers(deck_id, truths)
        texts = self.samples.texts(headers.values())
        said = self.labels.latest_ratings(
            grader_id,
            [
                (id_, rater, voice.corrections)
                for id_, one in truths.items()
                for rater, voice in one.voices.items()
            ],
        )
        found = []
        for id_ in ids:
            truth, word = truths.get(id_), results.get(id_)
            if truth is None or truth.score is None or word is None or word.score is None:
                continue
            if id_ not in texts:
                continue
            why = [one.explanation for (of, _), one in said.items() if of == id_]
            found.append(
                Shown(
                    sample_id=id_,
                    texts=_cut(sample_texts(texts[id_].request, texts[id_].response)),
                    people=truth.score,
                    judge=word.score,
                    why=word.explanation or "",
                    said=[one for one in why if one],
                )
            )
        return found

    def _truths(self, grader_id: str, sample_ids: Sequence[str]) -> Iterable[Truth]:
        return self.labels.truths_of(grader_id, sample_ids).values()


def _cut(texts: SampleTexts) -> SampleTexts:
    """Return texts whose ends are left out where they are long."""
    turns = [
        one.model_copy(update={"text": one.text[:_MOST_CHARACTERS]}) for one in texts.turns[-6:]
    ]
    return texts.model_copy(update={"turns": turns, "response": texts.response[:_MOST_CHARACTERS]})
