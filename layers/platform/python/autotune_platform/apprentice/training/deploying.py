"""The step before a model of a job is judged: SageMaker hosts it, as callers will have it."""

from typing import Final, NamedTuple

from autotune_platform.apprentice.hosting.models import Wanted, WantedBase
from autotune_platform.apprentice.hosting.service import Hostings
from autotune_platform.apprentice.students.files import artifact_key, base_folder
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.models import HostedModel
from autotune_platform.apprentice.training.progress import Begun, TrainingProgress, Under
from autotune_platform.runtime.parts import part

WAIT_S: Final = 30
"""A host is there, or given up, within an hour: that is a hundred looks."""


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

        A model that is discarded afterwards is taken down by the sweep of hostings, a day later.

        Raises:
            UnavailableError: a store is busy.
        """
        begun = self.progress.begin(under, "deploy")
        waits = begun is not None and self._waits(begun)
        is_over = self.endings.is_over(under)
        return Deployed(is_over, WAIT_S if waits and not is_over else None)

    def _waits(self, begun: Begun) -> bool:
        training = begun.training
        hosting = self.hostings.want(self._wanted(begun))
        if hosting.state in {"deleting", "gone"}:
            self.progress.fail(training, "not_hosted", reason=hosting.error)
        elif hosting.state == "creating":
            self.progress.go_on(training, "deploy")
            return True
        else:
            served = hosting.served
            hosted = HostedModel(
                name=served.model, endpoint=served.endpoint, component=served.component
            )
            self.progress.go_on(training, "validate", hosted=hosted)
        return False

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
                instance_type=settings["instanceTypes"][0],
                rank=settings["lora"]["r"],
            ),
        )

    def _uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"
