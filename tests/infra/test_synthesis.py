import json
import os
import re
import subprocess
import sys

import pytest
from aws_cdk import Stack, Validations
from aws_cdk import aws_s3 as s3

from infra.application import build_app
from infra.config import (
    REPOSITORY_ROOT,
    DeploymentConfig,
    InvalidFunctionsError,
    Target,
    UnknownTargetError,
)
from infra.spend_alarms import InvalidAlarmError

_SYNTHESIS = """
import sys
from pathlib import Path
from tests.infra.conftest import synthesize_into
synthesize_into("aws", Path(sys.argv[1]))
"""


def test_two_syntheses_give_the_same_templates(tmp_path):
    """Each in a process of its own, as deployments are.

    The CDK numbers what it makes throughout a process, and the order of some outputs hangs on that:
    two syntheses of one process were seen to differ.
    """
    folders = [tmp_path / "one", tmp_path / "other"]
    environment = {**os.environ, "PYTHONHASHSEED": "random"}
    command = [sys.executable, "-c", _SYNTHESIS]
    for running in [
        subprocess.Popen([*command, str(folder)], env=environment, cwd=REPOSITORY_ROOT)
        for folder in folders
    ]:
        assert running.wait(timeout=300) == 0
    first, second = (
        {path.name: path.read_bytes() for path in folder.glob("*.template.json")}
        for folder in folders
    )
    assert first.keys() == second.keys()
    assert len(first) > 10
    for name, template in first.items():
        assert second[name] == template, name


def test_synthesis_looks_nothing_up(aws):
    manifest = json.loads((aws.assembly / "manifest.json").read_text())
    assert not manifest.get("missing")


def test_targets_differ_only_where_they_are_meant_to(aws, local):
    def kinds(synthesized):
        return {
            (stack, logical_id): resource["Type"]
            for stack, template in synthesized.templates.items()
            for logical_id, resource in template["Resources"].items()
            # A layer version is named after its content, which is another on each platform.
            if resource["Type"] != "AWS::Lambda::LayerVersion"
        }

    assert kinds(aws) == kinds(local)


def test_cdk_nag_has_no_finding_on_aws(aws):
    report = json.loads((aws.assembly / "validation-report.json").read_text())
    assert report["pluginReports"] == []


def test_a_finding_of_cdk_nag_stops_synthesis(tmp_path):
    app = build_app(context={"aws:cdk:bundling-stacks": []}, outdir=tmp_path)
    stack = Stack(app, "careless")
    s3.Bucket(stack, "Open")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    [nag] = json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
    assert {each["ruleName"] for each in nag["violations"]} == {
        "AwsSolutions-S1",
        "AwsSolutions-S10",
    }


def test_every_acknowledgement_gives_its_reason(aws):
    key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY
    reasons = {
        (construct.node.path, rule): reason
        for construct in aws.app.node.find_all()
        for entry in construct.node.metadata
        if entry.type == key
        for rule, reason in entry.data.items()
    }
    assert reasons
    for where, reason in reasons.items():
        assert len(reason.split()) >= 12, where


def test_an_unknown_target_is_refused():
    with pytest.raises(UnknownTargetError, match="'moon', expected one of aws, local"):
        build_app(context={"target": "moon"})


def test_the_target_is_aws_unless_told_otherwise():
    config = DeploymentConfig.create(target=None, environment={})
    assert config.target is Target.AWS
    assert config.region == "us-east-1"


