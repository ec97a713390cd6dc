"""What time does by itself on AWS, done by hand: sweeps, probes, and what would be due later."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from autotune_platform.graders.repository import HEALTH_SHARDS
from local.endpoint import REGION, lambda_client
from tests.chaos.tables import LONG_AGO, PAST, SLEPT, Tables

REDELIVERY_SECONDS = 20
"""Longer than a function takes to start a run, or to send the deliveries of a few calls."""


class Operator:
    """Invokes the scheduled functions of one MiniStack.

    Schedules count in minutes and hours, a run of chaos has ten minutes: what waits in a table is
    made due by hand, and then handled as it would be later.
    """

    def __init__(self, endpoint: str) -> None:
        self._functions = lambda_client(endpoint)
        self._tables = Tables(endpoint)
        pages = self._functions.get_paginator("list_functions").paginate()
        self._names = [one["FunctionName"] for page in pages for one in page["Functions"]]

    def hasten_redelivery(self, endpoint: str) -> None:
        """Let messages that a dying worker had come back after seconds instead of minutes."""
        session = boto3.Session("test", "test", region_name=REGION)
        sqs = session.client("sqs", endpoint_url=endpoint)
        for url in sqs.list_queues()["QueueUrls"]:
            attributes = {"VisibilityTimeout": str(REDELIVERY_SECONDS)}
            sqs.set_queue_attributes(QueueUrl=url, Attributes=attributes)

    def sweep(self, batch_ids: Iterable[str]) -> None:
        """Let the sweeper look after open batches now, asleep or not: a restart ends all runs."""
        for batch_id in batch_ids:
            item = {"pk": batch_id, "sk": "batch"}
            asleep = [name for name in self._tables.item("Completions", **item) if "asleep" in name]
            past = {"due_at": PAST, **dict.fromkeys(asleep, SLEPT)}
            with suppress(self._tables.gone):  # closed in the meantime
                self._tables.set("Completions", item, while_it_has="open_shard", **past)
        self._invoke("SweepBatches")

    def close_batches(self) -> int:
        """Let the sweeper look after everything that is open; return how many batches were."""
        opened = [item["pk"] for item in self._tables.items("Completions") if "open_shard" in item]
        if opened:
            self.sweep(opened)
        return len(opened)

    def deliver(self) -> int:
        """Have every delivery tried now that waits for its next attempt; return how many did."""
        now = datetime.now(UTC)
        waiting = [
            item
            for item in self._tables.items("Deliveries")
            if "due_shard" in item and datetime.fromisoformat(item["due_at"]) > now
        ]
        for item in waiting:
            position = f"{item['pk']}#{PAST}"
            with suppress(self._tables.gone):  # delivered in the meantime
                self._tables.set(
                    "Deliveries",
                    item,
                    while_it_has="due_shard",
                    due_at=LONG_AGO,
                    due_position=position,
                )
        self._invoke("SweepDeliveries")
        return len(waiting)

    def sweep_ledger(self) -> None:
        """Let the sweeper look after calls and batches that are due."""
        self._invoke("SweepLedger")

    def probe_graders(self) -> None:
        """Ask every grader for its health, as the rule has each shard asked."""
        for shard in range(HEALTH_SHARDS):
            self._invoke("ProbeGraders", {"shard": shard})

    def status_of(self, grader_id: str) -> str:
        """Return a grader's status in the registry."""
        return str(self._tables.item("Registry", grader_id, "record")["status"])

    def _invoke(self, name: str, event: Mapping[str, int] | None = None) -> None:
        for function in self._names:
            if name in function:
                # It may be killed or throttled just then; the next one does what it left.
                with suppress(BotoCoreError, ClientError):
                    payload = json.dumps(event or {}).encode()
                    self._functions.invoke(FunctionName=function, Payload=payload)
