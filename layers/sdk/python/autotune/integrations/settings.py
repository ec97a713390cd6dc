"""Which task scores a trainer's rollouts, and how: arguments, then the environment."""

import math
import os
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from autotune.client.completions import DEFAULT_CONCURRENCY
from autotune.client.errors import ConfigurationError
from autotune.client.submissions import DEFAULT_BATCH_SIZE
from autotune.protocol.completions import Priority
from autotune.protocol.ids import is_id

TASK_VARIABLE = "AUTOTUNE_TASK_ID"
MODEL_VARIABLE = "AUTOTUNE_MODEL_ID"
TIMEOUT_VARIABLE = "AUTOTUNE_REWARD_TIMEOUT"

DEFAULT_MODEL = "policy"
DEFAULT_TIMEOUT_SECONDS = 600.0


class ScoringOptions(TypedDict, total=False):
    """What every adapter takes by keyword.

    Attributes:
        task_id: scores the rollouts; else ``AUTOTUNE_TASK_ID``.
        model_id: names the policy in Autotune; else ``AUTOTUNE_MODEL_ID``, else ``policy``.
        timeout: seconds to wait for the verdicts of one call; else ``AUTOTUNE_REWARD_TIMEOUT``,
            else 600.
        priority: ``low``, ``normal`` (the default) or ``high``.
        batch_size: most rollouts in a request, 1 to 500.
        concurrency: most requests in flight while submitting.
        base_url: as for ``AutotuneClient``.
        api_key: as for ``AutotuneClient``; better left to ``AUTOTUNE_API_KEY``, because trainers
            print their configuration.
    """

    task_id: str | None
    model_id: str | None
    timeout: float | None
    priority: Priority
    batch_size: int
    concurrency: int
    base_url: str | None
    api_key: str | None


@dataclass(frozen=True, kw_only=True)
class ScoringSettings:
    """``ScoringOptions``, complete."""

    task_id: str
    model_id: str
    timeout: float
    priority: Priority
    batch_size: int
    concurrency: int
    base_url: str | None
    api_key: str | None = field(repr=False)


def find_settings(**options: Unpack[ScoringOptions]) -> ScoringSettings:
    """Complete what was given from the environment.

    Raises:
        ConfigurationError: no task is named, or a setting is out of its range.
    """
    task_id = options.get("task_id") or os.environ.get(TASK_VARIABLE)
    if not task_id:
        message = f"no task scores these rollouts: give task_id or set {TASK_VARIABLE}"
        raise ConfigurationError(message)
    if not is_id("task", task_id):
        raise ConfigurationError(f"task_id must be the id of a task (task_…), not {task_id!r}")
    timeout = options.get("timeout")
    if timeout is None:
        timeout = _timeout_of_environment()
    if not (timeout > 0 and math.isfinite(timeout)):
        raise ConfigurationError(f"timeout must be a positive number of seconds, not {timeout:g}")
    concurrency = options.get("concurrency", DEFAULT_CONCURRENCY)
    if concurrency < 1:
        raise ConfigurationError(f"concurrency must be 1 or more, not {concurrency}")
    return ScoringSettings(
        task_id=task_id,
        model_id=options.get("model_id") or os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL,
        timeout=timeout,
        priority=options.get("priority", "normal"),
        batch_size=options.get("batch_size", DEFAULT_BATCH_SIZE),
        concurrency=concurrency,
        base_url=options.get("base_url"),
        api_key=options.get("api_key"),
    )


def _timeout_of_environment() -> float:
    text = os.environ.get(TIMEOUT_VARIABLE)
    if not text:
        return DEFAULT_TIMEOUT_SECONDS
    try:
        return float(text)
    except ValueError:
        message = f"{TIMEOUT_VARIABLE} must be a number of seconds, not {text!r}"
        raise ConfigurationError(message) from None
