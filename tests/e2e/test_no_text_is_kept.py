"""Prompts, responses and metadata lie in the content of completions, and nowhere else.

A stack is taken through what goes right and wrong with completions that carry markers. Then its
logs, executions, dead letters and tables are searched for them; and markers that are planted there
on purpose are found, so that a search which finds nothing means something.

The same run hands out secrets and is sent signatures. They are in none of these places, and neither
in content, other objects and messages that wait; but for the link in the notification of a review,
which is what its delivery says.
"""

import base64
import gzip
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from autotune import AutotuneClient, InvalidRequestError
from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from local.records import LocalProfile
from tests.e2e.conftest import until, verified
from tests.providers.server import serve
from tests.support.graders import Exchange, LoopbackGrader, loopback_grader
from tests.support.subscribers import Subscriber, loopback_subscriber
from tests.support.traces import Places, leaks

MARKERS = {part: f"{part}mark{secrets.token_hex(8)}" for part in ("prompt", "response", "metadata")}
_FREE = {f"{kind}{side}_usd": "0.1" for kind in ("", "batch_") for side in ("input", "output")}
KINDS_OF_PLACES = {"log", "execution", "history", "queue", "table"}
# Does not compress: it outgrows its item.
LARGE = "".join(chr(256 + int.from_bytes(secrets.token_bytes(2)) % 40_000) for _ in range(400_000))


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


class Secrets:
    """Everything that is handed out once, or that proves something, as it comes to be known."""

    def __init__(self, client: AutotuneClient, profile: LocalProfile) -> None:
        self._client = client
        self._profile = profile
        self._http = httpx.Client(trust_env=False, timeout=60)
        self.known: dict[str, str] = {"first API key": profile.api_key.partition(".")[2]}

    def close(self) -> None:
        self._http.close()

    def keys(self) -> None:
        """Make a key, sign a request with it, send it twice, and send another under its name."""
        made = self._client.keys.create(name="marked", role="admin").api_key
        key_id, _, secret = made.partition(".")
        path = "/api/v1/keys/me"
        signed = sign_api_request(
            key_id=key_id,
            secret=secret,
            method="GET",
            path=path,
            query="",
            body=b"",
            request_id=new_id("req"),
        )
        statuses = [
            self._http.get(f"{self._profile.base_url}{to}", headers=signed).status_code
            for to in (path, path, "/api/v1/keys")
        ]
        assert statuses == [200, 401, 401]
        self.known |= {"API key": secret, "signature of a request": signed["x-autotune-signature"]}

    def links(self) -> None:
        """Open reviews by a link, and by one that somebody changed."""
        token = self._client.reviews.link(reviewer_id="anna").url.partition("#")[2]
        for sent, status in ((token, 200), (f"{token[:-2]}AA", 401)):
            answer = self._http.get(
                f"{self._profile.base_url}/api/v1/reviews",
                headers={"authorization": f"Bearer {sent}"},
            )
            assert answer.status_code == status, answer.text
        self.known["review link"] = token.partition(".")[2]

    def reward_urls(self, task_id: str) -> None:
        """Ask for a reward at an address, and at one that somebody changed."""
        url = self._client.reward_urls.create(name="marked", task_id=task_id, model_id="m").url
        mac = url.rpartition("-")[2]
        body = {"prompt": MARKERS["prompt"], "response": MARKERS["response"], "label": None}
        for to, status in ((url, 200), (url.replace(mac, mac[::-1]), 404)):
            answer = self._http.post(f"{to}/slime", params={"wait": 30}, json=body)
            assert answer.status_code == status, answer.text
        self.known["reward URL"] = mac

    def graders(self, graders: list[LoopbackGrader]) -> None:
        for number, grader in enumerate(graders):
            assert grader.signatures
            self.known[f"shared secret {number}"] = grader.secret
            self.known[f"signature of a question {number}"] = grader.signatures[-1]
        registered = self._client.graders.register(name="unasked", endpoint=graders[0].url)
        rotated = self._client.graders.rotate_secret(registered.grader.id)
        assert registered.credentials is not None
        self.known["secret before"] = registered.credentials.shared_secret
        self.known["secret after"] = rotated.credentials.shared_secret

    def providers(self) -> None:
        """Ask language models with a key, with one that is refused, and with the one after it."""
        first, refused, second = (f"sk-{secrets.token_hex(30)}" for _ in range(3))
        ways = (("simulated", "/served/v1", "small"), ("openai", "/v1", "gpt-5-mini"))
        with serve() as fake:
            fake.world.prices.add("compatible", "small", (0.1, 0.1, 0.4))
            fake.world.timing.validate_seconds = fake.world.timing.run_seconds = 1
            for dialect in ("*", "compatible"):
                fake.world.keys[dialect] = {first: "main", second: "main"}
            for provider, base, model in ways:
                made = self._client.llm.connections.create(
                    name="marked",
                    provider=provider,
                    base_url=f"{fake.base_url}{base}",
                    api_key=first,
                    prices={model: _FREE},
                    batches="always" if provider == "openai" else "never",
                    min_rows=1,
                )
                row = {
                    "connectionId": made.id,
                    "purpose": "scoring",
                    "model": model,
                    "input": {"user": "q"},
                    "params": {"maxTokens": 100},
                }
                asked = [self._client.llm.enqueue([row]).request_ids[0]]
                change = self._client.llm.connections.update
                assert self._client.llm.wait(asked, timeout=180)[0].status == "completed"
                change(made.id, api_key=refused)
                assert not self._client.llm.connections.verify(made.id, model=model).works
                change(made.id, api_key=second)
                assert self._client.llm.connections.verify(made.id, model=model).works
                self._client.llm.connections.revoke(made.id)
        named = {"provider's key": first, "refused key": refused, "key after it": second}
        self.known |= named
        self.known |= {
            f"{name} in base64": base64.b64encode(key.encode()).decode().rstrip("=")
            for name, key in named.items()
        }

    def webhook(self, secret: str, webhook_id: str, subscriber: Subscriber) -> None:
        after = self._client.webhooks.rotate_secret(webhook_id).secret
        self.known["webhook secret"] = secret.removeprefix("whsec_")
        self.known["webhook secret after"] = after.removeprefix("whsec_")
        signature = subscriber.received[0].headers["webhook-signature"]
        self.known["signature of an event"] = signature.removeprefix("v1,")


