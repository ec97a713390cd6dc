"""What owners of tasks read of SageMaker's refusals."""

from types import SimpleNamespace
from typing import Any, Never

import pytest
from botocore.exceptions import ClientError

from autotune_platform.runtime.sagemaker_control import BotoControl, HostLimitError
from autotune_platform.runtime.sagemaker_words import shown
from autotune_platform.runtime.training_jobs import JobRefusedError

ROLE = "Could not assume role arn:aws:iam::123456789012:role/autotune-jobs."
WITHOUT = "Could not assume role arn:aws:iam::…:role/autotune-jobs."


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param(ROLE, WITHOUT, id="of a role"),
        pytest.param(
            "no data at s3://autotune-123456789012-data/a",
            "no data at s3://autotune-…-data/a",
            id="of a bucket",
        ),
        pytest.param("1234567890123 bytes", "1234567890123 bytes", id="a longer number"),
        pytest.param("x" * 301, "x" * 300, id="long words"),
        pytest.param("x" * 290 + " 123456789012", "x" * 290 + " …", id="where words are cut"),
    ],
)
def test_no_number_of_an_account_is_kept(said: str, kept: str) -> None:
    assert shown(said) == kept
    assert str(JobRefusedError("ValidationException", said)) == kept


@pytest.mark.parametrize("code", ["ValidationException", "ResourceLimitExceeded"])
def test_nor_of_what_is_refused_for_a_host(code: str) -> None:
    def create_model(**_: Any) -> Never:
        raise ClientError({"Error": {"Code": code, "Message": ROLE}}, "CreateModel")

    control = BotoControl(SimpleNamespace(create_model=create_model))
    if code == "ValidationException":
        assert control.refusal("create_model") == WITHOUT
    else:
        with pytest.raises(HostLimitError) as refused:
            control.refusal("create_model")
        assert str(refused.value) == WITHOUT
