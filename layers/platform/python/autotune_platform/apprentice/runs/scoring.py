"""What is learned of a run: how far a version's answer agrees with the paid model's."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from aws_lambda_powertools import Logger

from autotune.protocol.grading import GradedCompletion
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.evaluators import (
    ExactMatch,
    StructuredMatch,
    UnusableTruthError,
    equal_json,
)
from autotune_platform.apprentice.fences import unfenced
from autotune_platform.apprentice.routing import Decision, Local
from autotune_platform.apprentice.runs.callers import caller_of
from autotune_platform.apprentice.runs.models import Run, RunPair
from autotune_platform.apprentice.runs.outputs import read_output
from autotune_platform.apprentice.runs.prompting import local_question
from autotune_platform.apprentice.similarity.asking import NoSimilarityError
from autotune_platform.apprentice.similarity.texts import text_of
from autotune_platform.apprentice.standing import VersionStanding

logger = Logger()


class AsksGraders(Protocol):
    """Asks a registered grader."""

    def score(self, caller: Caller, grader_id: str, asked: GradedCompletion) -> float | None:
        """Return a grader's value, from 0 to 1; None where there is none."""


class ComparesMeaning(Protocol):
    """Compares texts by an embedding model."""

    def cosines(self, model: str, pairs: Sequence[tuple[str, str]]) -> Sequence[float | None]:
        """Return how alike the texts of each pair are; see ``SimilarityInvocations``."""


BY_MEANING: Final = "semantic_similarity"


def pairs_of(
    run: Run,
    decision: Decision,
    document: Mapping[str, Any],
    versions: Mapping[int, VersionStanding],
    truth: str,
    graders: AsksGraders,
    meanings: ComparesMeaning,
) -> tuple[RunPair, ...]:
    """Return the pairs of a run that the paid model answered.

    Where a version is in shadow, every input is compared, so that chance alone chose this one, too.

    Args:
        decision: on what is known of the run; it says what is compared.
        document: the configuration that the run goes by.
        versions: by number; their gates say how sure they have to be.
        truth: the paid model's answer.
        graders: asked where the evaluator is one of them.
        meanings: asked where the evaluator compares meanings.
    """
    compared = (
        (decision.pair, run.local_version, run.local_output, run.local, run.local_confidence),
        (
            decision.shadow_pair,
            run.shadow_version,
            run.shadow_output,
            run.shadow,
            run.shadow_confidence,
        ),
    )
    pairs = []
    for is_compared, version, output, outcome, confidence in compared:
        if is_compared and version is not None:
            score = _score(run, document, output or "", truth, graders, meanings)
            if score is not None:
                missed = missed_fields(document, output or "", truth)
                pairs.append(
                    RunPair(
                        version=version,
                        score=score,
                        is_drawn=True,
                        is_sure=_is_sure(versions.get(version), outcome, confidence),
                        missed=tuple(missed),
                    )
                )
    return tuple(pairs)


def _is_sure(
    version: VersionStanding | None, outcome: Local | None, confidence: float | None
) -> bool:
    """Return whether a version was as sure as its gate asks for, whether or not the task has one.

    What cannot be read counts against it in any case.
    """
    if outcome is Local.ANSWERED and version is not None:
        return version.known.is_sure(confidence)
    return outcome is not Local.UNSURE


def _score(
    run: Run,
    document: Mapping[str, Any],
    local: str,
    truth: str,
    graders: AsksGraders,
    meanings: ComparesMeaning,
) -> float | None:
    evaluator = document["evaluator"]
    if evaluator["type"] == BY_MEANING:
        try:
            return scores_of(document, [(local, truth)], meanings)[0]
        except NoSimilarityError as error:
            # No failure is evidence: there is no pair.
            logger.warning("nothing compares answers", run_id=run.id, reason=str(error))
            return None
    if evaluator["type"] != "custom":
        return score_of(document, local, truth)
    if read_output(local, document["outputSchema"]) is None:
        return 0.0  # as with the others: what cannot be read agrees with nothing
    asked = GradedCompletion(
        id=run.id,
        task_id=run.task_id,
        prompt=local_question(document, run.input).user,
        response=unfenced(local),
        metadata={"reference": unfenced(truth)},
    )
    return graders.score(caller_of(run), evaluator["graderId"], asked)


def missed_fields(document: Mapping[str, Any], local: str, truth: str) -> list[int]:
    """Return the places of fields that differ, of those that ``structured_match`` compares."""
    evaluator = document["evaluator"]
    if evaluator["type"] != "structured_match":
        return []
    match = StructuredMatch(evaluator["matchFields"], document["outputSchema"])
    scores = match.evaluate(local, truth).fields.values()  # in the order of the fields
    return [place for place, score in enumerate(scores) if score < 1]


def scores_of(
    document: Mapping[str, Any], answers: Sequence[tuple[str, str]], meanings: ComparesMeaning
) -> list[float | None]:
    """Return how far answers agree with true ones, whatever the evaluator, unless it is a grader.

    Args:
        answers: each with the true one.
        meanings: asked where the evaluator compares meanings.

    Raises:
        NoSimilarityError: it has no answer.
    """
    evaluator = document["evaluator"]
    if evaluator["type"] != BY_MEANING:
        return [score_of(document, local, truth) for local, truth in answers]
    scores: list[float | None] = [None] * len(answers)
    asked: dict[int, tuple[str, str]] = {}
    for place, (local, truth) in enumerate(answers):
        left, right = (read_output(text, document["outputSchema"]) for text in (local, truth))
        if right is None:
            continue  # there is nothing to compare with
        if left is None:
            scores[place] = 0.0
        elif equal_json(left, right):
            scores[place] = 1.0
        else:
            asked[place] = (text_of(left), text_of(right))
    found = meanings.cosines(evaluator["embeddingModel"], list(asked.values())) if asked else []
    for place, score in zip(asked, found, strict=True):
        scores[place] = score
    return scores


def score_of(document: Mapping[str, Any], local: str, truth: str) -> float | None:
    """Return how far two answers agree, from 0 to 1.

    Returns:
        None where the truth is unusable, or the task's evaluator is none of texts alone.
    """
    evaluator = document["evaluator"]
    try:
        if evaluator["type"] == "structured_match":
            match = StructuredMatch(evaluator["matchFields"], document["outputSchema"])
            return match.evaluate(local, truth).score
        if evaluator["type"] == "exact_match":
            return ExactMatch().evaluate(local, truth).score
    except UnusableTruthError:
        return None
    return None
