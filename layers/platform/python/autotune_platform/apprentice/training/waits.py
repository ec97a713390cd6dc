"""How long an execution waits between two looks at what SageMaker does for it."""

from typing import Final

SHORTEST_WAIT_S: Final = 30
LONGEST_WAIT_S: Final = 600
"""How long to wait before something is looked at again: a sixtieth of its age, within these.

An execution may have 25,000 events, and a look has nine
(``tests/unit/apprentice/test_training_waits.py``).
"""


def wait_seconds(age_seconds: float) -> int:
    """Return how long to wait before a job or a hosting of some age is looked at again."""
    return min(LONGEST_WAIT_S, max(SHORTEST_WAIT_S, int(age_seconds / 60)))
