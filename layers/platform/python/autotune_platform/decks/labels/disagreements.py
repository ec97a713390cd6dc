"""Where judge and people differ, sample by sample: on the development half alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.protocol import deck_agreement as wire
from autotune.protocol.levels import LEVELS
from autotune_platform.access.models import Caller
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Truth, criteria_digest
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.labels.results import JudgeResults, JudgeWord
from autotune_platform.decks.labels.wire import ratings_on_wire, result_on_wire
from autotune_platform.decks.models import DeckGrader
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor

ANSWERED = frozenset({"scored", "abstained"})
"""Of these results it is known whether the judge takes the question to apply."""


@dataclass(frozen=True)
class Difference:
    """A sample of the development half with both levels; None where the question does not apply."""

    truth: Truth
    people: int | None
    judge: int | None

    @property
    def distance(self) -> int | None:
        """Judge minus truth, where both have a level."""
        return None if self.judge is None or self.people is None else self.judge - self.people

    @property
    def place(self) -> tuple[int, str]:
        """Where it stands in the list: the widest first; those that the judge left out first."""
        if self.distance is None:
            return int(self.people is None), self.truth.sample_id
        return -abs(self.distance), self.truth.sample_id


@part
class DisagreementService:
    """Lists samples on which a version of a grader and people differ."""

    graders: LabelledGraders
    labels: LabelRepository
    pool: SamplePool
    results: JudgeResults

    def page(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        version: int | None,
        about: wire.DisagreementAbout,
        truth: int | None,
        score: int | None,
        limit: int,
        next_token: str | None,
    ) -> wire.DisagreementList:
        """Return a page of them, the widest first; that results are shown is noted before.

        Args:
            about: levels, or whether the question applies.
            truth: with this true level alone.
            score: with this level of the judge alone. With the same truth, they agree.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: the grader has no such version, ``next_token`` is not from this
                list, or both levels are named where one side has none.
        """
        if about == "applicability" and truth is not None and score is not None:
            raise InvalidRequestError.of_field(
                "score", "none where truth is given: one has a level"
            )
        grader = self.graders.require(caller, deck_id, grader_id)
        judged_by = self.graders.version(grader, version)
        truths = shown_truths(self.labels, self.pool, grader.deck_id, grader.id)
        results = self.results.scores(
            grader.id, judged_by.version, [one.sample_id for one in truths]
        )
        if about == "applicability":
            found = apart_on_applying(truths, results, truth=truth, score=score)
        else:
            found = differences(truths, results, truth=truth, score=score)
        after = _position(next_token)
        rest = [one for one in found if after is None or one.place > after]
        shown = rest[:limit]
        token = None
        if len(rest) > limit:
            distance, sample_id = shown[-1].place
            token = encode_cursor(str(distance), sample_id)
        self.labels.note_shown(
            grader.organization_id,
            grader.id,
            caller.principal_id,
            [one.truth.sample_id for one in shown],
        )
        criteria = criteria_digest(judged_by.rubric)
        return wire.DisagreementList(
            disagreements=self._on_wire(grader, judged_by.version, shown, criteria=criteria),
            total=len(found),
            confusion=_confusion(truths, results),
            applicability=applicability_of(truths, results),
            next_token=token,
        )

    def _on_wire(
        self, grader: DeckGrader, version: int, shown: Sequence[Difference], *, criteria: str
    ) -> list[wire.Disagreement]:
        sample_ids = [one.truth.sample_id for one in shown]
        results = self.results.whole(grader.id, version, sample_ids)
        excerpts = self.pool.excerpts(grader.deck_id, sample_ids)
        ratings = self.labels.latest_ratings(
            grader.id,
            [
                (one.truth.sample_id, rater, voice.corrections)
                for one in shown
                for rater, voice in one.truth.voices.items()
            ],
        )
        return [
            wire.Disagreement(
                sample_id=one.truth.sample_id,
                truth=one.people,
                score=one.judge,
                distance=one.distance,
                input_excerpt=excerpts[one.truth.sample_id].input_excerpt,
                output_excerpt=excerpts[one.truth.sample_id].output_excerpt,
                result=result_on_wire(results[one.truth.sample_id]),
                ratings=ratings_on_wire(one.truth, criteria=criteria),
                explanations={
                    rater: rating.explanation
                    for (sample_id, rater), rating in ratings.items()
                    if sample_id == one.truth.sample_id and rating.explanation
                },
            )
            for one in shown
            if one.truth.sample_id in excerpts and one.truth.sample_id in results
        ]


def development(truths: Iterable[Truth]) -> list[Truth]:
    """Return the settled truths of the development half: what is held out is listed nowhere."""
    return [one for one in truths if one.split == "development" and one.state == "settled"]


def shown_truths(
    labels: LabelRepository, pool: SamplePool, deck_id: str, grader_id: str
) -> list[Truth]:
    """Return the settled truths of the development half by which people see where a judge errs.

    None are of responses that were generated for an edit of the prompt: no user was answered so.
    """
    truths = development(labels.truths(grader_id, split="development"))
    there = pool.not_generated(deck_id, [one.sample_id for one in truths])
    return [one for one in truths if one.sample_id in there]


def differences(
    truths: Iterable[Truth],
    results: Mapping[str, JudgeWord],
    *,
    truth: int | None,
    score: int | None,
) -> list[Difference]:
    """Return samples with two levels that differ, or that are in the cell that is asked for."""
    found = []
    for one in truths:
        word = results.get(one.sample_id)
        if one.score is None or word is None or word.score is None:
            continue
        is_wanted = truth in {None, one.score} and score in {None, word.score}
        is_cell = truth is not None and score is not None
        if is_wanted and (is_cell or one.score != word.score):
            found.append(Difference(one, people=one.score, judge=word.score))
    return sorted(found, key=lambda one: one.place)


def apart_on_applying(
    truths: Iterable[Truth],
    results: Mapping[str, JudgeWord],
    *,
    truth: int | None,
    score: int | None,
) -> list[Difference]:
    """Return samples to which the question applies by judge or people, and not by the other."""
    found = []
    for one in truths:
        word = results.get(one.sample_id)
        if (
            word is None
            or word.status not in ANSWERED
            or (one.score is None) == (word.score is None)
        ):
            continue
        if truth in {None, one.score} and score in {None, word.score}:
            found.append(Difference(one, people=one.score, judge=word.score))
    return sorted(found, key=lambda one: one.place)


def applicability_of(
    truths: Iterable[Truth], results: Mapping[str, JudgeWord]
) -> wire.Applicability:
    """Count samples that the judge scored or abstained on; those that it failed on say nothing."""
    counts = Counter(
        (one.score is not None, word.status == "scored")
        for one in truths
        if (word := results.get(one.sample_id)) is not None and word.status in ANSWERED
    )
    return wire.Applicability(
        both_apply=counts[True, True],
        only_judge_abstains=counts[True, False],
        only_truth_does_not_apply=counts[False, True],
        neither_applies=counts[False, False],
    )


def _confusion(truths: Iterable[Truth], results: Mapping[str, JudgeWord]) -> list[list[int]]:
    counts = [[0] * len(LEVELS) for _ in LEVELS]
    for one in truths:
        word = results.get(one.sample_id)
        if one.score is not None and word is not None and word.score is not None:
            counts[LEVELS.index(one.score)][LEVELS.index(word.score)] += 1
    return counts


def _position(next_token: str | None) -> tuple[int, str] | None:
    if next_token is None:
        return None
    distance, sample_id = decode_cursor(next_token, parts=2)
    if not distance.removeprefix("-").isdecimal() or not distance.isascii():
        raise invalid_cursor()
    return int(distance), sample_id
