"""Whatever service is busy, its error has the name that the state machine outlasts."""

import random
from typing import Any

import pytest

from autotune_platform.runtime import clients
from autotune_platform.runtime.errors import UnavailableError
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform


@pytest.mark.parametrize(
    ("service", "operation", "code"),
    [
        ("s3", "GetObject", "SlowDown"),
        ("kms", "GenerateMac", "ThrottlingException"),
        ("dynamodb", "PutItem", "RequestLimitExceeded"),
    ],
)
def test_a_busy_service_is_unavailable(
    platform: Platform, grader: LoopbackGrader, service: str, operation: str, code: str
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    platform.submit(task_id, {"prompt": _incompressible(600_000)})
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    client: Any = getattr(clients, service)()

    def throttle(model: Any, **_: Any) -> None:
        raise client.exceptions.ClientError({"Error": {"Code": code}}, model.name)

    name = f"before-call.{service}.{operation}"
    client.meta.events.register(name, throttle)
    with pytest.raises(UnavailableError):
        platform.grade(run)
    client.meta.events.unregister(name, throttle)
    assert platform.grade(run)["remaining"] == 0


def _incompressible(length: int) -> str:
    return random.Random(1).randbytes(length // 2).hex()
