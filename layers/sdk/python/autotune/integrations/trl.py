"""Reward functions for TRL's online trainers (GRPO, RLOO and those built on them).

Read against TRL 1.16.0, ``trl/trainer/grpo_trainer.py``: ``_calculate_rewards`` calls
``reward_func(prompts=…, completions=…, completion_ids=…, **columns)`` with lists of one length and
expects ``list[float | None]``; prompts and completions are texts, or lists of messages. Coroutine
functions are gathered on a loop of the trainer's own. None becomes NaN: a completion that no
reward function scored is left out of its group's baseline and gets an advantage of 0.

Example:
    >>> from trl import GRPOTrainer
    >>> from autotune.integrations.trl import AutotuneReward
    >>> trainer = GRPOTrainer(
    ...     model="Qwen/Qwen3-0.6B",
    ...     reward_funcs=AutotuneReward(task_id="task_…", metadata=["answer"]),
    ...     train_dataset=dataset,
    ... )
"""

from collections.abc import Sequence
from typing import Any, Unpack

from autotune.integrations.rollouts import Conversation, rollouts_of
from autotune.integrations.scoring import AsyncScorer, Scorer
from autotune.integrations.settings import ScoringOptions, find_settings

_NOT_SCORED = "autotune/not_scored"


class AutotuneReward:
    """A reward function that blocks while Autotune scores.

    Attributes:
        scorer: counts what was not scored, by reason, in ``unscored``.
    """

    def __init__(self, *, metadata: Sequence[str] = (), **options: Unpack[ScoringOptions]) -> None:
        """Complete the options from the environment; nothing is sent yet.

        Args:
            metadata: columns of the data set that the grader gets with each completion.
            options: see ``ScoringOptions``.

        Raises:
            ConfigurationError: no task is named, or a setting is out of its range.
        """
        self.scorer = Scorer(find_settings(**options))
        self._metadata = tuple(metadata)

    def __call__(
        self,
        prompts: Sequence[str | Conversation],
        completions: Sequence[str | Conversation],
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward from 0 to 1 for each completion, None for what was not scored.

        Raises:
            ConfigurationError: a column that ``metadata`` names is missing.
            AutotuneError: the API refused, or could not be reached.
        """
        rewards = self.scorer.rewards(rollouts_of(prompts, completions, columns, self._metadata))
        _log_share(rewards, columns)
        return rewards


class AsyncAutotuneReward:
    """A reward function as a coroutine: TRL awaits several of them together.

    Attributes:
        scorer: counts what was not scored, by reason, in ``unscored``.
    """

    def __init__(self, *, metadata: Sequence[str] = (), **options: Unpack[ScoringOptions]) -> None:
        """Complete the options as ``AutotuneReward`` does."""
        self.scorer = AsyncScorer(find_settings(**options))
        self._metadata = tuple(metadata)

    async def __call__(
        self,
        prompts: Sequence[str | Conversation],
        completions: Sequence[str | Conversation],
        **columns: Any,
    ) -> list[float | None]:
        """Return rewards as ``AutotuneReward`` does."""
        rollouts = rollouts_of(prompts, completions, columns, self._metadata)
        rewards = await self.scorer.rewards(rollouts)
        _log_share(rewards, columns)
        return rewards


def _log_share(rewards: Sequence[float | None], columns: dict[str, Any]) -> None:
    """Log the share without a score among TRL's own metrics, where it takes any."""
    log_metric = columns.get("log_metric")
    if log_metric is not None and rewards:
        log_metric(_NOT_SCORED, rewards.count(None) / len(rewards))
