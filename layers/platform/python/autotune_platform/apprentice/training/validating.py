"""The third step: what the student answers to examples that it never saw."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import islice
from typing import Any, Final, NamedTuple

from aws_lambda_powertools import Logger

from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingComparison,
    ApprenticeTrainingGate,
    ApprenticeTrainingObjection,
    ApprenticeTrainingTest,
)
from autotune.protocol.compact_json import compact
from autotune_platform.apprentice.examples.data_sets import DataSets
from autotune_platform.apprentice.examples.manifests import Row, TamperedDataSetError
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.local.contract import LocalClients
from autotune_platform.apprentice.runs.outputs import read_output
from autotune_platform.apprentice.runs.scoring import ComparesMeaning, scores_of
from autotune_platform.apprentice.similarity.asking import MOST_PAIRS, NoSimilarityError
from autotune_platform.apprentice.standing import Standings
from autotune_platform.apprentice.students.artifacts import from_bytes
from autotune_platform.apprentice.students.errors import BadArtifactError
from autotune_platform.apprentice.students.files import ModelFiles, TamperedArtifactError
from autotune_platform.apprentice.training.answering import (
    LEFT_SECONDS,
    MOST_ASKED,
    TOGETHER,
    Answered,
    Answers,
    hosted_answers,
    linear_answers,
)
from autotune_platform.apprentice.training.bars import bar_of
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.freezing import attempt_of
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.progress import Begun, TrainingProgress, Under
from autotune_platform.apprentice.validation.judging import (
    Bar,
    HeldOutAnswer,
    Judgement,
    Objection,
    judge,
)
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part

logger = Logger()

_SAID: Final[Mapping[Objection, ApprenticeTrainingObjection]] = {
    Objection.TOO_FEW: "too_few_examples",
    Objection.AGREEMENT: "agreement",
    Objection.WORSE: "worse_than_before",
    Objection.INVALID: "invalid_outputs",
    Objection.SLOW: "too_slow",
}
_MOST_EVIDENCE = 1e12
"""What speaks for a model may be more than a float holds; nobody needs more than this."""


@part
class ValidateStep:
    """Judges a student: a linear one in this process, another one where it is hosted."""

    progress: TrainingProgress
    endings: TrainingEndings
    data_sets: DataSets
    files: ModelFiles
    standings: Standings
    clients: LocalClients
    hostings: HostingRepository
    meanings: ComparesMeaning

    def run(self, under: Under, *, seconds_left: Callable[[], float]) -> bool:
        """Judge, and return whether the execution is over.

        A hosted model that is slow is judged by as many rows as there is time for: the first ones
        in the order of their ids, whatever they are about.

        Raises:
            UnavailableError: a store is busy, a hosted model does not answer, or nothing compares
                answers.
        """
        begun = self.progress.start(under, "validate")
        if begun is not None:
            try:
                self._judge(begun, seconds_left)
            except (BadArtifactError, TamperedArtifactError):
                self.progress.fail(begun.training, "artifact_refused")
            except TamperedDataSetError:
                self.progress.fail(begun.training, "data_refused")
            except NoSimilarityError as error:
                if not error.is_gone:
                    raise UnavailableError(
                        f"nothing compares answers: {error}", retry_after_seconds=5
                    ) from error
                self.progress.fail(begun.training, "embeddings_missing")
        return self.endings.is_over(under)

    def _judge(self, begun: Begun, seconds_left: Callable[[], float]) -> None:
        training, document = begun.training, begun.configuration.document
        assert training.model is not None
        assert training.manifest is not None
        student = self._answers(training, document)
        number, before = self._serving(begun)
        attempt = attempt_of(training, self.progress.trainings.all_of(training.task_id))
        bar = bar_of(document, attempt=attempt)
        rows = self.data_sets.rows(training.manifest, "holdout")
        ask = _asking(student, before)
        models = [one for one in (student, before) if one is not None]
        if not any(one.is_hosted for one in models):
            answers = list(self._scored(map(ask, rows), document))
        else:

            def in_time(row: Row) -> "_Given | None":
                return ask(row) if seconds_left() > LEFT_SECONDS else None

            # In the order of ids, which are no part of what is asked.
            with ThreadPoolExecutor(TOGETHER) as threads:
                some = threads.map(in_time, islice(rows, MOST_ASKED))
                asked = (one for one in some if one is not None)
                answers = list(self._scored(asked, document))
        for one in models:
            one.settle()
        found = judge(answers, bar, student.candidates)
        test = _on_wire(found, bar, attempt, number)
        if found.has_passed:
            self.progress.go_on(training, "host", test=test)
        else:
            self.progress.discard(training, *(_SAID[one] for one in found.objections), test=test)

    def _scored(
        self, given: "Iterable[_Given]", document: Mapping[str, Any]
    ) -> Iterator[HeldOutAnswer]:
        """Yield what was answered with its scores, some dozens of which are had at once."""
        waiting = iter(given)
        while some := list(islice(waiting, MOST_PAIRS // 2)):
            texts = [
                (text, one.truth)
                for one in some
                for text in (one.answered.text, one.before)
                if text is not None
            ]
            scores = iter(scores_of(document, texts, self.meanings))
            for one in some:
                text = one.answered.text
                # No answer is one that nobody can read: who has it asked pays the other model.
                score = 0.0 if text is None else next(scores)
                before = None if one.before is None else next(scores)
                if score is None:
                    continue  # nothing can be compared with this truth, and no run is a pair of it
                yield HeldOutAnswer(
                    group=one.row.group,
                    propensity=one.row.propensity or 1.0,
                    score=score,
                    before=before,
                    is_valid=text is not None
                    and read_output(text, document["outputSchema"]) is not None,
                    milliseconds=one.answered.milliseconds,
                    confidence=one.answered.confidence,
                )

    def _answers(self, training: Training, document: Mapping[str, Any]) -> Answers:
        model, hosted = training.model, training.hosted
        assert model is not None
        if hosted is not None:
            return hosted_answers(self.clients, document, hosted.served(training.task_id))
        return self._linear(training.task_id, model.name, model.sha256)

    def _linear(self, task_id: str, name: str, sha256: str) -> Answers:
        return linear_answers(from_bytes(self.files.get(task_id, name, sha256=sha256)))

    def _serving(self, begun: Begun) -> tuple[int | None, Answers | None]:
        """Return the version that serves now, where it can be asked as the new one is.

        One whose files are gone, or that nothing hosts any more, is compared with nobody: else no
        model could ever take its place.
        """
        standing = self.standings.read(begun.task.organization_id, begun.task.name)
        number = standing.derived.serving
        if number is None:
            return None, None
        served, document = standing.served[number], begun.configuration.document
        backend = standing.versions[number].known.backend
        if backend == "linear" and served.digest is not None:
            try:
                return number, self._linear(begun.task.id, served.model, served.digest)
            except (BadArtifactError, TamperedArtifactError):
                logger.warning(
                    "the version that serves is lost", task_id=begun.task.id, version=number
                )
        elif backend == "sagemaker":
            hosting = self.hostings.find(begun.task.id, served.model)
            if hosting is not None and hosting.may_answer:
                return number, hosted_answers(self.clients, document, served)
            logger.warning("nothing hosts what serves", task_id=begun.task.id, version=number)
        return None, None


class _Given(NamedTuple):
    """What was answered to a row.

    Attributes:
        truth: what is right.
        before: what the version that serves answers; None where there is none, or no answer, which
            leaves the row out of the comparison.
    """

    row: Row
    truth: str
    answered: Answered
    before: str | None


def _asking(student: Answers, before: Answers | None) -> Callable[[Row], _Given]:
    """Return what asks about a row; threads may share it where the models are hosted."""

    def ask(row: Row) -> _Given:
        return _Given(
            row=row,
            truth=compact(row.output),
            answered=student.answer(row.input),
            before=None if before is None else before.answer(row.input).text,
        )

    return ask


def _on_wire(
    found: Judgement, bar: Bar, attempt: int, number: int | None
) -> ApprenticeTrainingTest:
    agreement, compared = found.agreement, found.comparison
    comparison = None
    if compared is not None and number is not None:
        comparison = ApprenticeTrainingComparison(
            version=number,
            groups=compared.inputs,
            mean_difference=compared.mean,
            differing=compared.differing,
            margin=compared.margin,
            is_no_worse=compared.is_no_worse,
            power=compared.power,
            groups_for_power=compared.inputs_for_power,
        )
    gate = None
    if found.gate is not None:
        gate = ApprenticeTrainingGate.model_validate(asdict(found.gate))
    return ApprenticeTrainingTest(
        attempt=attempt,
        examples=found.examples,
        groups=found.groups,
        fewest_groups=found.fewest_groups,
        threshold=bar.rules.graduation,
        mean=None if agreement is None else agreement.mean,
        bound=None if agreement is None else agreement.bound,
        evidence=(
            None
            if agreement is None
            else math.exp(min(agreement.log_wealth, math.log(_MOST_EVIDENCE)))
        ),
        evidence_needed=bar.level,
        valid=found.valid,
        slow_ms=found.slow_ms,
        comparison=comparison,
        is_gated=bar.is_gated,
        gate=gate,
    )
