"""Sessions of owners' roles: what they may do, and that the guide's template grants all of it."""

import json
import re
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from autotune.protocol.llm_bedrock import BedrockSettings
from autotune_platform.ledger.bedrock_access import BedrockAccess
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.runtime.clock import Clock
from infra.stacks.ledger import BEDROCK_ROLES
from tests.unit.ledger.asking import connection

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "language-models.md"
MADE_AT = datetime(2026, 11, 1, tzinfo=UTC)
ACCOUNT = "arn:aws-us-gov:iam::123456789012:role/"
LONGEST = BedrockSettings(
    region="us-gov-west-1",
    role_arn=f"{ACCOUNT}autotune-bedrock{'r' * 48}",
    batch_role_arn=f"{ACCOUNT}{'b' * 500}",
    bucket="b" * 63,
    prefix=f"{'p' * 199}/",
)
SMALL = BedrockSettings(
    region="eu-west-1", role_arn="arn:aws:iam::123456789012:role/autotune-bedrock"
)


class Sts:
    """Gives sessions of an hour to those who know the external id."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.now = datetime(2026, 11, 24, tzinfo=UTC)

    def assume_role(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        if asked.get("ExternalId") != "org_1":
            answer = {"Error": {"Code": "AccessDenied", "Message": "m"}}
            raise ClientError(answer, "AssumeRole")  # type: ignore[arg-type]
        number = len(self.asked)
        return {
            "Credentials": {
                "AccessKeyId": f"ASIA{number}",
                "SecretAccessKey": "s",
                "SessionToken": "t",
                "Expiration": self.now + timedelta(hours=1),
            }
        }


class StsClock(Clock):
    """The same time as the token service's."""

    def __init__(self, sts: Sts) -> None:
        self._sts = sts

    def now(self) -> datetime:
        return self._sts.now


def signed(
    sessions: RoleSessions,
    settings: BedrockSettings,
    *,
    changed_at: datetime = MADE_AT,
    **changes: Any,
) -> Any:
    access = BedrockAccess(**{**settings.model_dump(), "external_id": "org_1", **changes})
    to_bedrock = connection("bedrock", bedrock=access, id="llc_1", updated_at=changed_at)
    url = "https://bedrock.eu-west-1.amazonaws.com/model-invocation-jobs"
    return sessions.signed(to_bedrock, "bedrock", "GET", url, {}, b"")


def policy_of(settings: BedrockSettings) -> str:
    sts = Sts()
    assert not isinstance(signed(RoleSessions(sts=sts), settings), Refusal)
    policy: str = sts.asked[-1]["Policy"]
    return policy


def test_a_session_is_used_until_shortly_before_its_end() -> None:
    sts = Sts()
    sessions = RoleSessions(sts=sts, clock=StsClock(sts))
    keys = []
    for minutes in (0, 54, 2, 1):
        sts.now += timedelta(minutes=minutes)
        authorization = signed(sessions, SMALL)["Authorization"]
        keys.append(re.search(r"ASIA\d", authorization)[0])  # type: ignore[index]
    assert keys == ["ASIA3", "ASIA3", "ASIA6", "ASIA6"]


def test_a_connection_that_was_changed_gets_a_session_of_its_own() -> None:
    sts = Sts()
    sessions = RoleSessions(sts=sts, clock=StsClock(sts))
    later = MADE_AT + timedelta(seconds=1)
    found = [signed(sessions, SMALL, changed_at=at)["Authorization"] for at in (MADE_AT, later)]
    assert ["ASIA3" in found[0], "ASIA6" in found[1]] == [True, True]


def test_a_role_of_another_organisation_signs_nothing() -> None:
    refused = signed(RoleSessions(sts=Sts()), SMALL, external_id="org_2")
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.may_be_paid) == ("account", False)


def test_a_session_without_batch_jobs_may_ask_models_and_nothing_else() -> None:
    (statement,) = json.loads(policy_of(SMALL))["Statement"]
    assert statement["Action"] == ["bedrock:InvokeModel"]


def test_a_session_passes_on_one_role_and_reaches_one_prefix() -> None:
    statements = json.loads(policy_of(LONGEST))["Statement"]
    reached = {action: one["Resource"] for one in statements for action in one["Action"]}
    assert reached["iam:PassRole"] == LONGEST.batch_role_arn
    for verb in ("Get", "Put", "Delete"):
        objects = f"arn:aws-us-gov:s3:::{LONGEST.bucket}/{LONGEST.prefix}*"
        assert reached[f"s3:{verb}Object"] == objects


def test_the_longest_policy_is_within_what_sts_takes() -> None:
    assert len(policy_of(LONGEST)) <= 2_048


def test_the_guides_template_grants_what_a_session_asks_for() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)
    role = yaml.safe_load(text)["Resources"]["Role"]["Properties"]
    granted = set()
    for statement in role["Policies"][0]["PolicyDocument"]["Statement"]:
        actions = statement["Action"]
        granted |= set([actions] if isinstance(actions, str) else actions)
    asked = {
        action
        for one in json.loads(policy_of(LONGEST))["Statement"]
        for action in one["Action"]
        if not action.startswith("kms:")
    }
    assert granted == asked
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"] == {"StringEquals": {"sts:ExternalId": {"Ref": "ExternalId"}}}
    assert fnmatchcase(role["RoleName"], BEDROCK_ROLES)
    BedrockSettings(
        region="us-east-1", role_arn=f"arn:aws:iam::123456789012:role/{role['RoleName']}"
    )


@pytest.mark.parametrize("name", ["admin", "path/autotune-bedrock", "my-autotune-bedrock"])
def test_a_role_that_may_not_be_assumed_is_refused_when_it_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=r"role_arn|roleArn"):
        BedrockSettings(region="us-east-1", role_arn=f"arn:aws:iam::123456789012:role/{name}")
