"""Which judge a kind of grader has: the one place that chooses."""

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.protocol.graders import GraderKind
from autotune_platform.gateway.models import Grader
from autotune_platform.judging.judge import Judge


@dataclass(frozen=True)
class Judges:
    """The judges of one process, by kind of grader."""

    by_kind: Mapping[GraderKind, Judge]

    def of(self, grader: Grader) -> Judge:
        """Return the judge that asks a grader."""
        return self.by_kind[grader.kind]
