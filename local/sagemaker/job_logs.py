"""What jobs and hosts print, in CloudWatch Logs as well: ``make logs`` shows it with the rest."""

import logging
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local.sagemaker.records import now

_MOST_LINES = 1000  # of one call; CloudWatch takes 10,000
_MOST_CHARACTERS = 4000

logger = logging.getLogger(__name__)


class LogStream:
    """A file's lines, sent as they come.

    Args:
        file: What is printed; it may not be there yet.
        group: Of CloudWatch Logs, such as ``/aws/sagemaker/TrainingJobs``.
        stream: Its stream.
    """

    def __init__(self, file: Path, *, group: str, stream: str) -> None:
        self._file = file
        self._group = group
        self._stream = stream
        self._sent = 0
        self._client: Any = None

    def send(self, *, all_of_it: bool = False) -> None:
        """Send lines that are complete; an outage of the logs is no fault of the job.

        Args:
            all_of_it: Whether a last line counts that has no end.
        """
        if not self._file.exists():
            return
        with self._file.open("rb") as opened:
            opened.seek(self._sent)
            fresh = opened.read()
        complete = fresh if all_of_it else fresh[: fresh.rfind(b"\n") + 1]
        lines = [line for line in complete.decode(errors="replace").splitlines() if line.strip()]
        if lines:
            try:
                self._put(lines)
            except (ClientError, BotoCoreError) as error:
                logger.warning("lines of %s are in its file alone: %s", self._stream, error)
        self._sent += len(complete)

    def _put(self, lines: list[str]) -> None:
        client = self._opened()
        for at in range(0, len(lines), _MOST_LINES):
            client.put_log_events(
                logGroupName=self._group,
                logStreamName=self._stream,
                logEvents=[
                    {"timestamp": int(now() * 1000), "message": line[:_MOST_CHARACTERS]}
                    for line in lines[at : at + _MOST_LINES]
                ],
            )

    def _opened(self) -> Any:
        if self._client is None:
            config = Config(
                connect_timeout=2, read_timeout=10, proxies={}, retries={"total_max_attempts": 1}
            )
            client = boto3.session.Session().client("logs", config=config)
            taken = client.exceptions.ResourceAlreadyExistsException
            for create, names in (
                (client.create_log_group, {"logGroupName": self._group}),
                (
                    client.create_log_stream,
                    {"logGroupName": self._group, "logStreamName": self._stream},
                ),
            ):
                try:
                    create(**names)
                except taken:
                    continue
            self._client = client
        return self._client
