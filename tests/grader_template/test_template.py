"""What a grader owner copies: its tests, its stack, and what goes into the function."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = Path(__file__).parents[2] / "grader_template"

Resources = dict[str, dict[str, Any]]


def synthesize(folder: Path, output: Path, **context: str) -> dict[str, Any]:
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(output),
        "CDK_VALIDATION": "false",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
        # The installation is left out: it has tests of its own below.
        "CDK_CONTEXT_JSON": json.dumps({"aws:cdk:bundling-stacks": [], **context}),
    }
    command = [sys.executable, "app.py"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    stack = context.get("stackName", "AutotuneGrader")
    return json.loads((output / f"{stack}.template.json").read_text(encoding="utf-8"))


def of_type(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    resources: Resources = template["Resources"]
    return [one["Properties"] for one in resources.values() if one["Type"] == kind]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return synthesize(TEMPLATE, tmp_path_factory.mktemp("cdk.out"))


def test_the_function_is_arm64_python_with_the_graders_handler(template: dict[str, Any]) -> None:
    [function] = of_type(template, "AWS::Lambda::Function")
    assert function["Architectures"] == ["arm64"]
    assert function["Runtime"] == "python3.13"
    assert function["Handler"] == "grader.lambda_handler"
    assert function["Timeout"] == 60
    assert "ReservedConcurrentExecutions" not in function


def test_the_secret_is_a_parameter_that_is_shown_nowhere(template: dict[str, Any]) -> None:
    parameter = template["Parameters"]["GraderSecret"]
    assert parameter["NoEcho"] is True
    assert parameter["Default"] == ""
    [function] = of_type(template, "AWS::Lambda::Function")
    assert function["Environment"]["Variables"] == {
        "AUTOTUNE_GRADER_SECRET": {"Ref": "GraderSecret"}
    }
    assert set(template["Outputs"]) == {"GraderUrl"}


def test_the_url_is_open_because_the_grader_verifies(template: dict[str, Any]) -> None:
    [url] = of_type(template, "AWS::Lambda::Url")
    assert url["AuthType"] == "NONE"
    permissions = of_type(template, "AWS::Lambda::Permission")
    allowed = {permission["Action"]: permission for permission in permissions}
    assert allowed["lambda:InvokeFunctionUrl"]["FunctionUrlAuthType"] == "NONE"
    assert allowed["lambda:InvokeFunction"]["InvokedViaFunctionUrl"] is True


def test_the_function_may_write_its_log_and_nothing_else(template: dict[str, Any]) -> None:
    [role] = of_type(template, "AWS::IAM::Role")
    assert len(role["ManagedPolicyArns"]) == 1
    assert "AWSLambdaBasicExecutionRole" in json.dumps(role["ManagedPolicyArns"])
    assert of_type(template, "AWS::IAM::Policy") == []
    [log] = of_type(template, "AWS::Logs::LogGroup")
    assert log["RetentionInDays"] == 30


def test_the_number_of_instances_can_be_bounded_and_the_stack_named(tmp_path: Path) -> None:
    template = synthesize(TEMPLATE, tmp_path, maxInstances="5", stackName="Mine")
    [function] = of_type(template, "AWS::Lambda::Function")
    assert function["ReservedConcurrentExecutions"] == 5


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the template as an owner does, away from the repository."""
    ignore = shutil.ignore_patterns("__pycache__", ".pytest_cache", "cdk.out")
    return Path(shutil.copytree(TEMPLATE, tmp_path / "my-grader", ignore=ignore))


def test_a_copys_own_tests_pass(copy: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 passed" in done.stdout


BUNDLE = """
import sys
from pathlib import Path
from deployment.bundling import UvBundling
UvBundling(Path.cwd(), python_version="3.13", target=sys.argv[1]).try_bundle(sys.argv[2], None)
"""

FAKE_UV = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
with open("{log}", "a") as log:
    requirements = [pathlib.Path(arguments[-1]).read_text()] if "-r" in arguments else []
    log.write(json.dumps([arguments, requirements]) + "\\n")
if "build" in arguments:
    folder = pathlib.Path(arguments[arguments.index("--out-dir") + 1])
    folder.mkdir(parents=True)
    (folder / "autotune_sdk-9-py3-none-any.whl").touch()
elif "--target" in arguments:
    folder = pathlib.Path(arguments[arguments.index("--target") + 1])
    (folder / "bin").mkdir()
    (folder / "installed").touch()
sys.exit({exit_code})
"""


@pytest.fixture
def bundle(copy: Path, tmp_path: Path) -> Any:
    """Bundle the copy with a uv that writes down what it was asked."""

    def run(target: str, exit_code: int = 0) -> Any:
        log, output, tools = tmp_path / "uv.log", tmp_path / "asset", tmp_path / "tools"
        tools.mkdir()
        output.mkdir()
        uv = tools / "uv"
        uv.write_text(FAKE_UV.format(python=sys.executable, log=log, exit_code=exit_code))
        uv.chmod(0o755)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        command = [sys.executable, "-c", BUNDLE, target, str(output)]
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        calls = [json.loads(line) for line in log.read_text().splitlines()]
        return done, calls, sorted(path.name for path in output.iterdir())

    return run


def test_the_function_gets_the_grader_and_its_requirements_and_no_more(
    copy: Path, bundle: Any
) -> None:
    (copy / "requirements.txt").write_text("./autotune_sdk-0.1.0-py3-none-any.whl\nnumpy>=2\n")
    (copy / "autotune_sdk-0.1.0-py3-none-any.whl").touch()
    (copy / "prompts.json").write_text("{}")
    (copy / ".env").write_text("SECRET=1")
    done, [[install, [requirements]]], names = bundle("aws")
    assert done.returncode == 0, done.stderr
    assert names == ["grader.py", "installed", "prompts.json"]
    assert requirements == (copy / "requirements.txt").read_text()
    flags = " ".join(install)
    assert "--python-platform aarch64-manylinux_2_28 --python-version 3.13" in flags
    assert "--only-binary :all:" in flags


def test_a_requirement_that_is_a_folder_is_built_first(copy: Path, bundle: Any) -> None:
    sdk = copy.parent / "layers" / "sdk"
    sdk.mkdir(parents=True)
    (sdk / "pyproject.toml").touch()
    done, [[build, _], [_, [requirements]]], _ = bundle("aws")
    assert done.returncode == 0, done.stderr
    assert build[-1].endswith("../layers/sdk")
    assert "../layers/sdk" not in requirements
    assert "autotune_sdk-9-py3-none-any.whl" in requirements


def test_the_local_target_installs_for_this_interpreter(bundle: Any) -> None:
    _, calls, _ = bundle("local")
    install = calls[-1][0]
    assert install[install.index("--python") + 1] == sys.executable
    assert "--python-platform" not in install


def test_a_failed_installation_stops_the_deployment(bundle: Any) -> None:
    done, _, _ = bundle("aws", exit_code=3)
    assert done.returncode != 0
    assert "RuntimeError: uv pip failed" in done.stderr
