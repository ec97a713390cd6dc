"""Everywhere on a local stack that a text could be left behind, and a search through all of it."""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import boto3

from local.endpoint import REGION
from local.logs import read_logs
from tests.support.xray import Daemon

_GZIP = zlib.MAX_WBITS | 16
_LEAST_CODED = 12


class Places:
    """Reads what a stack keeps, as pairs of where it is and what it says."""

    def __init__(
        self,
        endpoint: str,
        *,
        since: int,
        most_executions: int | None = None,
        xray: Daemon | None = None,
    ) -> None:
        """Look at a stack.

        Args:
            since: milliseconds since 1970 from which logs count.
            most_executions: how many of each state machine are read, the newest; all without it.
            xray: what functions sent their segments to.
        """
        self._xray = xray
        self._most_executions = most_executions
        self._endpoint = endpoint
        self._since = since
        self._session = boto3.Session("test", "test", region_name=REGION)

    def client(self, service: str) -> Any:
        return self._session.client(service, endpoint_url=self._endpoint)

    def everything(self) -> Iterator[tuple[str, str]]:
        yield from self.logs()
        yield from self.histories()
        yield from self.dead_letters()
        yield from self.tables()
        yield from self.segments()

    def left_behind(self) -> Iterator[tuple[str, str]]:
        """All that there is: the content of completions, objects and what waits in queues, too."""
        yield from self.everything()
        for id_, text in self.contents().items():
            yield f"content {id_}", text
        yield from self.objects()
        yield from self.messages()

    def logs(self) -> Iterator[tuple[str, str]]:
        for line in read_logs(self._endpoint, since=self._since):
            yield f"log of {line.source}", line.text

    def histories(self) -> Iterator[tuple[str, str]]:
        """Inputs, outputs and events of every execution of every state machine."""
        states = self.client("stepfunctions")
        for machine in states.list_state_machines()["stateMachines"]:
            pages = states.get_paginator("list_executions").paginate(
                stateMachineArn=machine["stateMachineArn"]
            )
            found = (one for page in pages for one in page["executions"])
            for execution in islice(found, self._most_executions):
                arn = execution["executionArn"]
                told = states.describe_execution(executionArn=arn)
                yield f"execution {execution['name']}", text_of(told)
                history = states.get_paginator("get_execution_history").paginate(
                    executionArn=arn, includeExecutionData=True
                )
                for page in history:
                    yield f"history {execution['name']}", text_of(page["events"])

    def segments(self) -> Iterator[tuple[str, str]]:
        """All that functions sent to X-Ray."""
        if self._xray is not None:
            self._xray.take_in()
            for datagram in list(self._xray.datagrams):
                yield "trace", datagram.decode()

    def dead_letters(self) -> Iterator[tuple[str, str]]:
        yield from self.messages(("DeadLetters", "Failures"))

    def messages(self, of: Sequence[str] = ("",)) -> Iterator[tuple[str, str]]:
        """What waits in every queue with one of these words in its name."""
        sqs = self.client("sqs")
        for url in sqs.list_queues().get("QueueUrls", []):
            name = url.rsplit("/", 1)[-1]
            if not any(word in name for word in of):
                continue
            # Peeked at: they are there again at once.
            for _ in range(10):
                answer = sqs.receive_message(
                    QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0
                )
                for message in answer.get("Messages", []):
                    yield f"queue {name}", text_of(message)

    def tables(self) -> Iterator[tuple[str, str]]:
        """Every item of every table but the content of completions."""
        dynamodb = self.client("dynamodb")
        for table in dynamodb.list_tables()["TableNames"]:
            for page in dynamodb.get_paginator("scan").paginate(TableName=table):
                for item in page["Items"]:
                    if item["sk"]["S"] != "content":
                        yield f"table {table} {item['pk']['S']}", text_of(item)

    def objects(self) -> Iterator[tuple[str, str]]:
        """Every object of every bucket but what functions are made of."""
        s3 = self.client("s3")
        for bucket in s3.list_buckets()["Buckets"]:
            for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket["Name"]):
                for listed in page.get("Contents", []):
                    if not listed["Key"].endswith(".zip"):
                        body = s3.get_object(Bucket=bucket["Name"], Key=listed["Key"])["Body"]
                        yield f"object {listed['Key']}", f"{listed['Key']} {text_of(body.read())}"

    def contents(self) -> dict[str, str]:
        """The text that is kept of each completion, in its item or in the bucket."""
        dynamodb, s3 = self.client("dynamodb"), self.client("s3")
        found: dict[str, str] = {}
        for table in dynamodb.list_tables()["TableNames"]:
            for page in dynamodb.get_paginator("scan").paginate(TableName=table):
                for item in page["Items"]:
                    if item["sk"]["S"] == "content":
                        found[item["pk"]["S"]] = text_of(item)
        for bucket in s3.list_buckets()["Buckets"]:
            for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket["Name"]):
                for listed in page.get("Contents", []):
                    if listed["Key"].startswith("content/"):
                        body = s3.get_object(Bucket=bucket["Name"], Key=listed["Key"])["Body"]
                        found[listed["Key"].rsplit("/", 1)[-1]] = text_of(body.read())
        return found


def spellings(text: bytes) -> list[bytes]:
    """Return a text, and the middle of what it is in base64 wherever it begins in there.

    The middle of a short text would be found by chance, or everywhere: it is left out.
    """
    coded = [base64.b64encode(b"." * shift + text)[4:-4] for shift in range(3)]
    return [text, *(middle for middle in coded if len(middle) >= _LEAST_CODED)]


def leaks(places: Iterable[tuple[str, str]], markers: Iterable[str]) -> set[str]:
    """Return the places that hold any of the markers, in whatever case, as it is or in base64."""
    wanted = [
        spelled.decode().lower() for marker in markers for spelled in spellings(marker.encode())
    ]
    return {place for place, text in places if any(one in text.lower() for one in wanted)}


def text_of(value: Any) -> str:
    """Return all text in a value, also that which is packed as content is."""
    if isinstance(value, bytes):
        packed, form = (value[1:], zlib.MAX_WBITS) if value[:1] == b"z" else (value, _GZIP)
        try:
            return zlib.decompress(packed, form).decode(errors="replace")
        except zlib.error:
            return value.decode(errors="replace")
    if isinstance(value, dict):
        return " ".join(f"{name} {text_of(member)}" for name, member in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(text_of, value))
    return value if isinstance(value, str) else json.dumps(value, default=str)
