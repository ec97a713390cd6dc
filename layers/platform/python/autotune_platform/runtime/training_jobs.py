"""Training jobs of SageMaker: created, described and stopped by their names.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html
"""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from autotune_platform.runtime import clients
from autotune_platform.runtime.sagemaker_words import shown

# SageMaker's model has a ResourceNotFound for what is not there; what it says is the other.
_NOT_THERE = frozenset({"ValidationException", "ResourceNotFound"})
_REFUSALS = frozenset(
    {"ResourceInUse", "ResourceLimitExceeded", "CapacityError", "ValidationException"}
)


class JobRefusedError(Exception):
    """SageMaker does not create a job.

    Attributes:
        code: SageMaker's own, such as ``ResourceInUse``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(shown(message))
        self.code = code


class SageMakerJobs:
    """Jobs, by this process's client of SageMaker."""

    def create(self, request: Mapping[str, Any]) -> None:
        """Create a job.

        Raises:
            JobRefusedError: SageMaker does not.
            botocore.exceptions.ClientError: it is busy; the job may be there all the same.
        """
        try:
            clients.sagemaker().create_training_job(**request)
        except ClientError as error:
            said = error.response["Error"]
            if said.get("Code") not in _REFUSALS:
                raise
            raise JobRefusedError(said["Code"], said.get("Message", "")) from error

    def find(self, name: str) -> Mapping[str, Any] | None:
        """Return a job as SageMaker describes it; None where there is none of that name."""
        try:
            found: Mapping[str, Any] = clients.sagemaker().describe_training_job(
                TrainingJobName=name
            )
        except ClientError as error:
            if error.response["Error"].get("Code") in _NOT_THERE:
                return None
            raise
        return found

    def stop(self, name: str) -> None:
        """Have a job stopped; one that has ended, or that is not there, stays so."""
        try:
            clients.sagemaker().stop_training_job(TrainingJobName=name)
        except ClientError as error:
            if error.response["Error"].get("Code") not in _NOT_THERE:
                raise
