"""What a batch was charged by our books, compared with what its provider reports of the whole job.

Tokens have to be the same. The cost may be off by a nano-USD for each row, because each is rounded.
What was charged at its bound, because nobody said what it used, may have used anything up to that:
so much less may be reported, and no more.
"""

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from autotune_platform.ledger.job_states import JobEnd
from autotune_platform.ledger.models import Batch, Row
from autotune_platform.ledger.prices import most_input_tokens
from autotune_platform.ledger.usage import Difference, Usage

logger = Logger()

DIFFERS = "a batch was charged otherwise than its provider reports"
"""What the log says of a batch whose difference nothing explains; an alarm counts it."""

ABOVE_BOUND = "a request cost more than its bound"
"""What the log says of a row that was charged more than was reserved; an alarm counts it."""


@dataclass
class Booked:
    """What rows of a batch used and cost in it; costs are in nano-USD.

    Attributes:
        rows: attempts that are over.
        assumed_rows: those of them that were charged at their bound.
        assumed_input_tokens: what these can have used at most; the sums hold it too, as they hold
            the other two that are assumed.
        above_bound: rows whose usage cost more than what was reserved for it.
    """

    rows: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    assumed_rows: int = 0
    assumed_input_tokens: int = 0
    assumed_output_tokens: int = 0
    assumed_cost: int = 0
    above_bound: int = 0

    def add(self, row: Row, batch_id: str) -> None:
        """Add the attempt of a row in a batch, if it had one."""
        tried = next((one for one in row.attempts if one.batch_id == batch_id), None)
        if tried is None:
            return
        cost = tried.cost_nano_usd or 0
        self.rows += 1
        self.cost += cost
        # The usage of a row is that of its last attempt, which may be in another batch by now.
        used = row.usage if row.batch_id == batch_id else None
        if used is not None and not used.assumed:
            self.input_tokens += used.input_tokens
            self.cached_input_tokens += used.cached_input_tokens
            self.output_tokens += used.output_tokens
            self.above_bound += cost > row.bound_nano_usd
        elif used is not None or cost or not row.bound_nano_usd:
            self._assume(row, cost)

    def _assume(self, row: Row, cost: int) -> None:
        most_input = most_input_tokens(row.input_bytes, row.messages)
        self.input_tokens += most_input
        self.output_tokens += row.max_tokens
        self.assumed_rows += 1
        self.assumed_input_tokens += most_input
        self.assumed_output_tokens += row.max_tokens
        self.assumed_cost += cost


def check_bound(row: Row, charge: int, usage: Usage) -> None:
    """Say in the log where a row is charged more than its bound; it is charged all the same."""
    if charge > row.bound_nano_usd:
        logger.error(
            ABOVE_BOUND,
            request_id=row.id,
            batch_id=row.batch_id,
            connection_id=row.connection_id,
            model=row.model,
            charged_nano_usd=charge,
            bound_nano_usd=row.bound_nano_usd,
            most_input_tokens=most_input_tokens(row.input_bytes, row.messages),
            max_tokens=row.max_tokens,
            usage=usage.model_dump(exclude_defaults=True),
        )


def difference(batch: Batch, booked: Booked) -> Difference | None:
    """Return what a provider reports of a batch's job less what was booked; None if it does not."""
    end = batch.job.end if batch.job else None
    if end is None or (end.usage is None and end.cost_nano_usd is None):
        return None
    found = Difference(
        **_of_tokens(end, booked),
        cost_nano_usd=None if end.cost_nano_usd is None else end.cost_nano_usd - booked.cost,
        assumed_rows=booked.assumed_rows,
        within_tolerance=True,
    )
    return found.model_copy(update={"within_tolerance": _is_explained(found, booked)})


def is_charged_otherwise(batch: Batch) -> bool:
    """Return whether a person is to look at what a batch cost."""
    differs = batch.difference is not None and not batch.difference.within_tolerance
    return differs or batch.above_bound > 0


def _of_tokens(end: JobEnd, booked: Booked) -> dict[str, int | None]:
    if end.usage is None:
        return {}
    cached = end.usage.cached_input_tokens
    return {
        "input_tokens": end.usage.input_tokens - booked.input_tokens,
        "cached_input_tokens": None if cached is None else cached - booked.cached_input_tokens,
        "output_tokens": end.usage.output_tokens - booked.output_tokens,
    }


def _is_explained(found: Difference, booked: Booked) -> bool:
    explained = (
        (found.input_tokens, -booked.assumed_input_tokens, 0),
        # None of what is assumed counts as cached.
        (found.cached_input_tokens, 0, booked.assumed_input_tokens),
        (found.output_tokens, -booked.assumed_output_tokens, 0),
        (found.cost_nano_usd, -booked.assumed_cost - booked.rows, booked.rows),
    )
    return all(least <= (number or 0) <= most for number, least, most in explained)
