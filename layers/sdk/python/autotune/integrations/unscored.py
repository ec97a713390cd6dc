"""What has no score: logged, counted, and never turned into a reward."""

import logging
import threading
from collections import Counter
from collections.abc import Sequence

from autotune.client.errors import AutotuneError
from autotune.protocol.completions import CompletionVerdict

_logger = logging.getLogger("autotune.integrations")


class NotScoredError(AutotuneError):
    """There is no score, and the trainer has no way to leave the rollout out.

    It is no ``TimeoutError``, which verl's reward manager would turn into a reward of 0.
    """

    @classmethod
    def of(cls, verdict: CompletionVerdict) -> "NotScoredError":
        """Name the completion and why it has no score."""
        return cls(f"{verdict.completion_id} was not scored: {reason_of(verdict)}")


def reward_of(verdict: CompletionVerdict) -> float | None:
    """Return the score, 0 to 1; None for what is abstained, failed, canceled or still pending."""
    if verdict.state == "scored" and verdict.score is not None:
        return verdict.score.value
    return None


def required_reward(verdict: CompletionVerdict) -> float:
    """Return the score, 0 to 1.

    Raises:
        NotScoredError: there is none.
    """
    reward = reward_of(verdict)
    if reward is None:
        raise NotScoredError.of(verdict)
    return reward


def reason_of(verdict: CompletionVerdict) -> str:
    """Return why there is no score, such as ``abstained`` or ``failed (grader_timeout)``."""
    return f"{verdict.state} ({verdict.reason_code})" if verdict.reason_code else verdict.state


class UnscoredCounter:
    """Counts what was not scored by reason, and logs it; safe to share between threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, verdicts: Sequence[CompletionVerdict]) -> None:
        """Count the verdicts of one call, and log a warning if any of them is no score."""
        found = Counter(reason_of(one) for one in verdicts if reward_of(one) is None)
        if not found:
            return
        with self._lock:
            self._counts += found
        reasons = ", ".join(f"{count} {reason}" for reason, count in found.most_common())
        _logger.warning(
            "%d of %d rollouts have no score: %s", found.total(), len(verdicts), reasons
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many so far, by reason."""
        with self._lock:
            return dict(self._counts)
