"""The time of functions is turned while they run, and nobody else's."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from autotune.protocol import signing
from tests.chaos.turning import TurnedClock, when_all_turn

# A worker of a function finds what is installed for it once it has started.
FUNCTION = """
import sys
sys.path.insert(0, {layer!r})
from autotune_platform.runtime.clock import SYSTEM_CLOCK
for _ in sys.stdin:
    print(SYSTEM_CLOCK.now().isoformat(), SYSTEM_CLOCK.unix(), flush=True)
"""
LAYER = Path(__file__).parents[3] / "layers" / "platform" / "python"


def told(process: subprocess.Popen[str]) -> datetime:
    """Return what time a process says that it is."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(file=process.stdin, flush=True)
    moment, unix = process.stdout.readline().split()
    assert abs(float(unix) - datetime.fromisoformat(moment).timestamp()) < 30
    return datetime.fromisoformat(moment)


def test_a_process_has_the_time_that_it_is_turned_to(tmp_path: Path) -> None:
    clock = TurnedClock(tmp_path / "ahead")
    with subprocess.Popen(
        [sys.executable, "-c", FUNCTION.format(layer=str(LAYER))],
        env={**os.environ, **clock.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert abs(told(process) - datetime.now(UTC)) < timedelta(seconds=5)
        midnight = datetime(2027, 2, 1, tzinfo=UTC)
        clock.turn_to(midnight - timedelta(minutes=1))
        before = told(process)
        clock.advance(timedelta(minutes=2))
        after = told(process)
        process.kill()
    assert midnight - timedelta(minutes=1) <= before < midnight
    assert midnight + timedelta(minutes=1) <= after < midnight + timedelta(minutes=2)


def test_requests_are_signed_by_it(tmp_path: Path) -> None:
    clock = TurnedClock(tmp_path / "ahead")
    clock.turn_to(datetime(2027, 2, 1, tzinfo=UTC))
    with clock.signing():
        headers = signing.sign_grader_request(["secret"], request_id="req_1", body=b"")
    assert 0 <= int(headers[signing.TIMESTAMP_HEADER]) - clock.now().timestamp() + 60 < 120


def test_day_week_and_month_turn_at_once() -> None:
    assert when_all_turn(date(2026, 11, 28)) == datetime(2027, 2, 1, tzinfo=UTC)
    assert when_all_turn(date(2027, 1, 31)) == datetime(2027, 2, 1, tzinfo=UTC)
    assert when_all_turn(date(2027, 2, 1)) == datetime(2027, 3, 1, tzinfo=UTC)
