"""``autotune llm enqueue``: a file of requests, enqueued once however often it is sent."""

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated

import typer

from autotune.cli import exit_codes
from autotune.cli.exit_codes import exit_code_of
from autotune.cli.invocation import Invocation, note
from autotune.cli.llm_rows import RowDefaults, RowFile, RowsFile
from autotune.cli.progress import CountProgress
from autotune.client import APIError, AutotuneError
from autotune.client.llm_enqueuing import EnqueuedRequests, enqueue_packed
from autotune.client.llm_packing import PackedRows, RowPacker
from autotune.client.submissions import submission_key
from autotune.protocol.llm_requests import EnqueueLlmRequests

# The client adds the place and the digest of each thousand, which covers options, too.
_KEY = "autotune-llm"


def enqueue(
    invocation: Invocation,
    *,
    file: RowsFile,
    defaults: RowDefaults,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Give a new name to enqueue the same lines once more, as new ones.",
        ),
    ] = None,
) -> None:
    """Enqueue a file of requests and print their ids, one a line.

    Every line is checked before anything is sent, and lines are sent up to 1,000 at a time. The
    same lines, options and --idempotency-key enqueue nothing the second time, so after Ctrl-C or an
    error run the same command again. A line that the server refuses keeps its thousand from being
    enqueued and those behind it; mend it, and leave those before it as they are.
    """
    with ExitStack() as kept:
        rows = RowFile(file, defaults, kept=kept)
        rows.check()
        progress = kept.enter_context(CountProgress("enqueued", len(rows.line_numbers)))
        sending = _Sending(invocation, rows, submission_key(idempotency_key or _KEY), progress)
        try:
            sending.send_all()
        except (AutotuneError, KeyboardInterrupt) as error:
            progress.print_line(sending.how_to_go_on(error))
            named = rows.naming_lines(error) if isinstance(error, APIError) else None
            if named is None:
                raise
            raise named from error
    note(f"{sending.count - sending.replayed} new, {sending.replayed} already enqueued")


class _Sending:
    """A file that is being enqueued, and how far that has come.

    Attributes:
        count: requests that are enqueued, now or before.
        replayed: those that were before.
    """

    def __init__(
        self, invocation: Invocation, rows: RowFile, key: str, progress: CountProgress
    ) -> None:
        self.count = 0
        self.replayed = 0
        self._invocation = invocation
        self._rows = rows
        self._key = key
        self._progress = progress
        self._answers: dict[int, EnqueuedRequests] = {}

    def send_all(self) -> None:
        """Send everything, and print the ids of each thousand once it is enqueued.

        What has its completeBy behind it is sent first: only the server knows whether it was
        enqueued in time by an earlier run, and where it was not, nothing else is sent.
        """
        if self._rows.overdue:
            for packed in self._packed():
                if self._is_overdue(packed):
                    self._answers[packed.index] = self._send(packed)
        for packed in self._packed():
            answer = self._answers.get(packed.index) or self._send(packed)
            self._show(packed, answer)

    def how_to_go_on(self, error: AutotuneError | KeyboardInterrupt) -> str:
        """Return what is enqueued, and that the same command goes on from there."""
        total = len(self._rows.line_numbers)
        enqueued = (
            f"{self.count} of {total} are enqueued, and their ids are printed; "
            if self.count
            else ""
        )
        if isinstance(error, KeyboardInterrupt) or exit_code_of(error) == exit_codes.UNAVAILABLE:
            return f"{enqueued}run the same command again to go on"
        if not self.count:
            return "nothing is enqueued; once this is mended, run the same command again"
        return (
            f"{enqueued}once this is mended, run the same command again to go on: what is enqueued "
            "is not enqueued twice, as long as its lines stay as they are"
        )

    def _packed(self) -> Iterator[PackedRows]:
        return RowPacker(most_values=EnqueueLlmRequests.most_values).pack(self._rows.rows())

    def _is_overdue(self, packed: PackedRows) -> bool:
        overdue = self._rows.overdue
        first = bisect_left(overdue, packed.offset)
        return first < len(overdue) and overdue[first] < packed.offset + packed.count

    def _send(self, packed: PackedRows) -> EnqueuedRequests:
        return self._invocation.client.llm.carry_out(enqueue_packed(packed, self._key))

    def _show(self, packed: PackedRows, answer: EnqueuedRequests) -> None:
        numbers = self._rows.line_numbers[packed.offset : packed.offset + packed.count]
        for line, request_id in zip(numbers, answer.request_ids, strict=True):
            if self._invocation.as_json:
                self._invocation.show_json({"requestId": request_id, "line": line})
            else:
                typer.echo(request_id)
        self.count += packed.count
        self.replayed += answer.replayed
        self._progress.show(self.count)
