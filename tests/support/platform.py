"""The whole server side in one process: real handlers, moto below, graders on loopback above."""

import heapq
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

import boto3
import pytest
from moto import mock_aws

from autotune.protocol.ids import new_id, timed_id
from autotune.protocol.signing import sign_api_request
from autotune_platform.access import service as access
from autotune_platform.graders.repository import HEALTH_SHARDS
from autotune_platform.outbound import connections
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.grouping import groups
from autotune_platform.storage.changes import Change
from autotune_platform.verdicts.decisions import NEW_DECISIONS
from tests.support.aws import QUEUES, REWARD_URL, make_resources, names_of_resources
from tests.support.clock import passing_time
from tests.support.executions import inputs_of
from tests.support.http_events import api_event
from tests.support.lambdas import Answer, LambdaContext, forget_processes, function_of, handler
from tests.support.saved_backends import SavedBackend, saved_backends
from tests.support.sessions import lent_clients, shared_session
from tests.support.tables import SavedTables, stream_records

_USUAL_RATE = 50

# Which samples are held out follows from their organisation: the same ones in each run of a test.
_FIRST_ID = timed_id("org", datetime(2026, 1, 1, tzinfo=UTC), 0, "first")

_OPERATED = {
    "list_stuck": "functions.operations.list_stuck",
    "redrive_dead_letters": "functions.operations.redrive_dead_letters",
    "sweep_batches": "functions.scoring.sweep_batches",
}

# The public authorities are read once: that takes longer than most of what a test does.
_TRUST = connections._trusting_public_authorities()
connections._trusting_public_authorities = lambda: _TRUST


