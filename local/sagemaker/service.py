"""The operations by name, over one folder."""

import shutil
from collections.abc import Callable, Mapping
from typing import Any

from local.sagemaker import contract
from local.sagemaker.components import Components
from local.sagemaker.endpoints import Endpoints
from local.sagemaker.errors import ServiceError, validation
from local.sagemaker.faults import Faults, Kind
from local.sagemaker.invocations import OPERATION, Invocations, Invoked
from local.sagemaker.models import Models
from local.sagemaker.objects import Objects
from local.sagemaker.records import Records
from local.sagemaker.roles import roles_of_environment
from local.sagemaker.settings import Settings
from local.sagemaker.tags import Tags
from local.sagemaker.training import TrainingJobs

_NAMES = (
    "InferenceComponentName",
    "EndpointName",
    "EndpointConfigName",
    "TrainingJobName",
    "ModelName",
    "ResourceArn",
)


class LostAnswerError(Exception):
    """The operation is done, and nobody is to hear of it: a planted fault."""


class SageMaker:
    """SageMaker of one account in one region.

    Args:
        settings: Its folder, and how jobs and hosts are run.
    """

    def __init__(self, settings: Settings) -> None:
        shutil.rmtree(settings.scratch, ignore_errors=True)
        self.faults = Faults(settings.directory)
        records, objects = Records(settings.directory), Objects(roles_of_environment())
        self._jobs = jobs = TrainingJobs(
            records=records, faults=self.faults, objects=objects, settings=settings
        )
        self._endpoints = endpoints = Endpoints(
            records=records, faults=self.faults, objects=objects, settings=settings
        )
        self._components = components = Components(
            records=records,
            faults=self.faults,
            objects=objects,
            settings=settings,
            endpoints=endpoints,
        )
        self._invocations = Invocations(
            faults=self.faults, endpoints=endpoints, components=components
        )
        models, tags = Models(records, objects.roles), Tags(records)
        self.operations: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "AddTags": tags.add,
            "CreateEndpoint": endpoints.create,
            "CreateEndpointConfig": models.create_config,
            "CreateInferenceComponent": components.create,
            "CreateModel": models.create_model,
            "CreateTrainingJob": jobs.create,
            "DeleteEndpoint": endpoints.delete,
            "DeleteEndpointConfig": models.delete_config,
            "DeleteInferenceComponent": components.delete,
            "DeleteModel": models.delete_model,
            "DeleteTags": tags.remove,
            "DescribeEndpoint": endpoints.describe,
            "DescribeEndpointConfig": models.describe_config,
            "DescribeInferenceComponent": components.describe,
            "DescribeModel": models.describe_model,
            "DescribeTrainingJob": jobs.describe,
            "ListEndpointConfigs": models.list_configs,
            "ListEndpoints": endpoints.list,
            "ListInferenceComponents": components.list,
            "ListModels": models.list_models,
            "ListTags": tags.list,
            "ListTrainingJobs": jobs.list,
            "StopTrainingJob": jobs.stop,
            "UpdateEndpoint": endpoints.update,
            "UpdateInferenceComponent": components.update,
            "UpdateInferenceComponentRuntimeConfig": components.update_copies,
        }
        jobs.end_those_of_before()
        endpoints.serve_those_of_before()
        components.serve_those_of_before()

    def call(self, operation: str, body: bytes) -> bytes:
        """Do an operation and return the body of its answer.

        Raises:
            ServiceError: It is refused.
            LostAnswerError: It is done, and the caller is not to know.
        """
        known = self.operations.get(operation)
        if known is None:
            raise ServiceError("UnknownOperationException", f"{operation} is not here")
        asked = contract.request_of(operation, body)
        name = next((str(asked[member]) for member in _NAMES if member in asked), "")
        self._throttle(operation, name)
        self._refuse(operation, name, asked)
        answer = contract.answer_of(operation, known(asked))
        if self.faults.take(operation, name, Kind.LOST_ANSWER):
            raise LostAnswerError
        return answer

    def invoke(self, endpoint: str, headers: Mapping[str, str], body: bytes) -> Invoked:
        """Have a host answer.

        Raises:
            ServiceError: None does.
            LostAnswerError: The host answered, and the caller is not to know.
        """
        self._throttle(OPERATION, endpoint)
        answer = self._invocations.invoke(endpoint, headers, body)
        if self.faults.take(OPERATION, endpoint, Kind.LOST_ANSWER):
            raise LostAnswerError
        return answer

    def close(self) -> None:
        """End all jobs and hosts."""
        self._jobs.close()
        self._components.close()
        self._endpoints.close()

    def _refuse(self, operation: str, name: str, asked: Mapping[str, Any]) -> None:
        if self.faults.take(operation, name, Kind.REFUSED):
            variants = asked.get("ProductionVariants", [{}])
            instance = variants[0].get("InstanceType", "of this request")
            raise validation(
                f"Instance type {instance} is not supported for the chosen region. Please choose"
                " some other instance type."
            )

    def _throttle(self, operation: str, name: str) -> None:
        if self.faults.take(operation, name, Kind.THROTTLING):
            raise ServiceError("ThrottlingException", "Rate exceeded")
