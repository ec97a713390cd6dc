"""Each kind of grader that can be registered is known to every table of kinds."""

from typing import get_args

import pytest

from autotune.protocol.graders import GraderKind
from autotune_platform.graders.kinds import _CAPABILITIES, _REFUSED
from autotune_platform.runtime.environment.scoring import GradingEnvironment
from autotune_platform.wiring.grading import GradingParts

KINDS = set(get_args(GraderKind))
JUDGED_IN_PROCESS = KINDS - {"http"}


def test_each_kind_refuses_the_fields_of_others() -> None:
    assert _REFUSED.keys() == KINDS


def test_each_kind_without_an_endpoint_has_its_capabilities() -> None:
    assert _CAPABILITIES.keys() == JUDGED_IN_PROCESS


def test_each_kind_has_its_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    environment = GradingEnvironment.model_construct(
        registry_table="r",
        completions_table="c",
        budgets_table="b",
        ledger_table="l",
        ledger_bucket="b",
        content_bucket="b",
        secrets_keys={},
        api_url="https://api.test",
        admit_private_addresses=False,
    )
    assert GradingParts(environment).judges.by_kind.keys() == KINDS
