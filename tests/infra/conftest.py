"""One synthesis a target for all infrastructure tests, without building assets."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

# Read when the CDK's Node process starts, so before the first import of aws_cdk.
os.environ.setdefault("CDK_VALIDATION", "false")
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

from aws_cdk import App, NestedStack
from aws_cdk.assertions import Template

from infra.application import DATA_STACK_NAME, SERVICE_STACK_NAME, build_app
from infra.config import REPOSITORY_ROOT, DeploymentConfig
from infra.constructs.bundling import DependencyBundling, SourceBundling
from infra.constructs.service_package import FUNCTION_FILES, LAYERS, SDK_FILES
from tests.support.flattening import flattened

STACK_NAMES = (DATA_STACK_NAME, SERVICE_STACK_NAME)
# What the Lambda runtime brings along, and with it the layer need not.
RUNTIME_PACKAGES = ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six.py", "urllib3")
WITHOUT_BUNDLING = {"aws:cdk:bundling-stacks": []}


@dataclass(frozen=True)
class Synthesized:
    """One synthesized app."""

    app: App
    assembly: Path

    @cached_property
    def templates(self) -> dict[str, dict[str, Any]]:
        """The template of each stack: of the data, of the service, of each domain."""
        service = self.app.node.find_child(SERVICE_STACK_NAME)
        return {
            **{name: self._read(f"{name}.template.json") for name in STACK_NAMES},
            **{
                each.node.id: self._read(each.template_file)
                for each in service.node.children
                if isinstance(each, NestedStack)
            },
        }

    @cached_property
    def data(self) -> Template:
        """The stack of what is kept."""
        return Template.from_json(self.templates[DATA_STACK_NAME])

    @cached_property
    def service_template(self) -> dict[str, Any]:
        """The template of the service, with what is in the stacks of all domains."""
        domains = dict(self.templates)
        del domains[DATA_STACK_NAME]
        return flattened(domains.pop(SERVICE_STACK_NAME), domains)

    @cached_property
    def service(self) -> Template:
        """The stack of the service, with what is in the stacks of all domains."""
        return Template.from_json(self.service_template)

    def functions(self) -> dict[str, dict[str, Any]]:
        """Properties of each function, by the construct id that the contract names."""
        found = self.service.find_resources("AWS::Lambda::Function")
        return {
            each["Properties"]["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]: {
                **each["Properties"],
                "logicalId": logical_id,
            }
            for logical_id, each in found.items()
        }

    def handlers_with_layer(self, name: str) -> set[str]:
        """Modules of the handlers whose functions have a layer, by its construct id."""
        return {
            function["Handler"].removesuffix(".lambda_handler")
            for function in self.functions().values()
            if any(name in json.dumps(layer) for layer in function["Layers"])
        }

    def function_name(self, reference: dict[str, list[str]]) -> str:
        """Construct id of the function that ``Fn::GetAtt`` refers to."""
        by_logical_id = {each["logicalId"]: name for name, each in self.functions().items()}
        return by_logical_id[reference["Fn::GetAtt"][0]]

    def _read(self, file: str) -> dict[str, Any]:
        template: dict[str, Any] = json.loads((self.assembly / file).read_text())
        return template


def synthesize_into(target: str, outdir: Path, **context: str) -> Synthesized:
    app = build_app(context={**WITHOUT_BUNDLING, "target": target, **context}, outdir=outdir)
    app.synth()
    return Synthesized(app, outdir)


@pytest.fixture(scope="session", autouse=True)
def fixed_region() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_DEFAULT_REGION", "eu-west-1")
        yield


@pytest.fixture(scope="session")
def synthesize(fixed_region: None) -> Callable[..., Synthesized]:
    """Synthesizes for a target into a folder; most tests share ``aws`` and ``local`` instead."""
    return synthesize_into


@pytest.fixture(scope="session")
def aws(fixed_region: None, tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return synthesize_into("aws", tmp_path_factory.mktemp("aws"))


@pytest.fixture(scope="session")
def local(fixed_region: None, tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return synthesize_into("local", tmp_path_factory.mktemp("local"))


@pytest.fixture(scope="session")
def deployed_paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders on a function's import path, as Lambda has them, and nothing of this venv."""
    here = DeploymentConfig.create(target="local", environment={}).build_platform
    root = tmp_path_factory.mktemp("deployed")
    runtime = root / "runtime"
    runtime.mkdir()
    import boto3

    site_packages = REPOSITORY_ROOT.joinpath(boto3.__file__).parent.parent
    for name in RUNTIME_PACKAGES:
        (runtime / name).symlink_to(site_packages / name)
    layers = [
        DependencyBundling(
            requirements=LAYERS / "dependencies" / "requirements.txt", platform=here
        ),
        SourceBundling(
            root=LAYERS / "platform" / "python",
            packages=("autotune_platform",),
            destination="python",
            mount="/opt",
            platform=here,
        ),
        SourceBundling(
            root=LAYERS / "sdk" / "python",
            packages=SDK_FILES,
            destination="python",
            mount="/opt",
            platform=here,
        ),
        SourceBundling(
            root=REPOSITORY_ROOT,
            packages=FUNCTION_FILES,
            destination="python",
            mount="/var/task",
            platform=here,
        ),
    ]
    paths = []
    for number, layer in enumerate(layers):
        folder = root / str(number)
        folder.mkdir()
        layer.try_bundle(str(folder))
        paths.append(folder / "python")
    return [*reversed(paths), runtime]


@pytest.fixture(scope="session")
def numpy_paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folder that functions which compute have on their import path besides."""
    here = DeploymentConfig.create(target="local", environment={}).build_platform
    root = tmp_path_factory.mktemp("numbers")
    DependencyBundling(
        requirements=LAYERS / "numbers" / "requirements.txt", platform=here
    ).try_bundle(str(root))
    return [root / "python"]


@pytest.fixture(scope="session")
def similarity_paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folder that the function which embeds texts has on its import path besides."""
    here = DeploymentConfig.create(target="local", environment={}).build_platform
    root = tmp_path_factory.mktemp("similarity")
    DependencyBundling(
        requirements=LAYERS / "similarity" / "requirements.txt", platform=here
    ).try_bundle(str(root))
    return [root / "python"]
