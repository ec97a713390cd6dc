"""Events on the wire."""

from typing import Literal

EventType = Literal["score.completed", "batch.completed", "grader.status_changed"]
"""What organisations can be told of."""
