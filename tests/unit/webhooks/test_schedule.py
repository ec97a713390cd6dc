from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.webhooks.delivering import (
    DISABLED_AFTER,
    failing_since,
    is_given_up,
    next_attempt,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
BEFORE = NOW - timedelta(days=1)


def test_attempts_are_made_after_5_s_5_min_30_min_2_h_5_h_and_10_h_and_no_more() -> None:
    waits = []
    failed = 1
    while (due := next_attempt(failed, NOW)) is not None:
        waits.append((due - NOW).total_seconds())
        failed += 1
    assert waits == [5, 300, 1_800, 7_200, 18_000, 36_000]
    assert next_attempt(8, NOW) is None


@pytest.mark.parametrize(
    ("before", "succeeded", "failed", "after"),
    [
        (None, 0, 0, None),
        (None, 1, 0, None),
        (None, 0, 1, NOW),
        (None, 1, 1, None),
        (BEFORE, 0, 0, BEFORE),
        (BEFORE, 0, 3, BEFORE),
        (BEFORE, 1, 3, None),
    ],
)
def test_failing_begins_with_a_failure_and_ends_with_a_success(
    before: datetime | None, succeeded: int, failed: int, after: datetime | None
) -> None:
    assert failing_since(before, NOW, succeeded=succeeded, failed=failed) == after


def test_five_days_of_failure_are_enough() -> None:
    assert timedelta(days=5) == DISABLED_AFTER
    assert not is_given_up(None, NOW)
    assert not is_given_up(NOW, NOW + DISABLED_AFTER - timedelta(seconds=1))
    assert is_given_up(NOW, NOW + DISABLED_AFTER)
