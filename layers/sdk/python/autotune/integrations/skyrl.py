"""An environment for SkyRL-gym whose reward is Autotune's score.

Read against skyrl-gym 0.4.0, ``skyrl_gym/envs/base_text_env.py``, and its caller in skyrl 0.4.0,
``skyrl/train/generators/skyrl_gym_generator.py``: an environment is made for each trajectory with
``env_config`` and ``extras``, gets the prompt in ``init`` and the response in ``step``, which
returns a number as its reward. SkyRL has no way to leave a trajectory out, and asserts that no
reward is None: what was not scored raises ``NotScoredError`` and ends the generation.

Example:
    >>> from skyrl_gym.envs import register
    >>> register(id="autotune", entry_point="autotune.integrations.skyrl:AutotuneEnv")

    A row of the data set then names ``"env_class": "autotune"``, and ``AUTOTUNE_TASK_ID`` the task.
"""

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType

from autotune.integrations.rollouts import Rollout, picked, plain, text_of
from autotune.integrations.scoring import shared_scorer
from autotune.integrations.settings import find_settings
from autotune.integrations.unscored import required_reward


class AutotuneEnv(BaseTextEnv):
    """One question and one answer, scored by Autotune.

    Environments with turns and tools of their own extend it and call ``reward_of_response`` in
    their last step.
    """

    def __init__(
        self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None
    ) -> None:
        """Find the task; nothing is sent yet.

        Args:
            env_config: ``ScoringOptions``, and in ``metadata`` the names of extras that the grader
                gets, too.
            extras: the row of the data set; ``reward_spec.ground_truth`` goes to the grader as
                ``metadata.ground_truth`` where it is there.

        Raises:
            ConfigurationError: no task is named, a setting is out of its range, or an extra that
                ``metadata`` names is missing.
        """
        super().__init__()
        options = dict(env_config or {})
        row = extras or {}
        self._metadata = picked(row, options.pop("metadata", ()), of="the row")
        reward_spec = row.get("reward_spec") or {}
        if "ground_truth" in reward_spec:
            self._metadata["ground_truth"] = plain(reward_spec["ground_truth"])
        self._scorer = shared_scorer(find_settings(**options))
        self._prompt: ConversationType = []

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """Keep the prompt for the grader, and return it as it is."""
        self._prompt = prompt
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """End the episode with the score of the response.

        Raises:
            NotScoredError: the grader abstained or failed, or has not answered in time.
            AutotuneError: the API refused, or could not be reached.
        """
        self.turns += 1
        reward = self.reward_of_response(action)
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={})

    def reward_of_response(self, response: str) -> float:
        """Return the score of a response to this episode's prompt, 0 to 1.

        Raises:
            NotScoredError, AutotuneError: as ``step``.
        """
        rollout = Rollout(prompt=text_of(self._prompt), response=response, metadata=self._metadata)
        (verdict,) = self._scorer.verdicts([rollout])
        return required_reward(verdict)
