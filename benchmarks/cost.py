"""What scoring a million completions costs on AWS: counted on the wire, priced by a dated table."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.boundary import Counted
from benchmarks.emulator import Worked, until_quiet
from benchmarks.stand import CountedStand
from benchmarks.texts import completions

_PRICES = Path(__file__).parent / "prices.json"
_MILLION = 1_000_000
_TEXT_BYTES = 2_048
_WAIT_SECONDS = 600
_CONCURRENCY = 4
_WARM_UP_BATCHES = 4
_QUIET_SECONDS = 4.0
# Lambda traces one request a second, and of the others one in twenty.
_TRACED_SHARE = 0.05
# Of each invocation from a queue, Lambda itself receives once and deletes once.
_REQUESTS_OF_A_POLLER = 2


@dataclass(frozen=True)
class Position:
    """One kind of thing that AWS bills.

    Attributes:
        quantity: for the whole of a measurement.
        usd_per_million: for a million of what was measured.
    """

    name: str
    quantity: float
    usd_per_million: float


@dataclass(frozen=True)
class Cost:
    """What one measurement came to: of completions, or of requests to a language model."""

    batch_size: int
    count: int
    positions: list[Position]
    counted: Counted
    worked: Worked

    @property
    def usd_per_million(self) -> float:
        """All positions together."""
        return sum(position.usd_per_million for position in self.positions)

    def as_json(self) -> dict[str, Any]:
        """Return everything that was counted."""
        return {
            "batchSize": self.batch_size,
            "count": self.count,
            "usdPerMillion": round(self.usd_per_million, 4),
            "positions": [
                {
                    "name": position.name,
                    "each": round(position.quantity / self.count, 5),
                    "usdPerMillion": round(position.usd_per_million, 4),
                }
                for position in self.positions
            ],
            "calls": dict(self.counted.calls.most_common()),
            "writeUnits": dict(self.counted.writes.most_common()),
            "readUnits": {
                table: halves / 2 for table, halves in self.counted.half_reads.most_common()
            },
            "invocations": dict(self.worked.invocations.most_common()),
            "milliseconds": dict(self.worked.milliseconds.most_common()),
        }


@cache
def prices() -> Mapping[str, float]:
    """Return USD by kind of thing, from the dated table."""
    table = json.loads(_PRICES.read_text())["prices"]
    return {name: entry["usd"] for name, entry in table.items()}


def measure(stand: CountedStand, task_id: str, *, batch_size: int, count: int) -> Cost:
    """Submit completions in batches, wait for each batch's verdicts as the SDK does, and count.

    Everything is counted that is asked of AWS until nothing more follows: the submission, the
    scoring, the events and statistics that follow from it, the audit log, and the waiting.
    """
    _score(stand, task_id, batch_size=batch_size, count=batch_size * _WARM_UP_BATCHES)
    return priced(
        stand,
        lambda: _score(stand, task_id, batch_size=batch_size, count=count),
        batch_size=batch_size,
        count=count,
    )


def priced(stand: CountedStand, work: Callable[[], None], *, batch_size: int, count: int) -> Cost:
    """Count and price all that is asked of AWS from the beginning of some work until it is quiet.

    Args:
        count: by how many the costs are divided.
    """
    _until_quiet(stand)
    before, started = stand.proxy.counted(), datetime.now(UTC)
    work()
    _until_quiet(stand)
    counted = stand.proxy.counted().since(before)
    worked = stand.emulator.worked(started)
    return Cost(
        batch_size=batch_size,
        count=count,
        positions=list(_positions(counted, worked, count)),
        counted=counted,
        worked=worked,
    )


def _score(stand: CountedStand, task_id: str, *, batch_size: int, count: int) -> None:
    texts = completions(task_id, count, text_bytes=_TEXT_BYTES)
    scored = 0
    with stand.client() as client:
        batches = client.completions.submit_many(
            texts, batch_size=batch_size, concurrency=_CONCURRENCY
        )
        for batch in batches:
            scored += client.batches.wait(batch.batch_id, timeout=_WAIT_SECONDS).counts.scored
    if scored != count:
        message = f"{scored} of {count} completions were scored: there is nothing to be priced"
        raise RuntimeError(message)


def _until_quiet(stand: CountedStand) -> None:
    until_quiet(
        stand.proxy.calls,
        seconds=_QUIET_SECONDS,
        limit_seconds=_WAIT_SECONDS,
    )


def _positions(counted: Counted, worked: Worked, count: int) -> Iterator[Position]:
    invocations = worked.invocations.total()
    quantities = {
        "dynamodb_write_unit": counted.writes.total(),
        "dynamodb_read_unit": counted.half_reads.total() / 2,
        "states_transition": worked.transitions,
        "lambda_gigabyte_second": worked.gigabyte_seconds,
        "lambda_request": invocations,
        "http_api_request": counted.api_units,
        "sqs_request": counted.queue_units
        + _REQUESTS_OF_A_POLLER
        * (worked.invocations["DispatchChunks"] + worked.invocations["DeliverEvents"]),
        "kms_request": _calls(counted, "kms."),
        "s3_put": counted.calls["s3.PUT"],
        "s3_get": counted.calls["s3.GET"] + counted.calls["s3.HEAD"],
        "log_gigabyte": worked.log_bytes / 1e9,
        "xray_trace": invocations * _TRACED_SHARE,
    }
    for name, quantity in quantities.items():
        usd = quantity * prices()[name] / count * _MILLION
        yield Position(name=name, quantity=quantity, usd_per_million=usd)


def _calls(counted: Counted, service: str) -> int:
    return sum(number for name, number in counted.calls.items() if name.startswith(service))
