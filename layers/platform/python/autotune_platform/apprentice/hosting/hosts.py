"""What a hosting is at SageMaker: a model, a configuration, an endpoint, components.

Names are used once and each request may be repeated: what is there already is taken if its tags say
that it is ours, and what is not ours is neither used nor deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.hosting.models import (
    LOADS_WITHIN,
    Hosting,
    HostingError,
    tags_of,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sagemaker_control import SageMakerControl

IN_SERVICE, FAILED = "InService", "Failed"
"""What SageMaker says of an endpoint or a component that answers, and of one that never will."""
VARIANT = "all"
_STARTUP_SECONDS = int(LOADS_WITHIN.total_seconds())
_BASE_MB = 4_096
_ACCELERATED = ("ml.g", "ml.p")
_SPACE_FOR_ADAPTERS = 4
# LMI's own way to vLLM, which since 0.34 has adapters; before, answers were made by another one.
_ON_VLLM = {
    "SERVING_FAIL_FAST": "true",
    "OPTION_ASYNC_MODE": "true",
    "OPTION_ROLLING_BATCH": "disable",
    "OPTION_ENTRYPOINT": "djl_python.lmi_vllm.vllm_async_service",
    # As many as the component has.
    "OPTION_TENSOR_PARALLEL_DEGREE": "1",
    # As long as fits beside the weights: a model's own longest may need more than there is, and
    # then nothing starts (vLLM 0.14, #29431).
    "OPTION_MAX_MODEL_LEN": "auto",
}


class UnhostableError(Exception):
    """A base cannot be hosted as things are, whatever the instance.

    Attributes:
        error: ``refused`` with SageMaker's own words, or ``name_taken``.
    """

    def __init__(self, error: HostingError, said: str = "") -> None:
        super().__init__(said)
        self.error: HostingError = error


@dataclass(frozen=True)
class Found:
    """What SageMaker has under a name.

    Attributes:
        status: as SageMaker says it; None where there is nothing.
        is_ours: whether its tags say so; True where there is nothing.
        copies: those that a component has.
        wanted: as many as SageMaker is to have it have.
        reason: why it failed.
    """

    status: str | None = None
    is_ours: bool = True
    copies: int = 0
    wanted: int = 0
    reason: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it is a component of ours in service, without a copy."""
        return self.status == IN_SERVICE and self.is_ours and not self.copies


@dataclass(frozen=True)
class HostSettings:
    """What all hostings of a deployment have in common.

    Attributes:
        prefix: what each name begins with.
        role_arn: of the role that hosts act as.
        adapter_image: of containers that serve a base with adapters.
    """

    prefix: str
    role_arn: str
    adapter_image: str


