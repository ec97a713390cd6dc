"""Models and endpoints' configurations: records that nothing runs for."""

from collections.abc import Mapping
from typing import Any

from local.sagemaker import contract
from local.sagemaker.errors import exists, not_found, not_here, validation
from local.sagemaker.hosts import container_of
from local.sagemaker.listing import Listing
from local.sagemaker.records import Record, Records, arn_of, now
from local.sagemaker.roles import Roles

MODEL = "model"
CONFIG = "endpoint-config"
_CONFIG_WORDS = "endpoint configuration"
_MODELS = Listing(operation="ListModels", name="ModelName")
_CONFIGS = Listing(operation="ListEndpointConfigs", name="EndpointConfigName")
_MISSING = (
    "AsyncInferenceConfig",
    "DataCaptureConfig",
    "ExplainerConfig",
    "ShadowProductionVariants",
)
_MISSING_OF_VARIANTS = (
    "AcceleratorType",
    "CapacityReservationConfig",
    "CoreDumpConfig",
    "InstancePools",
)
_GIBIBYTE = 1024


class Models:
    """Models and configurations."""

    def __init__(self, records: Records, roles: Roles) -> None:
        self._records = records
        self._roles = roles

    def create_model(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``CreateModel``."""
        if "PrimaryContainer" in asked and "Containers" in asked:
            raise validation("Only one of PrimaryContainer and Containers may be given.")
        container_of(asked)
        self._roles.check(asked.get("ExecutionRoleArn"))
        arn = self._add(MODEL, "ModelName", asked, {"EnableNetworkIsolation": False})
        return {"ModelArn": arn}

    def describe_model(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DescribeModel``."""
        return contract.described("DescribeModel", self._get(MODEL, asked["ModelName"]))

    def list_models(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``ListModels``."""
        return _MODELS.page(self._records.all_of(MODEL), asked)

    def delete_model(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DeleteModel``; what it is hosted by stays."""
        self._get(MODEL, asked["ModelName"])
        self._records.remove(MODEL, asked["ModelName"])
        return {}

    def create_config(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``CreateEndpointConfig``."""
        for name in _MISSING:
            if name in asked:
                raise not_here(name)
        variants = asked["ProductionVariants"]
        names = [variant["VariantName"] for variant in variants]
        if len({*names}) != len(names):
            raise validation("ProductionVariants must not name a variant twice.")
        for variant in variants:
            self._check_variant(variant, asked)
        kept = [{"InitialVariantWeight": 1.0, **variant} for variant in variants]
        arn = self._add(CONFIG, "EndpointConfigName", {**asked, "ProductionVariants": kept}, {})
        return {"EndpointConfigArn": arn}

    def describe_config(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DescribeEndpointConfig``."""
        record = self._get(CONFIG, asked["EndpointConfigName"])
        return contract.described("DescribeEndpointConfig", record)

    def list_configs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``ListEndpointConfigs``."""
        return _CONFIGS.page(self._records.all_of(CONFIG), asked)

    def delete_config(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DeleteEndpointConfig``; endpoints that were made by it stay."""
        self._get(CONFIG, asked["EndpointConfigName"])
        self._records.remove(CONFIG, asked["EndpointConfigName"])
        return {}

    def _check_variant(self, variant: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
        for name in _MISSING_OF_VARIANTS:
            if name in variant:
                raise not_here(f"{name} of variants")
        name = variant["VariantName"]
        serverless = variant.get("ServerlessConfig")
        if "ModelName" in variant:
            self._get(MODEL, variant["ModelName"])
            if "ManagedInstanceScaling" in variant:
                raise validation(
                    "ManagedInstanceScaling is only supported for inference component endpoints."
                )
        elif "ExecutionRoleArn" not in asked:
            raise validation(
                "ExecutionRoleArn is required for variants without a ModelName, which are those of"
                " inference components."
            )
        if serverless is not None:
            if "InstanceType" in variant or "ModelName" not in variant:
                raise validation(
                    f"Variant {name} has a ServerlessConfig: it needs a ModelName and no instances."
                )
            if serverless["MemorySizeInMB"] % _GIBIBYTE:
                raise validation(
                    "MemorySizeInMB must be one of 1024, 2048, 3072, 4096, 5120, 6144."
                )
        elif "InstanceType" not in variant or "InitialInstanceCount" not in variant:
            raise validation(f"Variant {name} needs InstanceType and InitialInstanceCount.")

    def _add(
        self, kind: str, name: str, asked: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> str:
        arn, moment = arn_of(kind, asked[name]), now()
        record = {
            **defaults,
            **{member: value for member, value in asked.items() if member != "Tags"},
            f"{name.removesuffix('Name')}Arn": arn,
            "CreationTime": moment,
            "LastModifiedTime": moment,
            "_arn": arn,
            "_tags": asked.get("Tags", []),
        }
        if not self._records.add(kind, asked[name], record):
            raise exists(_words(kind), arn)
        return arn

    def _get(self, kind: str, name: str) -> Record:
        record = self._records.get(kind, name)
        if record is None:
            raise not_found(_words(kind), arn_of(kind, name))
        return record


def _words(kind: str) -> str:
    return _CONFIG_WORDS if kind == CONFIG else kind
