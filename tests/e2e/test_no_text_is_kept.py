"""Prompts, responses and metadata lie in the content of completions, and nowhere else.

A stack is taken through what goes right and wrong with completions that carry markers. Then its
logs, executions, dead letters, tables and traces are searched for them; and markers that are
planted there on purpose are found, so that a search which finds nothing means something.

The same run hands out secrets and is sent signatures. They are in none of these places, and neither
in content, other objects and messages that wait; but for the link in the notification of a review,
which is what its delivery says.
"""

import base64
import gzip
import json
import secrets
import time
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from autotune import AutotuneClient, InvalidRequestError
from local.records import LocalProfile
from tests.e2e.conftest import until, verified
from tests.support.graders import Exchange, LoopbackGrader, loopback_grader
from tests.support.known_secrets import Secrets
from tests.support.subscribers import Subscriber, loopback_subscriber
from tests.support.traces import Places, leaks
from tests.support.xray import Daemon

MARKERS = {part: f"{part}mark{secrets.token_hex(8)}" for part in ("prompt", "response", "metadata")}
TABLES = (
    "Registry",
    "Completions",
    "Budgets",
    "Deliveries",
    "Ledger",
    "Decks",
    "Apprentice",
    "Audit",
)
KINDS_OF_PLACES = {"log", "execution", "history", "queue", "table", "trace"}
# Does not compress: it outgrows its item.
LARGE = "".join(chr(256 + one % 40_000) for one in array("H", secrets.token_bytes(800_000)))


def marked(task_id: str, *, filler: str = "", **metadata: Any) -> dict[str, Any]:
    return {
        "taskId": task_id,
        "modelId": "m",
        "prompt": f"{MARKERS['prompt']} {filler}",
        "response": f"{filler} {MARKERS['response']}",
        "metadata": {"note": MARKERS["metadata"], **metadata},
    }


def echo(exchange: Exchange) -> None:
    """Say all that was asked wherever a grader can say something."""
    asked = json.loads(exchange.request_body)
    completions = asked.get("completions", [asked.get("completion")])
    said = json.dumps(completions[0])
    exchange.headers["x-echo"] = MARKERS["prompt"]
    how = completions[0]["metadata"]["how"]
    if how == "status":
        exchange.status, exchange.body = 400, said.encode()
    elif how == "garbage":
        exchange.body = said.encode()
    elif how == "version":
        exchange.answer["graderVersion"] = MARKERS["response"] * 10
    elif how == "error":
        for item in exchange.items:
            item.pop("score", None)
            item["error"] = said[:200]
    elif how == "value":
        for item in exchange.items:
            item["score"]["value"] = said
    else:
        for item in exchange.items:
            item["score"]["reasoning"] = said


SICK = ("status", "garbage", "version", "error", "value", "reasoning")


