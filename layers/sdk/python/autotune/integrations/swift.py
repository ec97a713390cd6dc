r"""Outcome reward models (ORM) for GRPO in ms-swift.

Read against ms-swift 4.6.0, ``swift/rewards/orm.py``, ``swift/rl_core/grpo_algorithm.py`` and
``swift/rl_core/advantage.py``: a reward is called with ``completions`` and the data set's columns,
``messages`` among them, and may return None. But None is summed up as 0 in the advantages, save
with ``scale_rewards="gdpo"``, which gives it an advantage of 0 and leaves it out of its group's
mean. So these return None there, and elsewhere raise ``NotScoredError``.

Importing this module registers ``autotune`` and ``autotune_async`` in ``swift.rewards.orms``.

Example:
    A file ``plugin.py`` with ``import autotune.integrations.swift``, and then::

        AUTOTUNE_TASK_ID=task_… swift rlhf --rlhf_type grpo \
            --external_plugins plugin.py --reward_funcs autotune --scale_rewards gdpo …
"""

from collections.abc import Sequence
from typing import Any, Unpack

from swift.rewards import ORM, AsyncORM, orms

from autotune.integrations.rollouts import Conversation, rollouts_of
from autotune.integrations.scoring import AsyncScorer, Scorer
from autotune.integrations.settings import ScoringOptions, find_settings
from autotune.integrations.unscored import NotScoredError, required_reward, reward_of
from autotune.protocol.completions import CompletionVerdict


class AutotuneORM(ORM):
    """A reward that blocks while Autotune scores."""

    def __init__(
        self, args: Any = None, *, metadata: Sequence[str] = (), **options: Unpack[ScoringOptions]
    ) -> None:
        """Complete the options from the environment; nothing is sent yet.

        Args:
            args: the trainer's arguments, by which it can leave a completion out or not.
            metadata: columns of the data set that the grader gets with each completion.
            options: see ``ScoringOptions``.

        Raises:
            ConfigurationError: no task is named, or a setting is out of its range.
        """
        super().__init__(args)
        self._scorer = Scorer(find_settings(**options))
        self._metadata = tuple(metadata)

    def __call__(
        self, completions: Sequence[str], *, messages: Sequence[Conversation], **columns: Any
    ) -> list[float | None]:
        """Return a reward from 0 to 1 for each completion.

        Raises:
            NotScoredError: one was not scored, and the trainer would take None for 0.
            ConfigurationError: a column that ``metadata`` names is missing.
            AutotuneError: the API refused, or could not be reached.
        """
        rollouts = rollouts_of(_prompts(messages), completions, columns, self._metadata)
        return _rewards(self._scorer.verdicts(rollouts), self.args)


class AsyncAutotuneORM(AsyncORM):
    """A reward as a coroutine: ms-swift awaits several of them together."""

    def __init__(
        self, args: Any = None, *, metadata: Sequence[str] = (), **options: Unpack[ScoringOptions]
    ) -> None:
        """Complete the options as ``AutotuneORM`` does."""
        super().__init__(args)
        self._settings = find_settings(**options)
        self._metadata = tuple(metadata)

    async def __call__(
        self, completions: Sequence[str], *, messages: Sequence[Conversation], **columns: Any
    ) -> list[float | None]:
        """Return rewards as ``AutotuneORM`` does."""
        rollouts = rollouts_of(_prompts(messages), completions, columns, self._metadata)
        # ms-swift runs a new event loop for every step, and connections end with their loop.
        async with AsyncScorer(self._settings) as scorer:
            return _rewards(await scorer.verdicts(rollouts), self.args)


orms["autotune"] = AutotuneORM
orms["autotune_async"] = AsyncAutotuneORM


def _prompts(messages: Sequence[Conversation]) -> list[Conversation]:
    """Return what comes before the last message of each, which is the completion."""
    return [conversation[:-1] for conversation in messages]


def _rewards(verdicts: Sequence[CompletionVerdict], args: Any) -> list[float | None]:
    if _leaves_out_none(args):
        return [reward_of(verdict) for verdict in verdicts]
    try:
        return [required_reward(verdict) for verdict in verdicts]
    except NotScoredError as error:
        error.add_note("scale_rewards='gdpo' lets ms-swift leave it out; else it would count as 0")
        raise


def _leaves_out_none(args: Any) -> bool:
    """Return whether the advantages of these arguments leave None out instead of counting 0."""
    return (
        getattr(args, "scale_rewards", None) == "gdpo"
        and getattr(args, "advantage_estimator", None) in ("grpo", "rloo")
        # With turns, advantages come from another function, which knows no gdpo.
        and getattr(args, "multi_turn_scheduler", None) is None
    )
