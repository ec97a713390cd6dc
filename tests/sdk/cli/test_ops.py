import io
import json
import zipfile

import boto3
import pytest
from moto import mock_aws
from moto.awslambda_simple.models import lambda_simple_backends

from autotune.cli import exit_codes
from autotune.protocol.access import OrganizationLimits

ACCOUNT, REGION = "123456789012", "eu-central-1"
FUNCTION = "autotune-CreateOrganization-1"
CREATED = {
    "organization": {
        "id": "org_1",
        "name": "Acme",
        "status": "active",
        "createdAt": "2026-11-21T00:00:00Z",
    },
    "key": {
        "id": "key_1",
        "organizationId": "org_1",
        "name": "admin",
        "role": "admin",
        "principalId": "key_1",
        "status": "active",
        "createdAt": "2026-11-21T00:00:00Z",
        "createdBy": None,
        "expiresAt": None,
        "lastUsedAt": None,
    },
    "apiKey": "key_1.cafe",
}


@pytest.fixture
def api():
    """No API: operators call functions."""


@pytest.fixture
def aws(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws(config={"lambda": {"use_docker": False}}):
        yield


def deploy(outputs, *answers):
    boto3.client("cloudformation").create_stack(
        StackName="autotune",
        TemplateBody=json.dumps(
            {
                "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
                "Outputs": {name: {"Value": value} for name, value in outputs.items()},
            }
        ),
    )
    if not answers:
        return
    role = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as code:
        code.writestr("f.py", "")
    boto3.client("lambda").create_function(
        FunctionName=FUNCTION,
        Runtime="python3.13",
        Role=role["Role"]["Arn"],
        Handler="f.f",
        Code={"ZipFile": archive.getvalue()},
    )
    lambda_simple_backends[ACCOUNT][REGION].lambda_simple_results_queue.extend(answers)


def test_an_organisation_is_created_and_its_key_shown(aws, run):
    deploy({"CreateOrganizationFunctionName": FUNCTION}, json.dumps(CREATED))
    ran = run("ops", "create-organization", "Acme")
    assert ran.exit_code == 0
    assert ran.stdout == "organizationId   org_1\napiKey           key_1.cafe\n"
    assert "shown this once" in ran.stderr


def test_json_has_everything(aws, run):
    deploy({"CreateOrganizationFunctionName": FUNCTION}, json.dumps(CREATED))
    [shown] = run("ops", "create-organization", "Acme", "--json").json_lines
    limits = shown["organization"].pop("limits")
    assert shown["organization"].pop("deletedItems") is None
    assert shown == CREATED
    assert limits == OrganizationLimits().model_dump(by_alias=True)


def test_an_answer_that_is_none_is_told(aws, run):
    deploy({"CreateOrganizationFunctionName": FUNCTION}, '{"errorMessage": "no"}')
    ran = run("ops", "create-organization", "Acme")
    assert ran.exit_code == exit_codes.UNAVAILABLE
    assert "did not answer with an organisation" in ran.stderr


def test_a_missing_stack_or_output_is_exit_status_4(aws, run):
    ran = run("ops", "create-organization", "Acme", "--stack", "other")
    assert (ran.exit_code, "no stack other" in ran.stderr) == (exit_codes.NOT_FOUND, True)
    deploy({"Something": "else"})
    ran = run("ops", "create-organization", "Acme")
    assert ran.exit_code == exit_codes.NOT_FOUND
    assert "CreateOrganizationFunctionName" in ran.stderr


def test_missing_credentials_and_region_are_told(run, monkeypatch, tmp_path):
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    ran = run("ops", "create-organization", "Acme")
    assert (ran.exit_code, "--region" in ran.stderr) == (exit_codes.USAGE, True)
    ran = run("ops", "create-organization", "Acme", "--region", REGION)
    assert (ran.exit_code, "credentials" in ran.stderr) == (exit_codes.DENIED, True)


def test_an_unreachable_aws_is_exit_status_5(run, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    ran = run("ops", "create-organization", "Acme", "--region", REGION)
    assert ran.exit_code == exit_codes.UNAVAILABLE
    assert "127.0.0.1:9" in ran.stderr


ORGANIZATION = {
    "id": "org_1",
    "name": "Acme",
    "status": "suspended",
    "createdAt": "2026-11-21T00:00:00Z",
}


def test_organisations_are_listed(aws, run):
    page = {"organizations": [ORGANIZATION], "nextAfter": None}
    deploy({"ManageOrganizationsFunctionName": FUNCTION}, json.dumps(page))
    assert run("ops", "organizations").stdout == "org_1  suspended  2026-11-21  Acme\n"


@pytest.mark.parametrize("action", ["suspend", "resume"])
def test_an_organisation_is_suspended_and_taken_up_again(aws, run, action):
    answer = json.dumps({"organization": ORGANIZATION})
    deploy({"ManageOrganizationsFunctionName": FUNCTION}, answer)
    ran = run("ops", f"{action}-organization", "org_1", "--json")
    [shown] = ran.json_lines
    assert {name: shown[name] for name in ORGANIZATION} == ORGANIZATION


def test_an_organisation_is_deleted_in_steps(aws, run, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    steps = [{"status": "deleting", "deletedItems": 7}, {"status": "deleted", "name": ""}]
    answers = [json.dumps({"organization": {**ORGANIZATION, **each}}) for each in steps]
    deploy({"DeleteOrganizationFunctionName": FUNCTION}, *answers)
    ran = run("ops", "delete-organization", "org_1", "--name", "Acme", "--json")
    assert ran.json_lines[0]["status"] == "deleted"
    assert "deleted so far: 7" in ran.stderr


def test_limits_of_an_organisation_are_set_and_shown(aws, run):
    limits = OrganizationLimits(tasks=3).model_dump(by_alias=True)
    answer = json.dumps({"organization": {**ORGANIZATION, "limits": limits}})
    deploy({"ManageOrganizationsFunctionName": FUNCTION}, answer)
    ran = run("ops", "limit-organization", "org_1", "tasks=3", "keys=default", "--json")
    assert ran.json_lines == [limits]


def test_limits_of_requests_to_language_models_are_set_and_lifted(aws, run):
    limits = OrganizationLimits(connections=5).model_dump(by_alias=True)
    answer = json.dumps({"organization": {**ORGANIZATION, "limits": limits}})
    deploy({"ManageOrganizationsFunctionName": FUNCTION}, answer)
    ran = run("ops", "limit-organization", "org_1", "connections=5", "openLlmRows=default")
    shown = dict(line.split(None, 1) for line in ran.stdout.splitlines())
    assert (shown["connections"], shown["openLlmRows"]) == ("5", "1000000")


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("requests=3", "names no limit; there are requestsPerSecond, "),
        ("tasks", "expected tasks= and a number, or tasks=default"),
        ("tasks=-1", "expected tasks= and a number"),
    ],
)
def test_a_limit_that_is_none_is_refused_before_anything_is_asked(aws, run, limit, said):
    ran = run("ops", "limit-organization", "org_1", limit)
    assert ran.exit_code == exit_codes.USAGE
    assert said in " ".join(ran.stderr.split())


def test_an_answer_that_is_no_organisation_is_named(aws, run):
    deploy({"ManageOrganizationsFunctionName": FUNCTION}, "{}")
    ran = run("ops", "suspend-organization", "org_1")
    assert ran.exit_code == exit_codes.UNAVAILABLE
    assert "did not answer as expected" in ran.stderr
