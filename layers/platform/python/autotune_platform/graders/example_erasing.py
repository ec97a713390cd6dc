"""Erasing examples of published rubrics that were samples: their texts went with the sample.

What is asked has changed then, so that the grader has another version, and what was measured of the
one before calibrates it no more: whoever publishes it again has it measured.
"""

from collections.abc import Collection

from autotune.protocol.levels import without_examples
from autotune.protocol.rubrics import RubricConfiguration, RubricLevels
from autotune_platform.checks.rubrics import rubric_version, stored_rubric
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.repository import GraderRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 4


class RegisteredExamples:
    """Erases examples of the registry's graders."""

    def __init__(self, graders: GraderRepository, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._graders = graders
        self._clock = clock

    def erase(
        self, organization_id: str, grader_id: str, sample_ids: Collection[str] | None
    ) -> None:
        """Erase the texts of examples that were samples; again changes nothing.

        Args:
            sample_ids: of these; None for all that were samples.

        Raises:
            UnavailableError: others keep changing the grader.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            before = self._graders.get(grader_id)
            if before is None or before.organization_id != organization_id:
                return
            after = self._without(before, sample_ids)
            if after is None or self._graders.replace_with(before, after, events=[]):
                return
        raise UnavailableError("others are changing this grader", retry_after_seconds=1)

    def _without(self, grader: Grader, sample_ids: Collection[str] | None) -> Grader | None:
        if grader.rubric is None:
            return None
        configuration = RubricConfiguration.model_validate(grader.rubric)
        answer = configuration.answer
        if not isinstance(answer, RubricLevels):
            return None
        examples = without_examples(answer.examples, sample_ids)
        if examples == answer.examples:
            return None
        changed = configuration.model_copy(
            update={"answer": answer.model_copy(update={"examples": examples})}
        )
        return grader.model_copy(
            update={
                "rubric": stored_rubric(changed),
                "version": rubric_version(changed),
                "updated_at": self._clock.now(),
            }
        )
