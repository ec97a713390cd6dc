"""A grader that falls ill and recovers is seen by what the schedule does on the real way."""

import threading
from collections.abc import Callable, Iterator

import boto3
import pytest

from autotune import AutotuneClient
from local.endpoint import REGION
from local.records import LocalProfile
from tests.e2e.conftest import verified
from tests.support.graders import loopback_grader
from tests.support.subscribers import Reply, loopback_subscriber


@pytest.fixture
def probe_all(profile: LocalProfile) -> Iterator[Callable[[], None]]:
    """Does at once what the rule does every five minutes, and keeps the rule from doing it."""
    session = boto3.Session("test", "test", region_name=REGION)
    rules = session.client("events", endpoint_url=profile.aws_endpoint_url)
    functions = session.client("lambda", endpoint_url=profile.aws_endpoint_url)
    name = next(rule["Name"] for rule in rules.list_rules()["Rules"] if "Probe" in rule["Name"])
    targets = rules.list_targets_by_rule(Rule=name)["Targets"]

    def probe() -> None:
        for target in targets:
            answer = functions.invoke(FunctionName=target["Arn"], Payload=target["Input"])
            assert "FunctionError" not in answer, answer["Payload"].read()

    rules.disable_rule(Name=name)
    yield probe
    rules.enable_rule(Name=name)


@pytest.fixture
def told(client: AutotuneClient) -> Iterator[Callable[[str, int], list[tuple[str, str]]]]:
    """Waits for so many changes of a grader's status to arrive at a webhook; returns them.

    The stack has other graders, whose tests are over: they fall ill meanwhile.
    """
    with loopback_subscriber() as subscriber:
        secret = client.webhooks.create(
            url=subscriber.url, event_types=["grader.status_changed"]
        ).secret
        arrived = threading.Semaphore(0)

        def reply(_: object) -> Reply:
            arrived.release()
            return Reply()

        subscriber.reply = reply

        def changes(grader_id: str, count: int) -> list[tuple[str, str]]:
            found: list[tuple[str, str]] = []
            while len(found) < count:
                assert arrived.acquire(timeout=180)
                events = [one.verified(secret)["data"] for one in list(subscriber.received)]
                found = [
                    (one["previousStatus"], one["currentStatus"])
                    for one in events
                    if one["graderId"] == grader_id
                ]
            return sorted(found)

        yield changes


def test_a_grader_that_falls_ill_and_recovers_is_told_of(
    client: AutotuneClient,
    probe_all: Callable[[], None],
    told: Callable[[str, int], list[tuple[str, str]]],
) -> None:
    with loopback_grader() as grader:
        grader_id = verified(client, grader)
        grader.health["status"] = "degraded"
        seen = []
        for _ in range(2):
            probe_all()
            seen.append(client.graders.health(grader_id))
        assert [health.status for health in seen] == ["active", "degraded"]
        assert seen[1].last_probe is not None
        assert seen[1].last_probe.reason_code == "grader_degraded"
        grader.health.clear()
        for _ in range(2):
            probe_all()
    assert client.graders.get(grader_id).status == "active"
    assert told(grader_id, 3) == [
        ("active", "degraded"),
        ("degraded", "active"),
        ("inactive", "active"),
    ]