@contextmanager
def planted(places: Places, marker: str) -> Iterator[None]:
    """Leave a marker in a log, an execution, a dead letter and a table, and take it away again."""
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
        s3.delete_object(Bucket=bucket, Key="planted")
        for table in tables:
            dynamodb.delete_item(TableName=table, Key=key)


def _is_delivery(place: str) -> bool:
    return place.startswith("table ") and "Deliveries" in place


def test_texts_are_kept_in_their_content_and_nowhere_else(
    client: AutotuneClient, profile: LocalProfile
) -> None:
    places = Places(profile.aws_endpoint_url, since=int(time.time() * 1000))
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
        known.links()
        known.reward_urls(scenario.task())
        known.graders(scenario.graders)
        known.providers()
        scenario.dead_lettered(kept)
        until(lambda: len(subscriber.received) >= 10, seconds=60, pause=0.5)
        known.webhook(webhook.secret, webhook.webhook.id, subscriber)

    found = list(places.everything())
    # What was searched is what was done: each kind of place has something to tell.
    for kind in ("log of GradeChunk", "log of CompletionsApi", "execution ", "history ", "queue "):
        assert any(place.startswith(kind) for place, _ in found), kind
    for table in ("Registry", "Completions", "Budgets", "Deliveries"):
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

    with planted(places, known.known["reward URL"]):
        told = leaks(places.left_behind(), known.known.values())
    assert {place.split()[0] for place in told} == {*KINDS_OF_PLACES, "object"}

    with planted(places, MARKERS["prompt"].upper()):
        told = leaks(places.everything(), MARKERS.values())
    assert {place.split()[0] for place in told} == KINDS_OF_PLACES
    assert len([place for place in told if place.startswith("table")]) >= 4
    assert leaks(places.everything(), MARKERS.values()) == set()