class Platform:
    """Calls the deployed handlers as API Gateway, SQS and Step Functions would."""

    def __init__(self) -> None:
        self.api_key, backends = _first_organization()
        for backend in backends:
            backend.restore()

    def new_organization(self, name: str) -> str:
        """Create an organisation; return its admin credential."""
        created = handler("functions.operations.create_organization")({"name": name}, None)
        return created["apiKey"]

    def new_key(self, role: str, *, principal_id: str | None = None) -> str:
        body = {
            "name": role,
            "role": role,
            **({"principalId": principal_id} if principal_id else {}),
        }
        return self.call("POST", "/api/v1/keys", body).json["apiKey"]

    def me(self, api_key: str | None = None) -> dict[str, Any]:
        """Return what a key reads of itself."""
        return self.call("GET", "/api/v1/keys/me", api_key=api_key).json["key"]

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        api_key: str | None = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
        signed: dict[str, str] | None = None,
    ) -> Answer:
        """Send one request, signed unless ``signed`` says with what headers instead.

        Tests ask more in a second than a key usually may: such a request is sent in the next one.
        """
        while True:
            answer = self._send(method, path, body, query, api_key, headers, raw, signed)
            if signed is not None or not _is_usual_rate(answer):
                return answer
            time.sleep(0.2)

    def _send(
        self,
        method: str,
        path: str,
        body: Any,
        query: dict[str, Any] | None,
        api_key: str | None,
        headers: dict[str, str] | None,
        raw: bytes | None,
        signed: dict[str, str] | None,
    ) -> Answer:
        sent = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        query_string = urlencode(query or {}, doseq=True)
        if signed is None:
            key_id, secret = (api_key or self.api_key).split(".")
            signed = sign_api_request(
                key_id=key_id,
                secret=secret,
                method=method,
                path=path,
                query=query_string,
                body=sent,
                request_id=new_id("req"),
                timestamp=int(SYSTEM_CLOCK.unix()),
            )
        return self.pass_on(
            method,
            path,
            query_string,
            {"content-type": "application/json", **signed, **(headers or {})},
            sent,
        )

    def pass_on(
        self, method: str, path: str, query: str, headers: dict[str, str], body: bytes
    ) -> Answer:
        """Give a request, as it came, to the function behind its path."""
        answer = self.invoke(
            function_of(method, path), api_event(method, path, query, headers, body)
        )
        lowered = {name.lower(): value for name, value in answer["headers"].items()}
        is_base64 = answer.get("isBase64Encoded", False)
        return Answer(answer["statusCode"], lowered, answer.get("body") or "", is_base64)

    def invoke(self, module: str, event: dict[str, Any]) -> Any:
        """Call the function of an API."""
        return handler(module)(event, LambdaContext())

    def new_reward_url(self, task_id: str, **fields: Any) -> str:
        """Make a reward URL; return the path at which its token stands."""
        body = {"name": "r", "taskId": task_id, "modelId": "m", **fields}
        answer = self.call("POST", "/api/v1/reward-urls", body)
        assert answer.status == 201, answer.text
        return answer.json["url"].removeprefix(REWARD_URL)

    def ask(self, path: str, body: Any, *, wait: int | None = 0, **options: Any) -> Answer:
        """Ask for rewards as a trainer does: without a key."""
        query = {**({} if wait is None else {"wait": wait}), **options.pop("query", {})}
        return self.call("POST", path, body, query=query, signed={}, **options)

    def review_records(self) -> list[dict[str, Any]]:
        """What the stream of ``completions`` tells of reviews, as Lambda would deliver it."""
        return [
            record
            for record in stream_records("completions")
            if record["eventName"] == "INSERT" and record["dynamodb"]["Keys"]["sk"]["S"] == "review"
        ]

    def announce_reviews(self) -> None:
        """Deliver every record of a review, also those that were delivered before."""
        handler("functions.projections.follow_changes")({"Records": self.review_records()}, None)

    def queued(self, queue: str = "normal") -> list[dict[str, Any]]:
        """Take what waits on a queue, as SQS would deliver it."""
        sqs = boto3.client("sqs")
        url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
        records = []
        asked: dict[str, Any] = {"QueueUrl": url, "MaxNumberOfMessages": 10}
        asked["AttributeNames"] = ["SentTimestamp", "MessageGroupId"]
        while messages := sqs.receive_message(**asked).get("Messages"):
            for message in messages:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                records.append(
                    {
                        "messageId": message["MessageId"],
                        "body": message["Body"],
                        "attributes": message["Attributes"],
                        "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{queue}",
                    }
                )
        return records

    def dispatch(self, records: list[dict[str, Any]]) -> list[str]:
        """Deliver messages; return the ids of those that are to be delivered again."""
        answer = handler("functions.scoring.dispatch_chunks")({"Records": records}, None)
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def runs(self) -> list[dict[str, Any]]:
        """The input of every run that was started."""
        return list(inputs_of("score_completions").values())

    def exports_started(self) -> list[dict[str, Any]]:
        """The input of every execution that was started for an export."""
        return list(inputs_of("export_scores").values())

    def write_export(self, started: dict[str, Any], *, seconds: float = 900) -> dict[str, Any]:
        """Do one step of an export."""
        return handler("functions.exports.write_export")(started, LambdaContext(seconds))

    def grade(self, progress: dict[str, Any], *, seconds: float = 120) -> dict[str, Any]:
        """Do one round of a run."""
        return handler("functions.scoring.grade_chunk")(progress, LambdaContext(seconds))

    def await_answers(self, progress: dict[str, Any], token: str = "token") -> None:
        """Let a run wait, as the state machine does after a round that leaves nothing else."""
        handler("functions.scoring.await_answers")({"progress": progress, "token": token}, None)

    def call_back(
        self, path: str, body: bytes, headers: dict[str, str], *, method: str = "POST"
    ) -> Answer:
        """Send what a grader sends to its callback URL: signed by no key."""
        return self.call(method, path, raw=body, signed=headers)

    def score_everything(self) -> list[dict[str, Any]]:
        """Dispatch what is queued and finish every run; return the ends."""
        for queue in QUEUES:
            self.dispatch(self.queued(queue))
        return self.finish(self.runs())

    def finish(self, runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Go round runs until nothing is left, each after its sleep; return the ends.

        The sleeps pass at once: what waits for its deadline ends at it.
        """
        due = [(0.0, number, progress) for number, progress in enumerate(runs)]
        ends: dict[int, dict[str, Any]] = {}
        with passing_time() as clocks:
            while due:
                awake_at, number, progress = heapq.heappop(due)
                clocks.reach(awake_at)
                left = self.grade(progress)
                if left["remaining"]:
                    heapq.heappush(due, (clocks.slept + left["sleep_seconds"], number, left))
                else:
                    ends[number] = left
        return [ends[number] for number in sorted(ends)]

    def verdict_records(self) -> list[dict[str, Any]]:
        """What the stream of ``completions`` tells of verdicts and opinions, as Lambda gets it.

        That is a list for each batch and round, and each verdict and opinion of a batch of one.
        """
        return [record for record in stream_records("completions") if _has_decisions(record)]

    def project(self, records: list[dict[str, Any]] | None = None) -> None:
        """Deliver records of verdicts, by default all that there ever were, a hundred at a time."""
        due = self.verdict_records() if records is None else records
        for some in groups(due, 100):
            handler("functions.projections.project_verdicts")({"Records": some}, LambdaContext())

    def operate(self, function: str) -> Any:
        """Invoke one of the functions that look after everything."""
        return handler(_OPERATED[function])({}, LambdaContext())

    def probe_graders(self, *, seconds: float = 240) -> dict[str, int]:
        """Probe every shard once, as the rule does; return the sum of what the runs report."""
        probe = handler("functions.graders.probe_graders")
        reports = [
            probe({"shard": shard}, LambdaContext(seconds)) for shard in range(HEALTH_SHARDS)
        ]
        return {name: sum(report[name] for report in reports) for name in reports[0]}

    def stored_events(self) -> list[dict[str, Any]]:
        """The records of events that the streams of four tables hold, oldest first."""
        items = [
            item
            for table in ("registry", "ledger", "decks", "apprentice")
            for item in boto3.client("dynamodb").scan(TableName=table)["Items"]
        ]
        events = [item for item in items if item["sk"]["S"].startswith("event#")]
        return [
            {
                "eventName": "INSERT",
                "dynamodb": {"Keys": {name: item[name] for name in ("pk", "sk")}, "NewImage": item},
            }
            for item in sorted(events, key=lambda item: item["occurred_at"]["S"])
        ]

    def publish_events(self) -> None:
        """Deliver every record of an event, as the stream would, also those that it did before."""
        handler("functions.webhooks.publish_events")({"Records": self.stored_events()}, None)

    def deliver(self, *, seconds: float = 60) -> int:
        """Drain webhooks as long as they are woken for now; return how often they were."""
        woken = 0
        while records := self.queued("webhooks"):
            for record in records:
                answer = handler("functions.webhooks.deliver_events")(
                    {"Records": [record]}, LambdaContext(seconds)
                )
                assert answer == {"batchItemFailures": []}
                woken += 1
        return woken

    def new_grader(self, grader: Any, **fields: Any) -> str:
        """Register and verify a loopback grader; return its id."""
        body = {"name": "loopback", "endpoint": grader.url, **fields}
        registered = self.call("POST", "/api/v1/graders", body).json
        grader.secret = registered["credentials"]["sharedSecret"]
        grader_id: str = registered["grader"]["id"]
        verified = self.call("POST", f"/api/v1/graders/{grader_id}/verify")
        assert verified.json["verified"], verified.text
        return grader_id

    def new_task(self, grader_id: str | None = None, **fields: Any) -> str:
        body = {"name": "t", **({"graderId": grader_id} if grader_id else {}), **fields}
        answer = self.call("POST", "/api/v1/tasks", body)
        assert answer.status == 201, answer.text
        return answer.json["task"]["id"]

    def submit(self, task_id: str, *completions: dict[str, Any], **options: Any) -> Answer:
        """Submit a batch; what a completion leaves out is filled in."""
        filled = [
            {"taskId": task_id, "modelId": "m", "prompt": "p", "response": "r", **completion}
            for completion in completions
        ]
        return self.call("POST", "/api/v1/completions/batch", {"completions": filled}, **options)

    def batch(self, batch_id: str) -> Any:
        return self.call("GET", f"/api/v1/batches/{batch_id}").json


def _is_usual_rate(answer: Answer) -> bool:
    """Whether a request was refused for the rate of keys without limits of their own."""
    if answer.status != 429 or answer.json.get("code") != "too_many_requests":
        return False
    return bool(answer.json["limit"]["maximum"] >= _USUAL_RATE)


def _has_decisions(record: dict[str, Any]) -> bool:
    change = Change.from_record(record)
    return any(kind.includes(change) for kind in NEW_DECISIONS)


@cache
def _first_organization() -> tuple[str, list[SavedBackend | SavedTables]]:
    """Make the organisation that every test has once for a process; return its admin credential.

    Return also what has all that is stored be as it was then: one step from wherever a test begins.
    """
    make_resources(admit_private=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(access, "new_id", lambda kind: _FIRST_ID if kind == "org" else new_id(kind))
        created = handler("functions.operations.create_organization")({"name": "first"}, None)
    return created["apiKey"], saved_backends()


@contextmanager
def platform(
    monkeypatch: pytest.MonkeyPatch, *, admit_private: bool = True, kind: type[Platform] = Platform
) -> Iterator[Platform]:
    """Provide an empty platform."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", shared_session())
        lent = lent_clients()
        monkeypatch.setattr(clients, "_session", lambda: lent)
        for name, value in names_of_resources(admit_private=admit_private).items():
            monkeypatch.setenv(name, value)
        forget_processes()
        with lent.for_a_test(), _connections_closed(monkeypatch):
            yield kind()
        forget_processes()


@contextmanager
def _connections_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the connections that functions open, which Lambda leaves to the end of the process."""
    make = connections.connection_pool
    with ExitStack() as opened:
        monkeypatch.setattr(
            "autotune_platform.wiring.outbound.connection_pool",
            lambda **named: opened.enter_context(closing(make(**named))),
        )
        yield
