"""A deployment with an OpenID provider: its context values, and what is deployed for it."""

import json

import pytest

from autotune_platform.access.oidc.claims import _ROLES
from autotune_platform.runtime.environment.access import OidcEnvironment
from autotune_platform.runtime.environment.audit import AuditEnvironment
from infra.config import DeploymentConfig
from infra.constructs.bundling import DependencyBundling
from infra.constructs.service_package import LAYERS
from infra.oidc import NAMES, ROLES, InvalidOidcError
from tests.infra.permissions import LOGS_AND_TRACES, WITH_OIDC
from tests.infra.test_environment import LIBRARIES
from tests.infra.test_service_stack import FUNCTIONS
from tests.infra.test_service_stack import WITH_OIDC as ADDED
from tests.support.permissions import grants_of

SET = {
    "oidc-issuer": "https://id.example.com/realms/ml",
    "oidc-client-id": "autotune",
    "oidc-organization": f"org_{'0' * 26}",
}


@pytest.fixture(scope="module")
def with_provider(synthesize, tmp_path_factory):
    roles = {"oidc-roles": '{"ml-ops": "admin", "labelers": "reviewer"}'}
    return synthesize("aws", tmp_path_factory.mktemp("oidc"), **SET, **roles)


def created(target="aws", **changes):
    values = {**dict.fromkeys(NAMES), **SET, **changes}
    return DeploymentConfig.create(target=target, environment={}, oidc=values).oidc


def test_nothing_is_deployed_without_an_issuer(aws):
    assert DeploymentConfig.create(target="aws", environment={}).oidc is None
    assert not aws.functions().keys() & ADDED.keys()
    described = {
        each["Properties"]["Description"]
        for each in aws.service.find_resources("AWS::Lambda::LayerVersion").values()
    }
    assert "Autotune: oidc" not in described


def test_one_function_is_added_with_a_layer_that_no_other_has(with_provider):
    functions = with_provider.functions()
    assert functions.keys() == FUNCTIONS.keys() | ADDED.keys()
    layers = with_provider.service.find_resources("AWS::Lambda::LayerVersion")
    [layer] = [
        name
        for name, each in layers.items()
        if each["Properties"]["Description"] == "Autotune: oidc"
    ]
    having = {name for name, each in functions.items() if {"Ref": layer} in each["Layers"]}
    assert having == {"OidcApi"}
    module, timeout = ADDED["OidcApi"]
    assert functions["OidcApi"]["Handler"] == f"{module}.lambda_handler"
    assert functions["OidcApi"]["Timeout"] == timeout
    # It waits for somebody else, for whom anybody may have it wait.
    assert functions["OidcApi"]["ReservedConcurrentExecutions"] == 20


def test_it_is_given_what_it_reads_and_may_do_what_is_spelled_out(with_provider):
    variables = with_provider.functions()["OidcApi"]["Environment"]["Variables"]
    given = set(variables) - LIBRARIES - {"SECRETS_KEY_API_KEY"}
    read = {*OidcEnvironment.model_fields, *AuditEnvironment.model_fields} - {"secrets_keys"}
    assert given == {name.upper() for name in read}
    assert variables["OIDC_ISSUER"] == SET["oidc-issuer"]
    assert json.loads(variables["OIDC_ROLES"]) == {"ml-ops": "admin", "labelers": "reviewer"}
    allowed = {
        (grant.action, grant.resource, grant.keys)
        for grant in grants_of(with_provider.service_template)
        if grant.function == "OidcApi"
    }
    assert allowed == WITH_OIDC["OidcApi"] | LOGS_AND_TRACES


def test_its_route_needs_no_key_and_is_throttled_with_those(with_provider):
    [stage] = with_provider.service.find_resources("AWS::ApiGatewayV2::Stage").values()
    assert "ANY /api/v1/sessions/oidc" in stage["Properties"]["RouteSettings"]
    keys = {
        each["Properties"]["RouteKey"]
        for each in with_provider.service.find_resources("AWS::ApiGatewayV2::Route").values()
    }
    assert "GET /api/v1/sessions/oidc" not in keys


def test_cdk_nag_has_no_finding_with_a_provider(with_provider):
    report = json.loads((with_provider.assembly / "validation-report.json").read_text())
    assert report["pluginReports"] == []


def test_values_have_usual_ones_where_they_are_left_out():
    config = created()
    assert (config.role_claim, config.roles, config.session_minutes) == ("roles", {}, 480)
    assert config.scope == "openid email profile"
    chosen = created(
        **{
            "oidc-role-claim": "https://example.com/roles",
            "oidc-roles": {"CN=ops,DC=example": "admin"},
            "oidc-scope": "openid  groups",
            "oidc-session-minutes": "60",
        }
    )
    assert chosen.role_claim == "https://example.com/roles"
    assert chosen.roles == {"CN=ops,DC=example": "admin"}
    assert (chosen.scope, chosen.session_minutes) == ("openid groups", 60)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"oidc-issuer": None}, "oidc-issuer is not set, and oidc-client-id, oidc-organization is"),
        ({"oidc-client-id": None}, "oidc-client-id is not set"),
        ({"oidc-organization": ""}, "oidc-organization is not set"),
        ({"oidc-issuer": "id.example.com"}, "expected a URL that begins with https://"),
        ({"oidc-issuer": "http://id.example.com"}, "expected a URL that begins with https://"),
        ({"oidc-issuer": "http://127.0.0.1:9000"}, "expected a URL that begins with https://"),
        ({"oidc-issuer": "https://id.example.com/?a=b"}, "expected a URL"),
        ({"oidc-issuer": "https://me@id.example.com"}, "expected a URL"),
        ({"oidc-issuer": "https://id.example.com:x"}, "expected a URL"),
        ({"oidc-client-id": "a b"}, "oidc-client-id is 'a b', expected text without spaces"),
        ({"oidc-organization": "org_1"}, "expected the id of an organisation"),
        ({"oidc-role-claim": " "}, "oidc-role-claim is ' ', expected text without spaces"),
        ({"oidc-roles": "admin"}, 'expected a JSON object such as {"my-group": "admin"}'),
        ({"oidc-roles": '{"ops": "owner"}'}, "with roles admin, training_operator"),
        ({"oidc-scope": "email"}, "openid among them"),
        ({"oidc-session-minutes": "4"}, "oidc-session-minutes is '4', expected a number from 5"),
        ({"oidc-session-minutes": 721}, "expected a number from 5 to 720"),
        ({"oidc-session-minutes": "many"}, "expected a number from 5 to 720"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_is_expected(changes, said):
    with pytest.raises(InvalidOidcError) as raised:
        created(**changes)
    assert said in str(raised.value)


def test_an_issuer_on_loopback_may_do_without_tls_on_one_machine_only():
    loopback = "http://127.0.0.1:9000"
    assert created(target="local", **{"oidc-issuer": loopback}).issuer == loopback
    with pytest.raises(InvalidOidcError, match=r"oidc-issuer is 'http://10\.0\.0\.1'"):
        created(target="local", **{"oidc-issuer": "http://10.0.0.1"})


def test_the_roles_are_those_of_the_platform():
    assert ROLES == _ROLES


def test_the_layer_has_what_checks_tokens_and_little_else(tmp_path):
    here = DeploymentConfig.create(target="local", environment={}).build_platform
    bundling = DependencyBundling(requirements=LAYERS / "oidc" / "requirements.txt", platform=here)
    bundling.try_bundle(str(tmp_path))
    held = {path.name for path in (tmp_path / "python").iterdir() if path.is_dir()}
    assert {"jwt", "cryptography", "cffi"} <= held
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 30_000_000
