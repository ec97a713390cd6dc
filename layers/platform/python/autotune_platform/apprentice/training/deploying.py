"""The step before a model of a job is judged: SageMaker hosts it, as callers will have it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from autotune.protocol.apprentice_trainings import ApprenticeTrainingHosting
from autotune_platform.apprentice.configuration.trainable import hosting_types
from autotune_platform.apprentice.hosting.models import Hosting, Wanted, WantedBase
from autotune_platform.apprentice.hosting.service import Hostings
from autotune_platform.apprentice.students.files import artifact_key, base_folder
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.models import HostedModel
from autotune_platform.apprentice.training.progress import Begun, TrainingProgress, Under
from autotune_platform.apprentice.training.unhosted import shown, why_not_hosted
from autotune_platform.apprentice.training.waits import wait_seconds
from autotune_platform.runtime.parts import part


class Deployed(NamedTuple):
    """What a look came to.

    Attributes:
        is_over: whether the execution has nothing left to do.
        seconds: when to look again; None where the step is done.
    """

    is_over: bool
    seconds: int | None


@part
class DeployStep:
    """Has a verified model hosted.

    Attributes:
        bucket: that of the apprentice's files.
    """

    progress: TrainingProgress
    endings: TrainingEndings
    hostings: Hostings
    bucket: str

    def run(self, under: Under) -> Deployed:
        """Look once.

        One whose training ends without a version is taken down by the sweep of hostings.

        Raises:
            UnavailableError: a store is busy.
        """
        begun = self.progress.begin(under, "deploy")
        seconds = None if begun is None else self._look(begun)
        is_over = self.endings.is_over(under)
        return Deployed(is_over, None if is_over else seconds)

    def _look(self, begun: Begun) -> int | None:
        """Do what comes next; return how many seconds later to look again, if it waits."""
        training, now = begun.training, self.progress.clock.now()
        hosting = self.hostings.want(self._wanted(begun))
        base = self.hostings.base_of(hosting)
        found: dict[str, Any] = {"hosting": _shown(training.hosting, base)}
        if hosting.state in {"deleting", "gone"}:
            error, reason = why_not_hosted(hosting, base)
            self.progress.fail(training, error, reason=reason, **found)
        elif hosting.state == "creating":
            self.progress.go_on(training, "deploy", **found)
            # With its own age: a training may be days old by now.
            return wait_seconds((now - hosting.since).total_seconds())
        else:
            served = hosting.served
            found["hosted"] = HostedModel(
                name=served.model, endpoint=served.endpoint, component=served.component
            )
            self.progress.go_on(training, "validate", **found)
        return None

    def _wanted(self, begun: Begun) -> Wanted:
        training, document = begun.training, begun.configuration.document
        assert training.model is not None
        settings = document["training"]
        return Wanted(
            task_id=training.task_id,
            model=training.model.name,
            artifact=self._uri(artifact_key(training.task_id, training.model.name, packed=True)),
            idle_minutes=document["local"]["idleMinutes"],
            base=WantedBase(
                artifact=self._uri(base_folder(settings["baseModel"])),
                instance_types=self._types(begun),
                rank=training.model.rank or settings["lora"]["r"],
                sha256=training.model.base_sha256,
            ),
            since=training.created_at,
            training=training.number,
        )

    def _types(self, begun: Begun) -> tuple[str, ...]:
        """Return types of instances as the task has them now: others are put while one waits."""
        present, task = begun.configuration, begun.task
        if task.version != present.version:
            present = self.progress.tasks.configuration(task.id, task.version) or present
        found: Mapping[str, Any] = present.document
        return hosting_types(found) or hosting_types(begun.configuration.document)

    def _uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def _shown(
    known: ApprenticeTrainingHosting | None, base: Hosting | None
) -> ApprenticeTrainingHosting | None:
    """Return what is shown of a base; of one that is gone what was known of it."""
    return known if base is None else shown(base)
