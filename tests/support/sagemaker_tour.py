"""Each operation of SageMaker once, and the errors of most: the same calls for every server."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from tests.support.local_sagemaker import INFERENCE, ROLE, Lab, variant

INSTANCE = "ml.m5.large"  # moto knows only older ones
ADAPTER = "s3://models/tour/adapter.tar.gz"
Answers = dict[str, Any]


class Tour:
    """Calls, with their answers: a dictionary, or the code of an error.

    Args:
        lab: Uploads what is trained and hosted.
        sagemaker: A client of the server.
        runtime: One of its runtime.
        settle: Waits until what was begun is done, and is left out by servers that do all at once.
    """

    def __init__(
        self, lab: Lab, sagemaker: Any, runtime: Any, settle: Callable[[Callable[[], Any]], Any]
    ) -> None:
        self._lab = lab
        self._sagemaker = sagemaker
        self._runtime = runtime
        self._settle = settle
        self.answers: Answers = {}

    def call(self, label: str, operation: str, **request: Any) -> Any:
        client = self._runtime if operation == "invoke_endpoint" else self._sagemaker
        try:
            answer = getattr(client, operation)(**request)
            answer.pop("ResponseMetadata")
            if "Body" in answer:
                answer["Body"] = answer["Body"].read()
        except ClientError as error:
            answer = error.response["Error"]["Code"]
        except (NotImplementedError, KeyError) as error:  # of moto's
            answer = str(error)
        self.answers[label] = answer
        return answer

    def all_of_it(self) -> Answers:
        self.training()
        self.hosting()
        self.components()
        self.taking_down()
        return self.answers

    def training(self) -> None:
        request = self._lab.job(
            "tour",
            ResourceConfig={"InstanceType": INSTANCE, "InstanceCount": 1, "VolumeSizeInGB": 10},
            Tags=[{"Key": "team", "Value": "a"}],
        )
        request["AlgorithmSpecification"]["MetricDefinitions"] = [
            {"Name": "loss", "Regex": "loss=([0-9.]+)"}
        ]
        arn = self.call("CreateTrainingJob", "create_training_job", **request)["TrainingJobArn"]
        self.call("CreateTrainingJob, its name taken", "create_training_job", **request)
        self._settle(
            lambda: (
                self._sagemaker.describe_training_job(TrainingJobName="tour")["TrainingJobStatus"]
                == "Completed"
            )
        )
        self.call("DescribeTrainingJob", "describe_training_job", TrainingJobName="tour")
        self.call("DescribeTrainingJob, missing", "describe_training_job", TrainingJobName="none")
        self.call("ListTrainingJobs", "list_training_jobs")
        self.call("StopTrainingJob, ended", "stop_training_job", TrainingJobName="tour")
        self.call("AddTags", "add_tags", ResourceArn=arn, Tags=[{"Key": "b", "Value": "c"}])
        self.call("DeleteTags", "delete_tags", ResourceArn=arn, TagKeys=["b"])
        self.call("ListTags", "list_tags", ResourceArn=arn)

    def hosting(self) -> None:
        uri = self._lab.archive(
            "tour/model.tar.gz", {"name": "tour", "code/inference.py": INFERENCE}
        )
        model = {
            "ModelName": "tour",
            "ExecutionRoleArn": ROLE,
            "PrimaryContainer": {"Image": "image", "ModelDataUrl": uri},
        }
        self.call("CreateModel", "create_model", **model)
        self.call("CreateModel, its name taken", "create_model", **model)
        self.call("DescribeModel", "describe_model", ModelName="tour")
        self.call("DescribeModel, missing", "describe_model", ModelName="none")
        self.call("ListModels", "list_models")
        config = {
            "EndpointConfigName": "tour",
            "ProductionVariants": [
                variant("tour", InstanceType=INSTANCE, InitialVariantWeight=1.0)
            ],
        }
        self.call("CreateEndpointConfig", "create_endpoint_config", **config)
        self.call("CreateEndpointConfig, its name taken", "create_endpoint_config", **config)
        unknown = {
            "EndpointConfigName": "unknown",
            "ProductionVariants": [variant("none", InstanceType=INSTANCE)],
        }
        self.call("CreateEndpointConfig, no model", "create_endpoint_config", **unknown)
        newest = {
            "EndpointConfigName": "newest",
            "ProductionVariants": [variant("tour", InstanceType="ml.g6.xlarge")],
        }
        self.call("CreateEndpointConfig, ml.g6", "create_endpoint_config", **newest)
        self.call("DescribeEndpointConfig", "describe_endpoint_config", EndpointConfigName="tour")
        self.call(
            "DescribeEndpointConfig, missing", "describe_endpoint_config", EndpointConfigName="none"
        )
        self.call("ListEndpointConfigs", "list_endpoint_configs")
        endpoint = {"EndpointName": "tour", "EndpointConfigName": "tour"}
        self.call("CreateEndpoint", "create_endpoint", **endpoint)
        self.call("CreateEndpoint, its name taken", "create_endpoint", **endpoint)
        self.call(
            "CreateEndpoint, no configuration",
            "create_endpoint",
            EndpointName="unknown",
            EndpointConfigName="none",
        )
        self._in_service("tour")
        self.call("DescribeEndpoint", "describe_endpoint", EndpointName="tour")
        self.call("DescribeEndpoint, missing", "describe_endpoint", EndpointName="none")
        self.call("ListEndpoints", "list_endpoints")
        asked = {"Body": b"1", "ContentType": "application/json"}
        self.call("InvokeEndpoint", "invoke_endpoint", EndpointName="tour", **asked)
        self.call("InvokeEndpoint, missing", "invoke_endpoint", EndpointName="none", **asked)
        self.call("UpdateEndpoint", "update_endpoint", **endpoint)

    def components(self) -> None:
        shared = {
            "EndpointConfigName": "shared",
            "ExecutionRoleArn": ROLE,
            "ProductionVariants": [variant(None, InstanceType=INSTANCE)],
        }
        self.call("CreateEndpointConfig, of components", "create_endpoint_config", **shared)
        self.call(
            "CreateEndpoint, of components",
            "create_endpoint",
            EndpointName="shared",
            EndpointConfigName="shared",
        )
        self._in_service("shared")
        of_this = {"InferenceComponentName": "part"}
        needs = {"MinMemoryRequiredInMb": 128}
        specification = {"ModelName": "tour", "ComputeResourceRequirements": needs}
        self.call(
            "CreateInferenceComponent",
            "create_inference_component",
            **of_this,
            EndpointName="shared",
            VariantName="all",
            Specification=specification,
            RuntimeConfig={"CopyCount": 1},
        )
        self._part_in_service()
        self.call("DescribeInferenceComponent", "describe_inference_component", **of_this)
        self.call("ListInferenceComponents", "list_inference_components")
        self.call(
            "UpdateInferenceComponent",
            "update_inference_component",
            **of_this,
            Specification=specification,
        )
        self._part_in_service()
        self.call(
            "UpdateInferenceComponentRuntimeConfig",
            "update_inference_component_runtime_config",
            **of_this,
            DesiredRuntimeConfig={"CopyCount": 0},
        )
        self._part_in_service()
        self.call("DeleteInferenceComponent", "delete_inference_component", **of_this)

    def taking_down(self) -> None:
        self._in_service("tour")
        self.call("DeleteEndpoint", "delete_endpoint", EndpointName="tour")
        self.call("DeleteEndpoint, missing", "delete_endpoint", EndpointName="none")
        self.call("DeleteEndpointConfig", "delete_endpoint_config", EndpointConfigName="tour")
        self.call(
            "DeleteEndpointConfig, missing", "delete_endpoint_config", EndpointConfigName="none"
        )
        self.call("DeleteModel", "delete_model", ModelName="tour")
        self.call("DeleteModel, missing", "delete_model", ModelName="none")

    def _in_service(self, name: str) -> None:
        describe = self._sagemaker.describe_endpoint
        self._settle(lambda: describe(EndpointName=name)["EndpointStatus"] == "InService")

    def _part_in_service(self) -> None:
        def is_in_service() -> bool:
            describe = self._sagemaker.describe_inference_component
            return (
                describe(InferenceComponentName="part")["InferenceComponentStatus"] == "InService"
            )

        self._settle(is_in_service)