def test_the_region_of_the_cdk_command_line_wins():
    environment = {"CDK_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "us-west-2"}
    assert DeploymentConfig.create(target="aws", environment=environment).region == "eu-west-1"


@pytest.mark.parametrize(
    ("target", "told", "expected"),
    [
        ("aws", None, 170),
        ("aws", "50", 50),
        ("aws", 0, 0),
        ("aws", "none", None),
        ("local", "50", 16),
    ],
)
def test_operators_say_how_many_requests_for_rewards_wait_at_once(target, told, expected):
    config = DeploymentConfig.create(target=target, environment={}, waiting_functions=told)
    assert config.waiting_functions == expected


@pytest.mark.parametrize("told", ["many", "-1", "1.5", "", True])
def test_what_is_no_number_of_waiting_functions_is_told(told):
    with pytest.raises(InvalidFunctionsError, match="a number such as 170, or none"):
        DeploymentConfig.create(target="aws", environment={}, waiting_functions=told)


def test_the_context_says_how_many_wait_and_how_many_grade(synthesize, tmp_path):
    none = {"waiting-functions": "none", "grading-functions": "none"}
    functions = synthesize("aws", tmp_path, **none).functions().values()
    assert not [each for each in functions if "ReservedConcurrentExecutions" in each]


def test_what_grades_is_reserved_on_aws_and_not_on_one_machine():
    create = DeploymentConfig.create
    assert create(target="aws", environment={}).grading_functions == 320
    assert create(target="aws", environment={}, grading_functions="20").grading_functions == 20
    assert create(target="local", environment={}).grading_functions is None
    assert create(target="local", environment={}, grading_functions="10").grading_functions == 10
    with pytest.raises(InvalidFunctionsError, match="grading-functions is 'many'"):
        create(target="aws", environment={}, grading_functions="many")


def test_what_takes_long_has_a_bound_where_anything_has():
    create = DeploymentConfig.create
    assert create(target="aws", environment={}).slow_functions == 20
    assert create(target="aws", environment={}, slow_functions="5").slow_functions == 5
    assert create(target="aws", environment={}, slow_functions="none").slow_functions is None
    assert create(target="aws", environment={}, grading_functions="none").slow_functions is None
    assert create(target="local", environment={}).slow_functions is None


def test_what_asks_models_has_functions_of_its_own_where_anything_has():
    create = DeploymentConfig.create
    assert create(target="aws", environment={}).model_functions == 40
    assert create(target="aws", environment={}, model_functions="8").model_functions == 8
    assert create(target="aws", environment={}, model_functions="none").model_functions is None
    assert create(target="aws", environment={}, grading_functions="none").model_functions is None
    assert create(target="local", environment={}).model_functions is None
    assert create(target="aws", environment={}).chat_functions == 20
    assert create(target="aws", environment={}, chat_functions="8").chat_functions == 8
    assert create(target="aws", environment={}, grading_functions="none").chat_functions is None
    assert create(target="local", environment={}).chat_functions is None
    assert create(target="aws", environment={}).waiting_runs == 30
    assert create(target="aws", environment={}, waiting_runs="8").waiting_runs == 8
    assert create(target="aws", environment={}, grading_functions="none").waiting_runs is None
    assert create(target="local", environment={}).waiting_runs is None


def test_what_a_day_may_cost_before_a_person_is_called_is_of_the_deployment():
    create = DeploymentConfig.create
    for target in ("aws", "local"):
        usual = create(target=target, environment={})
        assert (usual.training_alarm_usd, usual.hosting_alarm_usd) == (100, 100)
    other = create(target="aws", environment={}, training_alarm_usd="none", hosting_alarm_usd=2_500)
    assert (other.training_alarm_usd, other.hosting_alarm_usd) == (None, 2_500)


@pytest.mark.parametrize("given", ["", "0", "-1", "1.5", "many", "10000000", True])
def test_a_sum_that_is_none_is_refused(given):
    expected = f"hosting-alarm-usd is {given!r}, expected US dollars a day such as 100, or none"
    with pytest.raises(InvalidAlarmError, match=re.escape(expected)):
        DeploymentConfig.create(target="aws", environment={}, hosting_alarm_usd=given)


@pytest.fixture(scope="module")
def told(synthesize, tmp_path_factory):
    """An app whose context says how many ask models and how many runs are waited for."""
    context = {
        "model-functions": "12",
        "waiting-runs": "13",
        "training-alarm-usd": "none",
        "hosting-alarm-usd": "7",
    }
    return synthesize("aws", tmp_path_factory.mktemp("told"), **context)


def test_the_context_says_how_many_ask_models(told):
    work = told.functions()["WorkLlmBatch"]
    assert work["ReservedConcurrentExecutions"] == 12
    assert work["Environment"]["Variables"]["MODEL_FUNCTIONS"] == "12"


def test_the_context_says_how_many_runs_are_waited_for(told):
    variables = told.functions()["ApprenticeRunsApi"]["Environment"]["Variables"]
    assert variables["WAITING_RUNS"] == "13"


def test_the_context_says_what_a_day_may_cost(told):
    thresholds = {
        each["Properties"]["MetricName"]: each["Properties"]["Threshold"]
        for each in told.service.find_resources("AWS::CloudWatch::Alarm").values()
    }
    assert thresholds["HostingNanoUsd"] == 7_000_000_000
    assert "TrainingNanoUsd" not in thresholds
