"""How long an execution waits between two looks at what SageMaker does for it."""

from typing import Final

SHORTEST_WAIT_S: Final = 30
"""Between two looks at what is young."""
LONGEST_WAIT_S: Final = 600
"""Between two looks at what is old."""


def wait_seconds(age_seconds: float) -> int:
    """Return how long to wait before a job or a hosting of some age is looked at again.

    It is a sixtieth of the age, within the two bounds: an execution may have 25,000 events, and a
    look has nine (``tests/unit/apprentice/test_training_waits.py``).
    """
    return min(LONGEST_WAIT_S, max(SHORTEST_WAIT_S, int(age_seconds / 60)))
