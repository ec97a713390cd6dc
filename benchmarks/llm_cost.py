"""What a million requests to a language model cost on AWS, beside what the provider takes.

They go in one batch job to the fake of a provider on loopback, which asks no price of AWS. The fake
has its answers at once. A provider may take a day, and the job is looked at meanwhile: what a look
costs is measured apart, and is paid as often as the product looks.
"""

import time
from dataclasses import dataclass
from datetime import timedelta

from autotune_platform.ledger.timings import Timings
from benchmarks.cost import Cost, priced
from benchmarks.llm_provider import provider, run_for
from benchmarks.stand import CountedStand
from benchmarks.texts import answer, prompts

MODEL = "gpt-5-mini"
_KEY = "fake-key"
_INPUT_BYTES, _OUTPUT_BYTES = 2_048, 1_024
_MOST_TOKENS = 400
_WAIT_SECONDS = 1_500
_POLL_SECONDS = 5
_FEW_ROWS = 20
_WORKER = "WorkLlmBatch"
_DAY = timedelta(hours=24)
_RUN_SECONDS, _LONG_RUN_SECONDS = 20, 140
# Beyond that: until the job is made, and its results have come home.
_SPARE_SECONDS = 20
_OFTEN = {"poll_least_seconds": 10, "poll_most_seconds": 60}
_MILLION = 1_000_000

ROWS_OF_A_JOB = 10_000
"""As many as a connection's jobs have that says nothing else."""


@dataclass(frozen=True)
class Looks:
    """Looks at a job that takes its provider a day.

    Attributes:
        usd_each: what one costs.
        measured: how many were made for that.
        in_a_day: how many there are, by the product's own waits.
    """

    usd_each: float
    measured: int
    in_a_day: int

    def usd_per_million(self, rows: int) -> float:
        """What they come to for a million requests in jobs of so many."""
        return self.usd_each * self.in_a_day / rows * _MILLION


def looks_within(age: timedelta, timings: Timings) -> int:
    """Return how often a job is looked at until it is of an age."""
    looks, at = 0, timedelta(seconds=timings.poll_least_seconds)
    while at < age:
        looks, at = looks + 1, at + timedelta(seconds=timings.poll_after(at))
    return looks


def measure(stand: CountedStand, *, rows: int) -> tuple[Cost, Looks]:
    """Price requests in one batch job, and looks at a job that takes longer.

    Everything is counted that is asked of AWS: enqueuing, the batch and its polls, the answers and
    what they cost, and the looks of whoever waits; not the reading of answers.

    Raises:
        RuntimeError: nothing came of what was to be priced.
    """
    # One fake for all of it: another would give its jobs names that belong to batches by now.
    with provider(answer(_OUTPUT_BYTES)) as url:
        looks = _looks(stand, url)
        run_for(url, _RUN_SECONDS)
        return priced(stand, lambda: _ask(stand, url, rows), batch_size=rows, count=rows), looks


def _looks(stand: CountedStand, url: str) -> Looks:
    """Price looks: two small jobs that are alike, but that one of them is looked at more often."""

    def looked_at(seconds: float) -> Cost:
        run_for(url, seconds)
        pause = seconds + _SPARE_SECONDS
        return priced(
            stand,
            lambda: _ask(stand, url, _FEW_ROWS, pause=pause, **_OFTEN),
            batch_size=_FEW_ROWS,
            count=1,
        )

    looked_at(_RUN_SECONDS)  # functions are warm from then on
    short, long = looked_at(_RUN_SECONDS), looked_at(_LONG_RUN_SECONDS)
    more = long.worked.invocations[_WORKER] - short.worked.invocations[_WORKER]
    if more <= 0:
        message = "the job that took longer was not looked at more often"
        raise RuntimeError(message)
    dearer = (long.usd_per_million - short.usd_per_million) / _MILLION
    return Looks(usd_each=dearer / more, measured=more, in_a_day=looks_within(_DAY, Timings()))


def _ask(stand: CountedStand, url: str, rows: int, *, pause: float = 0, **timings: int) -> None:
    """Enqueue requests, and wait for the answers.

    Args:
        pause: for so many seconds nobody asks whether they are there.
        timings: of the connection.
    """
    with stand.client() as client:
        connection = client.llm.connections.create(
            name="fake",
            provider="openai",
            base_url=f"{url}/v1",
            api_key=_KEY,
            batches="always",
            min_rows=min(rows, 10_000),
            max_rows=rows,
            timings=timings or None,
        )
        client.llm.enqueue(
            {
                "connectionId": connection.id,
                "purpose": "scoring",
                "model": MODEL,
                "input": {"user": prompt},
                "params": {"maxTokens": _MOST_TOKENS},
                "verdict": {"type": "label", "labels": ["good", "bad"]},
            }
            for prompt in prompts(rows, text_bytes=_INPUT_BYTES)
        )
        time.sleep(pause)
        deadline = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < deadline:
            found = [one for one in client.llm.batches.list() if one.connection_id == connection.id]
            if sum(one.counts.completed for one in found) == rows:
                return
            time.sleep(_POLL_SECONDS)
    message = f"not all of {rows} requests were answered: there is nothing to be priced"
    raise RuntimeError(message)
