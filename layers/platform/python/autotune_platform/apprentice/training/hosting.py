"""The last step: a student that passed is a version, in shadow, once it answers as hosted."""

from collections.abc import Sequence
from itertools import islice

from autotune.protocol.limits import MAX_APPRENTICE_VERSIONS
from autotune_platform.apprentice.examples.data_sets import DataSets
from autotune_platform.apprentice.examples.manifests import TamperedDataSetError
from autotune_platform.apprentice.local.contract import LocalClients, ServedModel, Unavailable
from autotune_platform.apprentice.runs.prompting import local_question
from autotune_platform.apprentice.training.certifying import Certifying
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.progress import Begun, TrainingProgress, Under
from autotune_platform.apprentice.versions.models import ModelVersion, VersionGate
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 8
_FIRST_ANSWER_MS = 20_000
"""How long the first answer may take: a function that hosts models starts for it."""
_FIRST_ROWS = 4
"""So many rows are tried: one may be longer than the model reads."""


@part
class HostStep:
    """Makes a version of a trained model."""

    progress: TrainingProgress
    endings: TrainingEndings
    data_sets: DataSets
    versions: VersionRepository
    clients: LocalClients
    certifying: Certifying

    def run(self, under: Under) -> bool:
        """Host, and return whether the execution is over.

        Raises:
            UnavailableError: the model does not answer yet, or others keep changing the task.
        """
        begun = self.progress.begin(under, "host")
        if begun is not None:
            try:
                self._smoke(begun)
            except TamperedDataSetError:
                self.progress.fail(begun.training, "data_refused")
            else:
                self._host(under, begun)
        return self.endings.is_over(under)

    def _smoke(self, begun: Begun) -> None:
        """Require an answer from where callers will have it, to one of the first rows.

        Whether the schema admits it is no matter here: how often it does was judged before, and one
        row of thousands may be among those where it does not.
        """
        document, manifest = begun.configuration.document, begun.training.manifest
        assert manifest is not None
        client = self.clients.client_for(document, _served(begun))
        why = None
        for row in islice(self.data_sets.rows(manifest, "holdout"), _FIRST_ROWS):
            answer = client.ask(local_question(document, row.input), timeout_ms=_FIRST_ANSWER_MS)
            if not isinstance(answer, Unavailable):
                return
            why = answer.reason
        raise UnavailableError(f"the model does not answer: {why}", retry_after_seconds=5)

    def _host(self, under: Under, begun: Begun) -> None:
        training, task = begun.training, begun.task
        made_by = self.progress.trainings.maker_of(training)
        for _ in BUSY.attempts(_ATTEMPTS):
            known = self.versions.all_of(task.id)
            if len(known) >= MAX_APPRENTICE_VERSIONS:
                self.progress.fail(training, "too_many_versions")
                return
            number = _next(known)
            # Before there is a version: none is without one for as long as KMS does not answer.
            certificate = self.certifying.certify(training, number, made_by=made_by)
            version = self.versions.added(task, self._version(begun, number))
            if self.progress.host(training, certificate, *version):
                return
            if self.progress.at(under) is None:
                return  # who did the same had a say
        raise UnavailableError("others are changing this task", retry_after_seconds=1)

    def _version(self, begun: Begun, number: int) -> ModelVersion:
        training, served = begun.training, _served(begun)
        assert training.model is not None
        gate = _gate(training)
        return ModelVersion(
            task_id=training.task_id,
            organization_id=training.organization_id,
            number=number,
            definition_hash=training.definition_hash,
            backend="linear" if training.hosted is None else "sagemaker",
            model=served.model,
            digest=training.model.sha256,
            endpoint=served.endpoint,
            component=served.component,
            gate=gate,
            needs_gate=gate is not None and training.test is not None and training.test.is_gated,
            created_at=self.progress.clock.now(),
            created_by=training.created_by,
        )


def _next(known: Sequence[ModelVersion]) -> int:
    return known[-1].number + 1 if known else 1


def _gate(training: Training) -> VersionGate | None:
    found = None if training.test is None else training.test.gate
    if found is None:
        return None
    names = set(VersionGate.model_fields)
    return VersionGate.model_validate(found.model_dump(include=names))


def _served(begun: Begun) -> ServedModel:
    model, hosted = begun.training.model, begun.training.hosted
    if hosted is not None:
        return hosted.served(begun.task.id)
    assert model is not None
    return ServedModel(model=model.name, digest=model.sha256, backend="linear")
