"""What the synthetic store answers is what the platform would find in a table that it filled."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from autotune.protocol.grading import ScoreDimension
from autotune_platform.completions.models import Completion
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.storage.table import Table
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.repository import VerdictRepository
from autotune_platform.verdicts.score_index import Allowance, ScoreIndex, ScorePosition
from benchmarks import synthetic_scores as scores
from benchmarks.synthetic_store import SyntheticTable, _Handler, _Server
from tests.support.aws import make_resources
from tests.support.sessions import shared_session

COUNT = 1_203


def verdict(number: int) -> Verdict:
    """Build what the platform would have decided."""
    is_scored = scores.state(number) == "scored"
    when = scores.moments(number)
    return Verdict(
        completion_id=scores.completion_id(number),
        organization_id=scores.ORGANIZATION,
        batch_id=f"bat_{number // 100:026d}",
        index=number % 100,
        task_id=scores.TASK,
        model_id=scores.model_id(number),
        grader_id=scores.GRADER,
        grader_version=scores.VERSION,
        state=scores.state(number),
        value=scores.value(number) if is_scored else None,
        confidence=scores.confidence(number) if is_scored else None,
        dimensions=[
            ScoreDimension(name="correctness", value=scores.value(number), weight=0.75),
            ScoreDimension(name="style", value=scores.confidence(number), weight=0.25),
        ]
        if is_scored
        else None,
        reason_code="grader_timeout" if scores.state(number) == "failed" else None,
        grader_latency_ms=100 + number % 900 if is_scored else None,
        attempts=1,
        submitted_at=when.submitted,
        decided_at=when.decided,
    )


def completion(number: int) -> Completion:
    return Completion(
        id=scores.completion_id(number),
        organization_id=scores.ORGANIZATION,
        batch_id=f"bat_{number // 100:026d}",
        index=number % 100,
        task_id=scores.TASK,
        model_id=scores.model_id(number),
        grader_id=scores.GRADER,
        grader_version=scores.VERSION,
        share_identity=False,
        created_at=scores.moments(number).submitted,
        prompt=scores.prompt(number),
        response=scores.response(number),
        metadata=scores.metadata(number),
    )


@pytest.fixture(scope="module")
def real() -> Iterator[Table]:
    """A table that the platform's own repositories filled."""
    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        make_resources(admit_private=False)
        table = Table("completions", shared_session().client("dynamodb"))
        completions = CompletionRepository(table=table, bucket="content", s3=boto3.client("s3"))
        completions.add_all(
            completion(number) for number in range(COUNT) if scores.has_text(number)
        )
        verdicts = VerdictRepository(table)
        for number in range(COUNT):
            assert verdicts.add(verdict(number))
        yield table


@pytest.fixture(scope="module")
def synthetic() -> Iterator[Table]:
    """A table that is computed, reached over HTTP by a real client."""
    with served(SyntheticTable(COUNT)) as address:
        yield Table(
            "completions",
            boto3.client(
                "dynamodb",
                endpoint_url=address,
                region_name="us-east-1",
                aws_access_key_id="test",
                aws_secret_access_key="test",
            ),
        )


@contextmanager
def served(table: SyntheticTable) -> Iterator[str]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.table = table
        server.onward = "127.0.0.1:9"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def walk(table: Table, limit: int, filters: ScoreFilters) -> list[Verdict]:
    found: list[Verdict] = []
    start: ScorePosition | None = ScorePosition(scores.TASK)
    while start is not None:
        page, start = ScoreIndex(table).page(
            filters, start=start, limit=limit, allowance=Allowance()
        )
        if start is not None:
            start = ScorePosition.from_token(start.token())
        found += page
    return found


@pytest.mark.parametrize("limit", [100, 400, 2_000])
def test_a_walk_through_the_index_finds_the_same(real, synthetic, limit):
    filters = ScoreFilters(task_id=scores.TASK)
    found = walk(synthetic, limit, filters)
    assert len(found) == COUNT
    assert found == walk(real, limit, filters)


def test_a_range_of_time_finds_the_same(real, synthetic):
    first = datetime.fromisoformat(scores.moments(0).decided)
    for start, end in ((5, 20), (0, 7), (40, 4_000), (-9, 1)):
        filters = ScoreFilters(
            task_id=scores.TASK,
            start=first + timedelta(seconds=start),
            end=first + timedelta(seconds=end),
        )
        assert walk(synthetic, 50, filters) == walk(real, 50, filters)


def test_items_are_the_same_to_the_last_attribute(real, synthetic):
    numbers = [0, 1, 17, 42, 501, 999, 1_202, 5_000]
    keys = [
        (scores.completion_id(number), sort_key)
        for number in numbers
        for sort_key in ("content", scores.verdict_sort_key(), "other")
    ]
    found = synthetic.get_many(keys)
    assert len(found) == 7 + 6
    assert found == real.get_many(keys)


def test_what_it_cannot_compute_is_refused(synthetic):
    with pytest.raises(Exception, match="ValidationException"):
        walk(synthetic, 100, ScoreFilters(task_id=scores.TASK, min_score=0.5))


def test_texts_are_of_one_to_two_kilobytes_and_four_share_a_prompt():
    sizes = [len(scores.prompt(n)) + len(scores.response(n)) for n in range(0, 5_000, 7)]
    assert min(sizes) > 1_000
    assert max(sizes) < 2_000
    assert scores.prompt(4) == scores.prompt(7) != scores.prompt(8)
    assert len({scores.response(n) for n in range(2_000)}) == 2_000


def test_nothing_is_decided_after_now():
    assert datetime.fromisoformat(scores.moments(10_000_000).decided) < datetime.now(UTC)
