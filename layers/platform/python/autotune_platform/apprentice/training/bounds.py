"""Jobs that cost more than was set aside for them, as they were billed for too long a time."""

from typing import Final

from aws_lambda_powertools import Logger

logger = Logger()

ABOVE_BOUND: Final = "a job cost more than its bound"
"""What the log says of one; an alarm counts it, as its task begins no further one."""


def tell_if_above(job: str, *, reserved_nano_usd: int, spent_nano_usd: int) -> None:
    """Log a job that cost more than was set aside for it."""
    if spent_nano_usd > reserved_nano_usd:
        logger.error(ABOVE_BOUND, job=job, reserved=reserved_nano_usd, spent=spent_nano_usd)
