"""Models that are kept since nobody judged them, and what waits for their host.

A job that trains another model while one waits for an instance is paid for, and what it makes waits
for the same instance. So none begins by itself meanwhile; somebody may begin one.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.configuration.trainable import IN_JOBS, hosting_types
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.obstacles import Obstacle

LOOKED_AT: Final = 50
"""So many of the last trainings say whether there is a host: most often the last one does."""
_LET_GO: Final = timedelta(minutes=5)
"""So long before its end a kept model is taken no more: whoever deletes it has another clock."""


def objection_to_hosting(
    made_by: Training, task: ApprenticeTask, document: Mapping[str, Any], now: datetime
) -> str | None:
    """Return why what a training made cannot be hosted now; None where it can."""
    number, kept_until, model = made_by.number, made_by.model_kept_until, made_by.model
    if made_by.model_taken_by is not None:
        return f"training {made_by.model_taken_by} has the model of training {number}"
    if model is None or kept_until is None or now >= kept_until - _LET_GO:
        return f"no model of training {number} is kept: those are that a job made and nobody judged"
    if made_by.definition_hash != task.definition_hash:
        return f"the task has another definition since training {number}: train again"
    settings = document["training"]
    if settings is None or settings["backend"] not in IN_JOBS:
        return "training.backend is none whose models SageMaker hosts"
    if settings["baseModel"] != model.base_model:
        return f"training {number} is of training.baseModel {model.base_model}: put that again"
    return None


def waits_for_host(
    newest_first: Iterable[Training],
    task: ApprenticeTask,
    document: Mapping[str, Any],
    now: datetime,
) -> Obstacle | None:
    """Return why a training of a task does not begin by itself for want of a host; None if it may.

    The last one that came as far as its host decides: it had one, or its model is kept and may be
    hosted, or it was beyond the quota of each type of instance that is tried by now.

    Args:
        newest_first: the task's last trainings.
        document: the task's present configuration, which has ``training``.
    """
    types = set(hosting_types(document))
    if not types:
        return None
    for one in newest_first:
        if one.definition_hash != task.definition_hash:
            continue
        if one.hosted is not None:
            return None
        if objection_to_hosting(one, task, document, now) is None:
            return _kept(one)
        if one.hosting is not None:
            is_beyond = one.error == "hosting_quota" and types <= _beyond_quota(one)
            return _beyond(one, document) if is_beyond else None
    return None


def _kept(training: Training) -> Obstacle:
    number, until = training.number, training.model_kept_until
    said = (
        f"the model of training {number} is kept until {until:%Y-%m-%d} and waits for an instance "
        "that hosts it: have it hosted, or begin a training, which is paid for"
    )
    # What the account may not have it may not have later either.
    return Obstacle("hosting", said, None if training.error == "hosting_quota" else until)


def _beyond(training: Training, document: Mapping[str, Any]) -> Obstacle:
    said = (
        f"training {training.number} made a model that was not hosted, as the account's quota had "
        f"no room for {' or '.join(hosting_types(document))} for endpoint usage: have it raised "
        "and begin a training, or put other training.instanceTypes"
    )
    return Obstacle("hosting", said)


def _beyond_quota(training: Training) -> set[str]:
    """Return the types of instances of which the account could have no more."""
    hosting = training.hosting
    if hosting is None:
        return set()
    lacks = {one.instance_type for one in hosting.lacks if one.lack == "quota"}
    return lacks or {hosting.instance_type}
