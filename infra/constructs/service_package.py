"""The code asset and the layers that all functions share."""

from dataclasses import replace

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.config import REPOSITORY_ROOT, BuildPlatform
from infra.constructs.bundling import dependencies_code, function_code, layer_code
from infra.constructs.service_function import FunctionPackage

LAYERS = REPOSITORY_ROOT / "layers"
# What the server uses of the public package: clients, grader SDK and command line stay out.
SDK_FILES = ("autotune/__init__.py", "autotune/py.typed", "autotune/protocol")
FUNCTION_FILES = ("console", "functions")
"""Handlers, and the pages that one of them serves."""
LIBRARY_SETTINGS = {
    "POWERTOOLS_LOG_LEVEL": "INFO",
    # There are none, and a cold import would look through all packages for them.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}
"""What libraries read of every function's environment."""


class ServicePackage(Construct):
    """Third-party wheels, domain logic and protocol as layers; handlers as code.

    They change at different rates, so most deployments upload kilobytes. MiniStack unpacks every
    layer for each worker that it starts, and its workers run under this project's own Python: there
    the layer of third-party wheels, 1,200 files, would be unpacked for nothing.

    Attributes:
        shared: For nearly every function.
        for_exports: The same with a layer of 63 MB, for functions that write files of records.
        for_numbers: The same with a layer of 51 MB, for functions that compute with numpy.
        for_similarity: The same with a layer of 69 MB, for the function that embeds texts.
        for_oidc: The same with a layer of 15 MB, for the function that checks ID tokens; without
            it where nobody signs in so.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        platform: BuildPlatform,
        has_oidc: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        layers = {
            "Platform": layer_code(
                root=LAYERS / "platform" / "python",
                packages=("autotune_platform",),
                platform=platform,
            ),
            "Sdk": layer_code(
                root=LAYERS / "sdk" / "python", packages=SDK_FILES, platform=platform
            ),
        }
        if not platform.has_dependencies:
            # First, so that our own packages come before those of third parties.
            requirements = LAYERS / "dependencies" / "requirements.txt"
            layers = {
                "Dependencies": dependencies_code(requirements=requirements, platform=platform),
                **layers,
            }
        self.shared = FunctionPackage(
            code=function_code(
                self,
                "Functions",
                root=REPOSITORY_ROOT,
                packages=FUNCTION_FILES,
                platform=platform,
            ),
            layers=[self._layer(name, code) for name, code in layers.items()],
            environment=dict(LIBRARY_SETTINGS),
        )
        self.for_exports = self._with("exports", platform)
        self.for_numbers = self._with("numbers", platform)
        self.for_similarity = self._with("similarity", platform)
        self.for_oidc = self._with("oidc", platform) if has_oidc else self.shared

    def _with(self, folder: str, platform: BuildPlatform) -> FunctionPackage:
        """What all functions share, and a layer more where third-party wheels are not there."""
        if platform.has_dependencies:
            return self.shared
        requirements = LAYERS / folder / "requirements.txt"
        code = dependencies_code(requirements=requirements, platform=platform)
        layer = self._layer(folder.capitalize(), code)
        return replace(self.shared, layers=[layer, *self.shared.layers])

    def _layer(self, name: str, code: lambda_.Code) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            name,
            code=code,
            description=f"Autotune: {name.lower()}",
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            compatible_architectures=[lambda_.Architecture.ARM_64],
        )
