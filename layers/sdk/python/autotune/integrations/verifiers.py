"""Reward function and rubric for environments of verifiers.

Read against verifiers 0.1.14, ``verifiers/rubrics/rubric.py``: a rubric calls a reward function
with what its parameters name of ``prompt``, ``completion``, ``answer``, ``info``, ``state`` and
others. What a reward function raises becomes a reward of 0 there, so this one raises nothing:
without a score it puts an ``InfraError`` in ``state["error"]``, which marks the rollout as failed
for whoever trains on it and lets ``max_retries`` try it again, and returns NaN, which nobody can
take for a score.

Example:
    >>> import verifiers as vf
    >>> from autotune.integrations.verifiers import AutotuneRubric
    >>> environment = vf.SingleTurnEnv(dataset=dataset, rubric=AutotuneRubric(task_id="task_…"))
"""

import math
from collections.abc import Sequence
from typing import Any, Unpack

import verifiers as vf

from autotune.client.errors import AutotuneError
from autotune.integrations.rollouts import Conversation, Rollout, picked, text_of
from autotune.integrations.scoring import AsyncScorer
from autotune.integrations.settings import ScoringOptions, find_settings
from autotune.integrations.unscored import required_reward


class AutotuneReward:
    """A reward function; ``vf.Rubric(funcs=[AutotuneReward(task_id="task_…")])`` takes it.

    Attributes:
        scorer: counts what was not scored, by reason, in ``unscored``.
    """

    def __init__(self, *, metadata: Sequence[str] = (), **options: Unpack[ScoringOptions]) -> None:
        """Complete the options from the environment; nothing is sent yet.

        Args:
            metadata: keys of a rollout's ``info`` that the grader gets, beside ``answer``.
            options: see ``ScoringOptions``.

        Raises:
            ConfigurationError: no task is named, or a setting is out of its range.
        """
        self.scorer = AsyncScorer(find_settings(**options))
        self._metadata = tuple(metadata)
        # Rubrics name metrics and report errors with it.
        self.__name__ = "autotune"

    async def __call__(
        self,
        prompt: str | Conversation,
        completion: str | Conversation,
        answer: Any,
        info: dict[str, Any],
        state: dict[str, Any],
    ) -> float:
        """Return the score of a rollout, 0 to 1, or NaN with the reason in ``state["error"]``."""
        if state.get("error") is not None:
            return math.nan
        try:
            rollout = Rollout(
                prompt=text_of(prompt),
                response=text_of(completion),
                metadata={"answer": answer, **picked(info, self._metadata, of="info")},
            )
            return required_reward(await self.scorer.verdict(rollout))
        except AutotuneError as error:
            # A rubric would turn it into a reward of 0.
            failure = vf.InfraError(f"no score from Autotune: {error}")
            failure.__cause__ = error
            state["error"] = failure
            return math.nan


class AutotuneRubric(vf.Rubric):
    """A rubric of one ``AutotuneReward``, whose baseline leaves out what was not scored.

    A plain rubric averages over its whole group, so that one NaN would spoil every advantage.
    Further functions can be added with ``add_reward_func`` and ``add_metric``.
    """

    def __init__(
        self,
        *,
        metadata: Sequence[str] = (),
        parser: "vf.Parser | None" = None,
        **options: Unpack[ScoringOptions],
    ) -> None:
        """Make the reward function; arguments are those of ``AutotuneReward``.

        Args:
            parser: as for ``vf.Rubric``.
        """
        self.reward = AutotuneReward(metadata=metadata, **options)
        super().__init__(funcs=[self.reward], parser=parser)

    async def score_group(self, states: list[Any]) -> None:
        """Score a group; advantages are relative to the mean of what was scored.

        A rollout that was not scored has NaN as its reward and 0 as its advantage.
        """
        await super().score_group(states)
        scored = [state["reward"] for state in states if not math.isnan(state["reward"])]
        if len(scored) == len(states):
            return
        baseline = sum(scored) / len(scored) if scored else 0.0
        for state in states:
            reward = state["reward"]
            state["advantage"] = 0.0 if math.isnan(reward) else reward - baseline
            for step in state["trajectory"]:
                if math.isnan(step["advantage"]):
                    step["advantage"] = state["advantage"]
