"""``compute_score`` for verl's reward managers.

Read against verl 0.9.1, ``verl/experimental/reward_loop/reward_manager/naive.py`` (and the older
``verl/workers/reward_manager/naive.py``): a custom reward function is called for each response with
``data_source``, ``solution_str``, ``ground_truth`` and ``extra_info``, plus what
``custom_reward_function.reward_kwargs`` holds, and returns a number. It is not given the prompt,
so the prompt has to be in the data set's ``extra_info``.

There is no return value for a response without a score: None and NaN would spoil the whole batch.
Raising is verl's way: ``trainer/ppo/v1/agent_loop_tq.py`` leaves the response out of its group, and
with ``trainer.v1.sampler.sync_refill_failed_groups=True`` a group without any is replaced by
another. Leave the older manager's ``compute_score_timeout`` unset: what exceeds it gets a 0.

Example:
    In verl's configuration::

        reward:
          custom_reward_function:
            path: pkg://autotune.integrations.verl
            name: compute_score_async
            reward_kwargs: {task_id: task_…}
"""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from autotune.client.errors import ConfigurationError
from autotune.integrations.rollouts import Rollout, picked, plain, text_of
from autotune.integrations.scoring import shared_async_scorer, shared_scorer
from autotune.integrations.settings import ScoringOptions, find_settings
from autotune.integrations.unscored import required_reward

PROMPT_KEYS = ("prompt", "question")


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    prompt_key: str | None = None,
    metadata: Sequence[str] = (),
    **options: Unpack[ScoringOptions],
) -> float:
    """Return the score of one response, 0 to 1, blocking until it is there.

    Args:
        data_source: goes to the grader as ``metadata.data_source``.
        ground_truth: goes to the grader as ``metadata.ground_truth``.
        extra_info: holds the prompt, as text or as messages.
        prompt_key: where the prompt is in ``extra_info``; ``prompt`` or ``question`` unless given.
        metadata: keys of ``extra_info`` that the grader gets, too.
        options: see ``ScoringOptions``.

    Raises:
        NotScoredError: the grader abstained or failed, or has not answered in time.
        ConfigurationError: no task is named, or ``extra_info`` lacks the prompt.
        AutotuneError: the API refused, or could not be reached.
    """
    rollout = _rollout(data_source, solution_str, ground_truth, extra_info, prompt_key, metadata)
    (verdict,) = shared_scorer(find_settings(**options)).verdicts([rollout])
    return required_reward(verdict)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    prompt_key: str | None = None,
    metadata: Sequence[str] = (),
    **options: Unpack[ScoringOptions],
) -> float:
    """Return the score as ``compute_score`` does; responses scored at a time share a batch."""
    rollout = _rollout(data_source, solution_str, ground_truth, extra_info, prompt_key, metadata)
    verdict = await shared_async_scorer(find_settings(**options)).verdict(rollout)
    return required_reward(verdict)


def _rollout(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None,
    prompt_key: str | None,
    names: Sequence[str],
) -> Rollout:
    info = extra_info or {}
    keys = (prompt_key,) if prompt_key else PROMPT_KEYS
    prompt = next((info[key] for key in keys if info.get(key) is not None), None)
    if prompt is None:
        wanted = " or ".join(keys)
        raise ConfigurationError(
            f"extra_info has no {wanted}, only {', '.join(sorted(info)) or 'nothing'}: verl gives "
            "compute_score no prompt, so put it there when you prepare the data, or name prompt_key"
        )
    return Rollout(
        prompt=text_of(plain(prompt)),
        response=solution_str,
        metadata={
            "data_source": data_source,
            "ground_truth": plain(ground_truth),
            **picked(info, names, of="extra_info"),
        },
    )