class Scenario:
    """What happens to marked completions."""

    def __init__(self, client: AutotuneClient, places: Places, graders: ExitStack) -> None:
        self._client = client
        self._places = places
        self._graders = graders
        self.graders: list[LoopbackGrader] = []

    def task(self, disease: Any = None, **fields: Any) -> str:
        grader = self._graders.enter_context(loopback_grader())
        grader_id = verified(self._client, grader, maxBatchSize=10)
        grader.disease = disease or grader.disease
        self.graders.append(grader)
        return self._client.tasks.create(name="marked", grader_id=grader_id, **fields).id

    def submit(self, *completions: dict[str, Any]) -> Any:
        (batch,) = self._client.completions.submit_many(list(completions))
        return batch

    def finish(self, *completions: dict[str, Any]) -> tuple[Any, dict[str, int]]:
        batch = self.submit(*completions)
        counts = self._client.batches.wait(batch.batch_id, timeout=180).counts
        return batch, counts.model_dump(exclude_defaults=True)

    def scored(self) -> str:
        """Return a completion whose text stays."""
        task_id = self.task()
        kept, counts = self.finish(marked(task_id), marked(task_id, filler=LARGE))
        assert counts["scored"] == 2
        return str(kept.completion_ids[0])

    def failed(self) -> None:
        for how in SICK:
            _, counts = self.finish(marked(self.task(echo), how=how))
            assert counts["scored" if how == "reasoning" else "failed"] == 1, how

    def retried(self) -> None:
        answered: list[Exchange] = []

        def ill_at_first(exchange: Exchange) -> None:
            answered.append(exchange)
            if len(answered) < 3:
                exchange.status, exchange.body = 503, exchange.request_body

        _, counts = self.finish(marked(self.task(ill_at_first)))
        assert counts["scored"] == 1
        assert len(answered) == 3

    def canceled(self) -> None:
        def busy(exchange: Exchange) -> None:
            exchange.status = 429
            exchange.headers["retry-after"] = "300"

        batch = self.submit(marked(self.task(busy)))
        assert self._client.batches.cancel(batch.batch_id).counts.canceled == 1

    def deleted(self) -> list[str]:
        """Return completions whose text is deleted."""
        task_id = self.task(retention_days=30)
        one, _ = self.finish(marked(task_id))
        self._client.completions.delete(one.completion_ids[0])
        more, _ = self.finish(marked(task_id, filler=LARGE), marked(task_id))
        self._client.batches.delete_content(more.batch_id)
        return [*one.completion_ids, *more.completion_ids]

    def judged_here(self) -> None:
        for builtin in (
            {"type": "exact_match", "reference": "{{ item.missing }}"},
            {"type": "text_similarity", "reference": "{{ item.note }}", "metric": "fuzzy_match"},
            {"type": "json_schema", "schema": {"type": "object"}},
        ):
            grader = self._client.graders.register(name="marked", builtin=builtin).grader
            task = self._client.tasks.create(name="marked", grader_id=grader.id)
            self.finish(marked(task.id, filler=LARGE), marked(task.id))

    def reviewed(self, subscriber: Subscriber) -> str:
        """Have a review asked for; return what of its notification opens it."""
        people = self._client.graders.register(name="marked", kind="human").grader
        task = self._client.tasks.create(name="marked", grader_id=people.id)
        self.submit(marked(task.id))

        def requested() -> Any:
            events = (json.loads(one.body) for one in subscriber.received)
            asked = [one["data"] for one in events if one["event"] == "review.requested"]
            return asked[0] if asked else None

        review = until(requested, seconds=120, pause=0.5)
        # Other tests take what is open.
        self._client.reviews.answer(review["reviewId"], value=0.5)
        return str(review["link"]).partition("#")[2].partition(".")[2]

    def refused(self) -> None:
        with pytest.raises(InvalidRequestError):
            self._client.completions.submit(
                task_id="task_" + "0" * 26,
                model_id="m",
                prompt=MARKERS["prompt"],
                response=MARKERS["response"],
                metadata={"note": MARKERS["metadata"]},
            )

    def dead_lettered(self, completion_id: str) -> None:
        """Let a chunk that cannot be read end among the dead letters."""
        sqs = self._places.client("sqs")
        (queue,) = (
            url
            for url in sqs.list_queues()["QueueUrls"]
            if "LowPriority" in url and "DeadLetters" not in url
        )
        before = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["VisibilityTimeout"])
        sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "1"})
        try:
            garbage = json.dumps({"completion_ids": [completion_id], "text_bytes": "many"})
            sqs.send_message(QueueUrl=queue, MessageBody=garbage)
            until(
                lambda: completion_id in " ".join(text for _, text in self._places.dead_letters()),
                seconds=120,
                pause=1,
            )
        finally:
            sqs.set_queue_attributes(QueueUrl=queue, Attributes=before["Attributes"])


