"""What a hosting is at SageMaker: a model, a configuration, an endpoint, components.

Names are used once and each request may be repeated: what is there already is taken if its tags say
that it is ours, and what is not ours is neither used nor deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.hosting.models import SERVERLESS_MB, Hosting, tags_of
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sagemaker_control import SageMakerControl

VARIANT = "all"
_CONCURRENCY = 20
_STARTUP_SECONDS = 1_200
_BASE_MB = 4_096
_ACCELERATED = ("ml.g", "ml.p")
_SPACE_FOR_ADAPTERS = 4


@dataclass(frozen=True)
class Found:
    """What SageMaker has under a name.

    Attributes:
        status: as SageMaker says it; None where there is nothing.
        is_ours: whether its tags say so; True where there is nothing.
        copies: those that a component has.
        reason: why it failed.
    """

    status: str | None = None
    is_ours: bool = True
    copies: int = 0
    reason: str = ""


@dataclass(frozen=True)
class HostSettings:
    """What all hostings of a deployment have in common.

    Attributes:
        prefix: what each name begins with.
        role_arn: of the role that hosts act as.
        serverless_image: of containers that run a model's own script.
        adapter_image: of containers that serve a base with adapters.
    """

    prefix: str
    role_arn: str
    serverless_image: str
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

    def create_endpoint(self, hosting: Hosting) -> None:
        """Create an endpoint, with the model or the instances that it needs.

        Raises:
            HostLimitError: the account may not have so much.
        """
        tags, do = tags_of(self.settings.prefix, hosting), self.control.do
        config: dict[str, Any] = {"EndpointConfigName": hosting.name, "Tags": tags}
        do("create_model", **self._model(hosting), Tags=tags)
        if hosting.kind == "serverless":
            do("create_endpoint_config", ProductionVariants=[_serverless(hosting)], **config)
        else:
            do(
                "create_endpoint_config",
                ProductionVariants=[_instances(hosting)],
                ExecutionRoleArn=self.settings.role_arn,
                EnableNetworkIsolation=True,
                **config,
            )
        do(
            "create_endpoint",
            EndpointName=hosting.name,
            EndpointConfigName=hosting.name,
            Tags=tags,
        )

    def create_component(self, hosting: Hosting) -> None:
        """Create a base's component, or that of an adapter.

        SageMaker creates none without a copy.

        Raises:
            HostLimitError: the account may not have so much.
        """
        specification: dict[str, Any]
        runtime: dict[str, Any] = {}
        if hosting.base is not None:
            specification = {
                "BaseInferenceComponentName": hosting.base,
                "Container": {"ArtifactUrl": hosting.artifact},
            }
        else:
            runtime = {"RuntimeConfig": {"CopyCount": 1}}
            specification = self._base(hosting)
        self.control.do(
            "create_inference_component",
            InferenceComponentName=hosting.name,
            EndpointName=hosting.base or hosting.name,
            VariantName=VARIANT,
            Specification=specification,
            Tags=tags_of(self.settings.prefix, hosting),
            **runtime,
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
        if hosting.kind != "serverless" and not self._is_gone(self.component(hosting)):
            do("delete_inference_component", InferenceComponentName=hosting.name)
            return False
        if hosting.kind == "adapter":
            return True
        if not self._is_gone(self.endpoint(hosting)):
            do("delete_endpoint", EndpointName=hosting.name)
            return False
        self._delete_if_ours("endpoint_config", "EndpointConfig", hosting)
        self._delete_if_ours("model", "Model", hosting)
        return True

    @staticmethod
    def _is_gone(found: Found) -> bool:
        return found.status is None or not found.is_ours

    def _delete_if_ours(self, operation: str, words: str, hosting: Hosting) -> None:
        named = {f"{words}Name": hosting.name}
        described = self.control.find(f"describe_{operation}", **named)
        if described is not None and self._is_ours(described[f"{words}Arn"], hosting):
            self.control.do(f"delete_{operation}", **named)

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
        return Found(
            status=described[status],
            is_ours=self._is_ours(described[arn], hosting),
            copies=described.get("RuntimeConfig", {}).get("CurrentCopyCount", 0),
            reason=described.get("FailureReason", ""),
        )

    def _is_ours(self, arn: str, hosting: Hosting) -> bool:
        answer = self.control.find("list_tags", ResourceArn=arn) or {}
        wanted = tags_of(self.settings.prefix, hosting)
        return all(tag in answer.get("Tags", []) for tag in wanted)

    def _model(self, hosting: Hosting) -> dict[str, Any]:
        container: dict[str, Any]
        if hosting.kind == "serverless":
            container = {
                "Image": self.settings.serverless_image,
                "ModelDataUrl": hosting.artifact,
                # By which its answers say what they are of.
                "Environment": {"AUTOTUNE_VERSION": hosting.name},
            }
        else:
            container = {
                "Image": self.settings.adapter_image,
                "ModelDataSource": {
                    "S3DataSource": {
                        "S3Uri": hosting.artifact,
                        "S3DataType": "S3Prefix",
                        "CompressionType": "None",
                    }
                },
                "Environment": {
                    "HF_MODEL_ID": "/opt/ml/model",
                    "OPTION_ENABLE_LORA": "true",
                    "OPTION_MAX_LORAS": str(_SPACE_FOR_ADAPTERS),
                    "OPTION_MAX_LORA_RANK": str(hosting.rank),
                },
            }
        return {
            "ModelName": hosting.name,
            "ExecutionRoleArn": self.settings.role_arn,
            "PrimaryContainer": container,
            # Serverless endpoints have none.
            "EnableNetworkIsolation": hosting.kind == "base",
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


def _serverless(hosting: Hosting) -> dict[str, Any]:
    return {
        "VariantName": VARIANT,
        "ModelName": hosting.name,
        "ServerlessConfig": {
            "MemorySizeInMB": hosting.memory_mb or SERVERLESS_MB,
            "MaxConcurrency": _CONCURRENCY,
        },
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
