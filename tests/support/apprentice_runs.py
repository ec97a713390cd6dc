"""Runs of the apprentice for tests: a task, a provider that answers it, and a worker in process."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal
from unittest.mock import patch

from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.providers.answers import Ask, Reply
from tests.support.apprentice import configuration
from tests.support.lambdas import Answer, LambdaContext, handler
from tests.support.ledger import Ledger

WORKER = "functions.apprentice.work_runs"
ANSWER = '{"intent":"open_door"}'
INPUT = {"text": "Let me in!"}


class WorkerInProcess:
    """Stands for Lambda: it calls the worker as it would be invoked, unless it is told otherwise.

    Attributes:
        instead: what happens in place of an invocation.
        invoked: how often it was.
    """

    def __init__(self) -> None:
        self.instead: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        self.invoked = 0

    def invoke(self, *, FunctionName: str, InvocationType: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - botocore's words
        assert (FunctionName, InvocationType) == ("work_runs", "RequestResponse")
        self.invoked += 1
        event = json.loads(Payload)
        if self.instead is not None:
            return self.instead(event)
        try:
            answer = handler(WORKER)(event, LambdaContext(300))
        except Exception as error:  # noqa: BLE001 - Lambda's boundary
            return failed(error)
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


def failed(error: Exception) -> dict[str, Any]:
    """What Lambda answers where a function raises."""
    said = json.dumps({"errorMessage": str(error)})
    return {"FunctionError": "Unhandled", "Payload": io.BytesIO(said.encode())}


class Runs:
    """A task that is answered."""

    def __init__(self, ledger: Ledger, worker: WorkerInProcess) -> None:
        self.ledger = ledger
        self.platform = ledger.platform
        self.worker = worker
        self.connection_id = ledger.connect()
        self.say(ANSWER)

        self.asked: list[Ask] = []

    def say(self, text: str) -> None:
        """Have the paid model answer so from now on; ``asked`` has what it is asked."""

        def answer(ask: Ask) -> Reply:
            self.asked.append(ask)
            return Reply(text, has_token=False)

        self.ledger.fake.world.answers.answerer = answer

    def put(self, name: str = "intents", **fields: Any) -> dict[str, Any]:
        """Put the task."""
        path = f"/api/v1/apprentice/tasks/{name}"
        answer = self.platform.call("PUT", path, configuration(self.connection_id, **fields))
        assert answer.status == 200, answer.text
        task: dict[str, Any] = answer.json["task"]
        return task

    def start(
        self,
        value: Any = INPUT,
        *,
        name: str = "intents",
        wait: int = 0,
        key: str | None = None,
        **options: Any,
    ) -> Answer:
        headers = {} if key is None else {"idempotency-key": key}
        query = {"wait": wait} if wait else {}
        path = f"/api/v1/apprentice/tasks/{name}/runs"
        body = {"input": value}
        return self.platform.call("POST", path, body, query=query, headers=headers, **options)

    def read(self, run_id: str, **options: Any) -> dict[str, Any]:
        answer = self.platform.call("GET", f"/api/v1/apprentice/runs/{run_id}", **options)
        assert answer.status == 200, answer.text
        run: dict[str, Any] = answer.json["run"]
        return run

    def stored(self, run_id: str) -> Run | None:
        return RunRepository(Table("apprentice", clients.dynamodb())).get(run_id)

    def messages(self) -> list[str]:
        """Take all messages of the queue, but for those whose delay is not over."""
        sqs = clients.sqs()
        url = sqs.get_queue_url(QueueName="runs")["QueueUrl"]
        found = []
        while True:
            answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
            received = answer.get("Messages", [])
            if not received:
                return found
            for one in received:
                found.append(one["Body"])
                sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])

    def delayed(self) -> int:
        """Return how many messages wait until their delay is over."""
        sqs = clients.sqs()
        url = sqs.get_queue_url(QueueName="runs")["QueueUrl"]
        name: Literal["ApproximateNumberOfMessagesDelayed"] = "ApproximateNumberOfMessagesDelayed"
        answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
        return int(answer["Attributes"][name])

    def work(self, *run_ids: str, seconds: float = 300) -> list[str]:
        """Give the worker messages; return those that come again."""
        bodies = run_ids or tuple(self.messages())
        records = [{"messageId": str(place), "body": body} for place, body in enumerate(bodies)]
        answer = handler(WORKER)({"Records": records}, LambdaContext(seconds))
        return [one["itemIdentifier"] for one in answer["batchItemFailures"]]

    @property
    def bill(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ledger.fake.world.bill()
        return found


@contextmanager
def runs(ledger: Ledger) -> Iterator[Runs]:
    """Provide a task that is answered by a fake provider, with its worker in this process."""
    worker = WorkerInProcess()
    with patch.object(clients, "waiting_lambda", lambda seconds: worker):
        yield Runs(ledger, worker)
