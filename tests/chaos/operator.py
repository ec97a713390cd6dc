"""What time does by itself on AWS, done by hand: sweeps, probes, and what would be due later."""

from contextlib import suppress

from botocore.exceptions import BotoCoreError, ClientError

from local.endpoint import lambda_client
from tests.chaos.tables import PAST, Tables


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

    def sweep(self) -> int:
        """Let the sweeper look after every open batch now; return how many there were."""
        opened = [item for item in self._tables.items("Completions") if "openShard" in item]
        for item in opened:
            with suppress(self._tables.gone):  # closed in the meantime
                self._tables.set("Completions", item, while_it_has="openShard", dueAt=PAST)
        self._invoke("SweepBatches")
        return len(opened)

    def probe_graders(self) -> None:
        """Ask every grader for its health."""
        self._invoke("ProbeGraders")

    def status_of(self, grader_id: str) -> str:
        """Return a grader's status in the registry."""
        return str(self._tables.item("Registry", grader_id, "record")["status"])

    def _invoke(self, name: str) -> None:
        for function in self._names:
            if name in function:
                # It may be killed or throttled just then; the next one does what it left.
                with suppress(BotoCoreError, ClientError):
                    self._functions.invoke(FunctionName=function, Payload=b"{}")
