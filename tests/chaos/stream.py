"""A follower of the completions table's stream, apart from every function of the product."""

from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from local.endpoint import REGION
from tests.chaos.beside import Beside
from tests.chaos.tables import Item, plain

POLL_SECONDS = 0.4

Key = tuple[str, str]


class VerdictStream:
    """Notes each verdict that is written, and each that is written over or removed.

    MiniStack loses stream records when it stops: ``stop`` reads what there is, and ``follow``
    begins anew with the next MiniStack.
    """

    def __init__(self) -> None:
        self.written: dict[Key, Item] = {}
        self.violations: list[str] = []
        self.records = 0
        self._beside = Beside()

    def follow(self, endpoint: str) -> None:
        """Read from the oldest record there is, until ``stop``."""
        self._beside.start(lambda: self._run(endpoint))

    def stop(self) -> None:
        """Read what there is now, and read no more."""
        self._beside.stop()

    def take(self, record: dict[str, Any]) -> None:
        """Judge one record: a verdict is inserted once, and then stands."""
        change = record["dynamodb"]
        key = (change["Keys"]["pk"]["S"], change["Keys"]["sk"]["S"])
        if not key[1].startswith("verdict#"):
            return
        self.records += 1
        if record["eventName"] != "INSERT":
            self.violations.append(f"the verdict of {key[0]} was changed: {record['eventName']}")
        elif key in self.written:
            self.violations.append(f"the verdict of {key[0]} was written twice")
        else:
            self.written[key] = plain(change["NewImage"])

    def _run(self, endpoint: str) -> None:
        session = boto3.Session("test", "test", region_name=REGION)
        streams = session.client("dynamodbstreams", endpoint_url=endpoint)
        arn = next(
            stream["StreamArn"]
            for stream in streams.list_streams()["Streams"]
            if "Completions" in stream["TableName"]
        )
        (shard,) = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        while True:
            is_last = self._beside.is_over(after=POLL_SECONDS)
            try:
                iterator = self._read(streams, iterator)
            except (BotoCoreError, ClientError):
                if is_last:
                    return  # it stopped by itself
                continue
            if is_last:
                return

    def _read(self, streams: Any, iterator: str) -> str:
        """Take every record that there is; return where to go on."""
        while True:
            answer = streams.get_records(ShardIterator=iterator, Limit=1000)
            iterator = answer["NextShardIterator"]
            for record in answer["Records"]:
                self.take(record)
            if not answer["Records"]:
                return iterator