@part
class Hosts:
    """Makes, finds and deletes what hostings are at SageMaker."""

    control: SageMakerControl
    settings: HostSettings

    def endpoint(self, hosting: Hosting) -> Found:
        """Return what there is of a hosting's endpoint."""
        named = {"EndpointName": hosting.name}
        return self._found("describe_endpoint", "EndpointStatus", "EndpointArn", hosting, named)

    def component(self, hosting: Hosting) -> Found:
        """Return what there is of its component."""
        named = {"InferenceComponentName": hosting.name}
        return self._found(
            "describe_inference_component",
            "InferenceComponentStatus",
            "InferenceComponentArn",
            hosting,
            named,
        )

    def instance_type(self, hosting: Hosting) -> str | None:
        """Return the type of instances that a base's configuration has; None without one."""
        there = self._described("endpoint_config", "EndpointConfig", hosting)
        found: str | None = there["ProductionVariants"][0].get("InstanceType") if there else None
        return found

    def create_endpoint(self, hosting: Hosting) -> bool | None:
        """Create a base's endpoint, with the model and the instances that it needs.

        Returns:
            Whether SageMaker takes it; None where it refuses the configuration, in which nothing
            changes but the type of the instances.

        Raises:
            HostLimitError: the account may not have so much.
            UnhostableError: SageMaker takes no such model, or its configuration is somebody's.
        """
        tags, do = tags_of(self.settings.prefix, hosting), self.control.do
        said = self.control.refusal("create_model", **self._model(hosting), Tags=tags)
        # Else it was made before. Without it an instance would come, and be paid for, in vain.
        if said is not None and self._described("model", "Model", hosting) is None:
            raise UnhostableError("refused", said)
        named = {"EndpointConfigName": hosting.name}
        is_taken = do(
            "create_endpoint_config",
            **named,
            ProductionVariants=[_instances(hosting)],
            ExecutionRoleArn=self.settings.role_arn,
            EnableNetworkIsolation=True,
            Tags=tags,
        )
        if not is_taken:
            there = self._described("endpoint_config", "EndpointConfig", hosting)
            if there is None:
                return None
            if there["ProductionVariants"][0].get("InstanceType") != hosting.instance_type:
                if not self._is_ours(there["EndpointConfigArn"], hosting):
                    raise UnhostableError("name_taken")
                do("delete_endpoint_config", **named)
                return False
        return do("create_endpoint", EndpointName=hosting.name, **named, Tags=tags)

    def create_component(self, hosting: Hosting) -> bool:
        """Create a base's component, or that of an adapter; return whether SageMaker takes it.

        SageMaker creates none without a copy.

        Raises:
            HostLimitError: the account may not have so much.
        """
        made: dict[str, Any]
        if hosting.base is not None:
            # It has the variant, the resources and the copies of its base, and names none.
            made = {
                "Specification": {
                    "BaseInferenceComponentName": hosting.base,
                    "Container": {"ArtifactUrl": hosting.artifact},
                }
            }
        else:
            made = {
                "VariantName": VARIANT,
                "Specification": self._base(hosting),
                "RuntimeConfig": {"CopyCount": 1},
            }
        return self.control.do(
            "create_inference_component",
            InferenceComponentName=hosting.name,
            EndpointName=hosting.base or hosting.name,
            Tags=tags_of(self.settings.prefix, hosting),
            **made,
        )

    def set_copies(self, hosting: Hosting, copies: int) -> None:
        """Have a base's component have so many copies.

        Raises:
            HostLimitError: the account may not have so much.
        """
        self.control.do(
            "update_inference_component_runtime_config",
            InferenceComponentName=hosting.name,
            DesiredRuntimeConfig={"CopyCount": copies},
        )

    def take_down(self, hosting: Hosting) -> bool:
        """Delete what can be deleted now; return whether nothing of ours is left.

        What is being made or changed cannot be deleted before that is over.
        """
        do = self.control.do
        if not self._is_gone(self.component(hosting)):
            do("delete_inference_component", InferenceComponentName=hosting.name)
            return False
        if hosting.kind == "adapter":
            return True
        if not self._is_gone(self.endpoint(hosting)):
            do("delete_endpoint", EndpointName=hosting.name)
            return False
        is_gone = self._delete_if_ours("endpoint_config", "EndpointConfig", hosting)
        return self._delete_if_ours("model", "Model", hosting) and is_gone

    @staticmethod
    def _is_gone(found: Found) -> bool:
        return found.status is None or not found.is_ours

    def _delete_if_ours(self, operation: str, words: str, hosting: Hosting) -> bool:
        """Return whether nothing of ours is left; what an endpoint uses is refused for a while."""
        described = self._described(operation, words, hosting)
        if described is None or not self._is_ours(described[f"{words}Arn"], hosting):
            return True
        return self.control.do(f"delete_{operation}", **{f"{words}Name": hosting.name})

    def _described(self, operation: str, words: str, hosting: Hosting) -> Mapping[str, Any] | None:
        return self.control.find(f"describe_{operation}", **{f"{words}Name": hosting.name})

    def _found(
        self,
        operation: str,
        status: str,
        arn: str,
        hosting: Hosting,
        named: Mapping[str, str],
    ) -> Found:
        described = self.control.find(operation, **named)
        if described is None:
            return Found()
        copies = described.get("RuntimeConfig", {})
        present = copies.get("CurrentCopyCount", 0)
        return Found(
            status=described[status],
            is_ours=self._is_ours(described[arn], hosting),
            copies=present,
            wanted=copies.get("DesiredCopyCount", present),
            reason=described.get("FailureReason", ""),
        )

    def _is_ours(self, arn: str, hosting: Hosting) -> bool:
        answer = self.control.find("list_tags", ResourceArn=arn) or {}
        wanted = tags_of(self.settings.prefix, hosting)
        return all(tag in answer.get("Tags", []) for tag in wanted)

    def _model(self, hosting: Hosting) -> dict[str, Any]:
        source = {
            "S3Uri": hosting.artifact,
            "S3DataType": "S3Prefix",
            "CompressionType": "None",
        }
        return {
            "ModelName": hosting.name,
            "ExecutionRoleArn": self.settings.role_arn,
            "PrimaryContainer": {
                "Image": self.settings.adapter_image,
                "ModelDataSource": {"S3DataSource": source},
                "Environment": environment_of(hosting),
            },
            "EnableNetworkIsolation": True,
        }

    def _base(self, hosting: Hosting) -> dict[str, Any]:
        needed: dict[str, Any] = {"MinMemoryRequiredInMb": _BASE_MB}
        if (hosting.instance_type or "").startswith(_ACCELERATED):
            needed["NumberOfAcceleratorDevicesRequired"] = 1
        return {
            "ModelName": hosting.name,
            "ComputeResourceRequirements": needed,
            "StartupParameters": {
                "ContainerStartupHealthCheckTimeoutInSeconds": _STARTUP_SECONDS,
                "ModelDataDownloadTimeoutInSeconds": _STARTUP_SECONDS,
            },
        }


def environment_of(hosting: Hosting) -> dict[str, str]:
    """Return the variables that LMI serves a base with adapters by."""
    return {
        **_ON_VLLM,
        "HF_MODEL_ID": "/opt/ml/model",
        # By which an answer of the base says so.
        "OPTION_SERVED_MODEL_NAME": hosting.name,
        "OPTION_ENABLE_LORA": "true",
        "OPTION_MAX_LORAS": str(_SPACE_FOR_ADAPTERS),
        "OPTION_MAX_LORA_RANK": str(hosting.rank),
    }


def _instances(hosting: Hosting) -> dict[str, Any]:
    """Return a variant whose instances go with the copies of its components, all of them too."""
    return {
        "VariantName": VARIANT,
        "InstanceType": hosting.instance_type,
        "InitialInstanceCount": 1,
        "ContainerStartupHealthCheckTimeoutInSeconds": _STARTUP_SECONDS,
        "ManagedInstanceScaling": {
            "Status": "ENABLED",
            "MinInstanceCount": 0,
            "MaxInstanceCount": 1,
        },
        "RoutingConfig": {"RoutingStrategy": "LEAST_OUTSTANDING_REQUESTS"},
    }
