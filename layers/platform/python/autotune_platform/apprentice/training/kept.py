"""Models that are kept since nobody judged them, and what waits for their host.

A job that trains another model while one waits for an instance is paid for, and what it makes waits
for the same instance. So none begins by itself meanwhile; somebody may begin one.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from autotune.protocol.apprentice_trainings import ApprenticeHostingLack
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.configuration.trainable import IN_JOBS, hosting_types
from autotune_platform.apprentice.training.models import MODEL_KEPT_FOR, Training
from autotune_platform.apprentice.training.obstacles import Obstacle

LOOKED_AT: Final = 50
"""So many of the last trainings say whether there is a host: most often the last one does."""
_UNHOSTED: Final = ("hosting_capacity", "hosting_quota", "not_hosted")
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

    The last one that had a host, or none of SageMaker's, decides: for want of an instance its model
    is kept and may be hosted, or it was beyond the quota of each type that is tried by now. One
    that ended for something else before it had a host, as somebody canceled it, says nothing.

    Args:
        newest_first: the task's last trainings.
        document: the task's present configuration, which has ``training``.
    """
    types = hosting_types(document)
    if not types:
        return None
    for one in newest_first:
        if one.definition_hash != task.definition_hash:
            continue
        if one.hosted is not None:
            return None
        if one.error in _UNHOSTED:
            if _is_for_want(one, types) and objection_to_hosting(one, task, document, now) is None:
                return _kept(one)
            return _beyond(one, types, now)
    return None


def _is_for_want(training: Training, types: Sequence[str]) -> bool:
    """Return whether a model waits for an instance, and not for what is wrong with itself."""
    if training.error != "not_hosted" or _refusal(training) is not None:
        return True
    return len(_lacking(training, "refused", types)) == len(types)


def _refusal(training: Training) -> str | None:
    """Return why SageMaker takes no model of a task's base, which the next one is of as well."""
    return training.hosting.refusal if training.hosting else None


def _kept(training: Training) -> Obstacle:
    number, until, refusal = training.number, training.model_kept_until, _refusal(training)
    what = "waits for a host" if refusal is None else f"was not taken by SageMaker ({refusal})"
    said = (
        f"the model of training {number} is kept until {until:%Y-%m-%d} and {what}: have it "
        "hosted, or begin a training, which is paid for"
    )
    return Obstacle("hosting", said, until)


def _beyond(training: Training, types: Sequence[str], now: datetime) -> Obstacle | None:
    """Return what says that the account could have none of the types; None where it may by now."""
    beyond, refused = (_lacking(training, one, types) for one in ("quota", "refused"))
    # Nobody hears of a quota that others have left: a job in so many days finds out.
    until = (training.ended_at or training.created_at) + MODEL_KEPT_FOR
    is_beyond = training.error == "hosting_quota" and len(beyond) + len(refused) == len(types)
    if not is_beyond or now >= until:
        return None
    reasons, ways = [], ["put other training.instanceTypes"]
    if refused:
        reasons.append(f"SageMaker takes no {' or '.join(refused)} for endpoints here")
    if beyond:
        reasons.append(
            f"the account's quota had no room for {' or '.join(beyond)} for endpoint usage"
        )
        ways.insert(0, "have it raised and begin a training")
    said = (
        f"training {training.number} made a model that was not hosted, as {' and '.join(reasons)}: "
        f"{', or '.join(ways)}; else the next begins from {until:%Y-%m-%d} on"
    )
    return Obstacle("hosting", said, until)


def _lacking(training: Training, lack: ApprenticeHostingLack, types: Sequence[str]) -> list[str]:
    """Return those of some types of instances that a model lacked for one reason."""
    lacks = training.hosting.lacks if training.hosting else ()
    found = {one.instance_type for one in lacks if one.lack == lack}
    return [one for one in types if one in found]
