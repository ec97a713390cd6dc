from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from autotune_platform.outbound.http import retry_after_seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("7", 7), ("900", 900), ("86400", 900), ("9" * 30, 900)],
)
def test_seconds_are_taken_up_to_a_quarter_of_an_hour(value: str, seconds: int) -> None:
    assert retry_after_seconds(value, longest=900) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "-5",
        "1.5",
        "٣",
        "Thu, 99 Foo 2026",
        "Wed, 21 Oct 2999 07:28:00 +99999999999999999999",
    ],
)
def test_what_cannot_be_read_asks_for_nothing(value: str) -> None:
    assert retry_after_seconds(value, longest=900) == 0


def test_a_date_is_told_in_seconds_from_now() -> None:
    later = datetime.now(UTC) + timedelta(seconds=60)
    assert 57 <= retry_after_seconds(format_datetime(later, usegmt=True), longest=900) <= 60
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT", longest=900) == 0
    assert retry_after_seconds("Wed, 21 Oct 2999 07:28:00 -0000", longest=900) == 900
