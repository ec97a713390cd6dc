"""Handing runs over to their worker: through a queue, or by calling it and waiting for it."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.runs.models import Run
from autotune_platform.runtime.bounded_json import parse_document
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.queues import send_all

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

logger = Logger()

MOST_DELAY_SECONDS: Final = 900
"""The longest that SQS offers."""

_MOST_VALUES = 200_000


@part
class RunQueue:
    """Has runs worked on that are stored.

    Each message says whose it is, so that the queue delivers runs of quiet organisations first
    while another's are with all workers (fair queues of Amazon SQS).
    """

    sqs: "SQSClient"
    queue_url: str

    def send(self, run: Run, *, delay_seconds: int = 0) -> None:
        """Have a run worked on; the same one may be sent any number of times."""
        self.sqs.send_message(
            QueueUrl=self.queue_url,
            MessageBody=run.id,
            DelaySeconds=min(max(delay_seconds, 0), MOST_DELAY_SECONDS),
            MessageGroupId=run.organization_id,
        )

    def send_many(self, runs: Iterable[Run]) -> None:
        """Have runs worked on, ten of an organisation's a call.

        Raises:
            UnavailableError: the queue refused some; send all of them again.
        """
        by_tenant: dict[str, dict[str, None]] = {}
        for run in runs:
            by_tenant.setdefault(run.organization_id, {})[run.id] = None
        for tenant, run_ids in by_tenant.items():
            send_all(self.sqs, self.queue_url, run_ids, tenant=tenant)


@part
class RunWorker:
    """Calls the function that works on runs, and waits for what came of one.

    Attributes:
        client_for: returns a client of Lambda that waits for so many seconds, and tries once.
    """

    client_for: Any
    function: str

    def work(
        self, run: Run, *, seconds: int, places: Mapping[str, Any] | None = None
    ) -> tuple[Run, dict[str, Any] | None] | None:
        """Have a new run worked on; return it as it stands, with its answer.

        Args:
            places: which the worker gives back if it lasts longer.

        Returns:
            None where it did not answer in time, or failed: it may be at it still.
        """
        handed = {"run": run.model_dump(mode="json", exclude_none=True)}
        payload = json.dumps(handed if places is None else {**handed, "places": places})
        try:
            answer = self.client_for(seconds).invoke(
                FunctionName=self.function,
                InvocationType="RequestResponse",
                Payload=payload.encode(),
            )
            content: bytes = answer["Payload"].read()
        except REFUSALS as error:
            logger.warning("no answer of the worker", run_id=run.id, reason=type(error).__name__)
            return None
        if answer.get("FunctionError"):
            logger.warning("the worker failed", run_id=run.id, reason=answer["FunctionError"])
            return None
        found = parse_document(content, most_values=_MOST_VALUES)
        return Run.model_validate(found["run"]), found["output"]
