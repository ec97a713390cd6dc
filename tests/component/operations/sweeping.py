"""What tests of the sweeper have in common."""

from datetime import UTC, datetime, timedelta

from autotune.protocol.limits import MAX_DEADLINE_SECONDS
from functions.scoring import sweep_batches
from tests.support.clock import TurnedClock
from tests.support.graders import Exchange
from tests.support.platform import Platform

PAST = timedelta(seconds=MAX_DEADLINE_SECONDS + 1)
NOTHING = {"closed": 0, "redriven": 0, "failed": 0, "postponed": 0}


def past_the_deadline() -> None:
    """Let the sweeper's time be that at which no completion is in time any more."""
    made = sweep_batches.parts()
    made.sweeper.clock = made.recovery.clock = TurnedClock(PAST)


def opened() -> list[str]:
    """Return the batches that a sweep is to look at some day."""
    in_years = datetime.now(UTC) + timedelta(days=3_650)
    return list(sweep_batches.parts().completion_repository.due.due(in_years, limit=100))


def in_two_rounds(platform: Platform, task_id: str) -> str:
    """Decide a batch of three in two rounds, so that two lists have its verdicts; return its id."""
    accepted = platform.submit(task_id, {}, {"metadata": {"abstain": True}}, {}).json
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    for some in (run["completion_ids"][:1], run["completion_ids"][1:]):
        platform.grade({**run, "completion_ids": some, "remaining": len(some)})
    batch_id: str = accepted["batchId"]
    return batch_id


def rate_limited(exchange: Exchange) -> None:
    exchange.status = 429
    exchange.headers["retry-after"] = "600"
