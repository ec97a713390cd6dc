"""A task, and the versions of its configuration."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from autotune_platform.budgets.task_money import TaskSpend
from autotune_platform.runtime.frozen_model import FrozenModel


class ApprenticeTask(FrozenModel):
    """What is known of a task without reading its configuration.

    Attributes:
        version: of its present configuration, 1 and up.
        definition_hash: of that; see ``definition``.
        state: one that is ``deleting`` is gone for everybody but who deletes it.
        sampling_key: 32 random bytes in hexadecimal digits, made with the task and never shown: it
            decides which runs are checked.
    """

    id: str
    organization_id: str
    name: str
    description: str
    version: int
    definition_hash: str
    created_at: datetime
    created_by: str
    updated_at: datetime
    sampling_key: str
    state: Literal["kept", "deleting"] = "kept"


class Configuration(FrozenModel):
    """One version of a configuration; ``document`` is what was put, with all defaults."""

    task_id: str
    organization_id: str
    version: int
    definition_hash: str
    document: Mapping[str, Any]
    created_at: datetime
    created_by: str


class ConfiguredTask(FrozenModel):
    """A task with its present configuration, and what it has spent."""

    task: ApprenticeTask
    configuration: Configuration
    spend: TaskSpend
