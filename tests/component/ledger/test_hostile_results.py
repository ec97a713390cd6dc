"""Results of a provider that means harm take no more bytes and no more work than others."""

from collections.abc import Iterator
from typing import Any

import pytest

from autotune_platform.ledger.batching import fetching
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from tests.component.ledger.test_jobs import MODELS, connect
from tests.support.ledger import Ledger

MOST_BYTES = 1_000_000
PART = b"x" * 100_000


def enqueue(ledger: Ledger) -> Any:
    return ledger.enqueue(connect(ledger, "openai"), "q", model=MODELS["openai"])


def test_results_without_end_are_given_up_at_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []

    def endless(*_: Any) -> Iterator[bytes]:
        sent.append(0)
        while True:
            sent[-1] += len(PART)
            assert sent[-1] <= 2 * MOST_BYTES, "nobody stops reading"
            yield PART

    monkeypatch.setattr(OpenAiJobs, "fetch", endless)
    monkeypatch.setattr(fetching, "MOST_RESULT_BYTES", MOST_BYTES)
    (request_id,) = enqueue(ledger)
    ledger.run_jobs()
    found = ledger.read(request_id)
    assert (found["status"], found["error"]["code"]) == ("error", "result_missing")
    # Once in each attempt: another try would be as large.
    assert sent == [MOST_BYTES + len(PART)] * len(found["attempts"])
    assert ledger.spent_and_reserved("day")[1] == 0


def test_the_bound_leaves_room_for_a_row_that_answers_as_much_as_it_may(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch = OpenAiJobs.fetch

    def longer(*of: Any) -> Iterator[bytes]:
        yield b"y" * 13_000_000 + b"\n"
        yield from fetch(*of)

    monkeypatch.setattr(OpenAiJobs, "fetch", longer)
    (request_id,) = enqueue(ledger)
    ledger.run_jobs()
    assert ledger.read(request_id)["status"] == "completed"


@pytest.mark.parametrize("line", [b"\n", b"{}\n"], ids=["empty", "of nobody"])
def test_any_number_of_lines_of_nobody_is_few_reads(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    fetch, lines = OpenAiJobs.fetch, JobFiles.lines
    reads: list[int] = []

    def padded(*of: Any) -> Iterator[bytes]:
        yield line * 250_000
        yield from fetch(*of)

    def counted(*of: Any) -> Iterator[tuple[int, bytes | None]]:
        reads.append(of[-1])
        return lines(*of)

    monkeypatch.setattr(OpenAiJobs, "fetch", padded)
    monkeypatch.setattr(JobFiles, "lines", counted)
    (request_id,) = enqueue(ledger)
    ledger.run_jobs()
    assert ledger.read(request_id)["status"] == "completed"
    assert reads == sorted(set(reads))
    assert len(reads) == 3


@pytest.mark.parametrize("number", [2, 9])
def test_a_line_of_another_attempt_does_not_take_the_place_of_the_rows_own(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fetch = OpenAiJobs.fetch

    def with_others_first(*of: Any) -> Iterator[bytes]:
        results = b"".join(fetch(*of))
        yield results.replace(b'x1"', f'x{number}"'.encode()).replace(b"fine", b"of another")
        yield results

    monkeypatch.setattr(OpenAiJobs, "fetch", with_others_first)
    ledger.fake.world.answers.answerer = lambda _: "fine"
    (request_id,) = enqueue(ledger)
    ledger.run_jobs()
    found = ledger.read(request_id)
    assert (found["status"], len(found["attempts"])) == ("completed", 1)
    assert found["rawOutput"].endswith("fine")
    assert len(ledger.fake.world.executions) == 1