@contextmanager
def planted(places: Places, xray: Daemon, marker: str) -> Iterator[None]:
    """Leave a marker in each kind of place, and in base64 in an object; take it away again."""
    logs, states = places.client("logs"), places.client("stepfunctions")
    sqs, dynamodb = places.client("sqs"), places.client("dynamodb")
    logs.create_log_group(logGroupName="planted")
    logs.create_log_stream(logGroupName="planted", logStreamName="s")
    event = {"timestamp": int(time.time() * 1000), "message": f"oops: {marker}"}
    logs.put_log_events(logGroupName="planted", logStreamName="s", logEvents=[event])
    role = states.describe_state_machine(
        stateMachineArn=states.list_state_machines()["stateMachines"][0]["stateMachineArn"]
    )["roleArn"]
    machine = states.create_state_machine(
        name="planted",
        definition=json.dumps({"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}),
        roleArn=role,
    )["stateMachineArn"]
    states.start_execution(
        stateMachineArn=machine, name="planted", input=json.dumps({"text": marker})
    )
    queue = sqs.create_queue(QueueName="plantedDeadLetters")["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody=marker)
    s3 = places.client("s3")
    bucket = s3.list_buckets()["Buckets"][0]["Name"]
    s3.put_object(Bucket=bucket, Key="planted", Body=gzip.compress(marker.encode()))
    s3.put_object(Bucket=bucket, Key="coded", Body=base64.b64encode(b"x" + marker.encode()))
    xray.send(sent := json.dumps({"name": marker}).encode())
    tables = dynamodb.list_tables()["TableNames"]
    key = {"pk": {"S": "planted"}, "sk": {"S": "planted"}}
    for table in tables:
        dynamodb.put_item(TableName=table, Item={**key, "m": {"M": {"deep": {"S": marker}}}})
    try:
        yield
    finally:
        logs.delete_log_group(logGroupName="planted")
        states.delete_state_machine(stateMachineArn=machine)
        sqs.delete_queue(QueueUrl=queue)
        s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "planted"}, {"Key": "coded"}]})
        xray.forget(sent)
        for table in tables:
            dynamodb.delete_item(TableName=table, Key=key)


def _is_delivery(place: str) -> bool:
    return place.startswith("table ") and "Deliveries" in place


def test_texts_are_kept_in_their_content_and_nowhere_else(
    client: AutotuneClient, profile: LocalProfile, xray: Daemon
) -> None:
    places = Places(profile.aws_endpoint_url, since=int(time.time() * 1000), xray=xray)
    with ExitStack() as running:
        subscriber = running.enter_context(loopback_subscriber())
        webhook = client.webhooks.create(
            url=subscriber.url,
            event_types=["score.completed", "batch.completed", "review.requested"],
        )
        running.callback(client.webhooks.delete, webhook.webhook.id)
        scenario = Scenario(client, places, running)
        kept = scenario.scored()
        scenario.failed()
        scenario.retried()
        scenario.canceled()
        deleted = scenario.deleted()
        scenario.judged_here()
        scenario.refused()
        notified = scenario.reviewed(subscriber)
        known = Secrets(client, profile)
        running.callback(known.close)
        known.keys()
        known.sessions()
        known.links()
        known.reward_urls(scenario.task(), MARKERS)
        known.graders(scenario.graders)
        known.providers()
        scenario.dead_lettered(kept)
        until(lambda: len(subscriber.received) >= 10, seconds=60, pause=0.5)
        known.webhook(webhook.secret, webhook.webhook.id, subscriber)

    found = list(places.everything())
    # What was searched is what was done: each kind of place has something to tell.
    for kind in (
        *("log of GradeChunk", "log of CompletionsApi", "log of WorkLlmBatch"),
        *("log of ConnectionsApi", "execution ", "history ", "queue ", "trace"),
    ):
        assert any(place.startswith(kind) for place, _ in found), kind
    for table in TABLES:
        assert any(f"{table}" in place for place, _ in found if place.startswith("table")), table
    assert leaks(found, MARKERS.values()) == set()

    left = list(places.left_behind())
    assert len(known.known) >= 20
    for name, secret in known.known.items():
        assert len(secret) >= 40, name
        assert leaks(left, [secret]) == set(), name
    # Whoever is notified is to open it: it stands in the delivery, until that is forgotten.
    notifying = leaks(left, [notified])
    assert notifying
    assert [place for place in notifying if not _is_delivery(place)] == []

    contents = places.contents()
    assert all(marker in contents[kept] for marker in MARKERS.values())
    assert leaks(((id_, contents.get(id_, "")) for id_ in deleted), MARKERS.values()) == set()

    with planted(places, xray, known.known["provider's key"]):
        told = leaks(places.left_behind(), known.known.values())
    assert {place.split()[0] for place in told} == {*KINDS_OF_PLACES, "object"}
    assert {"object planted", "object coded"} <= told

    with planted(places, xray, MARKERS["prompt"].upper()):
        told = leaks(places.everything(), MARKERS.values())
    assert {place.split()[0] for place in told} == KINDS_OF_PLACES
    assert len([place for place in told if place.startswith("table")]) >= len(TABLES)
    assert leaks(places.everything(), MARKERS.values()) == set()
