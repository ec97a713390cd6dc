"""Which judge a kind of grader has: the one place that chooses."""

from collections.abc import Mapping

from autotune.protocol.graders import GraderKind
from autotune_platform.gateway.models import Grader
from autotune_platform.judging.judge import Judge


class Judges:
    """The judges of one process, by kind of grader."""

    def __init__(self, judges: Mapping[GraderKind, Judge]) -> None:
        self._judges = judges

    def of(self, grader: Grader) -> Judge:
        """Return the judge that asks a grader."""
        return self._judges[grader.kind]
