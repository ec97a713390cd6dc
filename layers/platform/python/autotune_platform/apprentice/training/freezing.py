"""The first step: the examples that there are now become the data of a training."""

from collections.abc import Iterable

from autotune.protocol.apprentice_trainings import ApprenticeTrainingShortage
from autotune_platform.apprentice.examples.data_sets import DataSets
from autotune_platform.apprentice.examples.manifests import (
    Fewest,
    Manifest,
    TamperedDataSetError,
    TooFewExamplesError,
)
from autotune_platform.apprentice.training.bars import bar_of
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.progress import TrainingProgress, Under
from autotune_platform.runtime.parts import part

FEWEST_TO_LEARN = 50
"""With fewer examples to learn from nothing is trained."""


@part
class FreezeStep:
    """Freezes examples."""

    progress: TrainingProgress
    endings: TrainingEndings
    data_sets: DataSets

    def run(self, under: Under) -> bool:
        """Freeze, and return whether the execution is over.

        A hold-out on which no model could pass ends the training before anything is trained.

        Raises:
            UnavailableError: a store is busy.
        """
        begun = self.progress.start(under, "freeze")
        if begun is not None:
            training, document = begun.training, begun.configuration.document
            bar = bar_of(document, attempt=attempt_of(training, self._all(training)))
            fewest = Fewest(train=FEWEST_TO_LEARN, holdout=bar.fewest_groups)
            try:
                manifest = self.data_sets.freeze(begun, training.id, fewest=fewest, worth=bar.worth)
            except TooFewExamplesError as error:
                self.progress.discard(training, "too_few_examples", shortage=_shortage(error))
            except TamperedDataSetError:
                self.progress.fail(training, "data_refused")
            else:
                self._go_on(training, manifest)
        return self.endings.is_over(under)

    def _go_on(self, training: Training, manifest: Manifest) -> None:
        """Have a model trained, or that hosted which another training made.

        That one learned from what was frozen then: it never saw the side that is held out now.
        """
        if training.model_of is None:
            self.progress.go_on(training, "train", manifest=manifest)
            return
        made_by = self.progress.trainings.maker_of(training)
        assert made_by.manifest is not None, "it made a model"
        learned = {"train": made_by.manifest.train, "selections": made_by.manifest.selections}
        self.progress.go_on(training, "deploy", manifest=manifest.model_copy(update=learned))

    def _all(self, training: Training) -> Iterable[Training]:
        return self.progress.trainings.all_of(training.task_id)


def _shortage(error: TooFewExamplesError) -> ApprenticeTrainingShortage:
    return ApprenticeTrainingShortage(
        train=error.found.train,
        train_needed=error.fewest.train,
        holdout=error.found.holdout,
        holdout_needed=error.fewest.holdout,
    )


def attempt_of(training: Training, trainings: Iterable[Training]) -> int:
    """Return the how many-th model a training's is that is judged under its definition, from 1."""
    return 1 + sum(
        one.test is not None
        and one.definition_hash == training.definition_hash
        and one.number < training.number
        for one in trainings
    )
