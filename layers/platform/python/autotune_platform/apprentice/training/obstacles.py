"""What keeps a training from beginning: found before anything is frozen, computed or paid for."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from autotune.protocol.apprentice_trainings import ApprenticeTrainingWaitReason
from autotune.protocol.limits import MAX_APPRENTICE_VERSIONS
from autotune.protocol.llm_connections import nano_usd
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.configuration.trainable import IN_JOBS, objection_to_paying
from autotune_platform.apprentice.instance_prices import InstancePrices, reserved_for
from autotune_platform.apprentice.training.watched import WatchedJobs, free_at
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.budgets.money import NoRoom
from autotune_platform.budgets.scopes import MoneyLimits, PeriodUse, resets_at
from autotune_platform.budgets.uses import MoneyUses, task_scope, training_of
from autotune_platform.runtime.parts import part

_NANO = 1_000_000_000


class SetAside(NamedTuple):
    """What is free soon, and is enough then: money of jobs whose training has ended.

    Attributes:
        nano_usd: how much, in billionths of a US dollar.
        until: about when.
        trainings: the numbers of those trainings.
    """

    nano_usd: int
    until: datetime
    trainings: Sequence[int]


class Obstacle(NamedTuple):
    """Why a training cannot begin.

    Attributes:
        reason: in a word: its job cannot be paid for, or its model could be no version or could
            not be hosted.
        message: the same for people.
        until: when the month is over that has no room, or about when money is free that is set
            aside for jobs of trainings that have ended, or when a model that had no host holds
            nothing back any longer; None where only somebody can help.
        no_room: the budget that has none before the month is over, if it is that.
    """

    reason: ApprenticeTrainingWaitReason
    message: str
    until: datetime | None = None
    no_room: NoRoom | None = None


@part
class TrainingObstacles:
    """Finds what keeps trainings from beginning.

    It sets no money aside: whoever plans a job does, and may find it gone.

    Attributes:
        watched: says which money is set aside though no training is under way.
    """

    prices: InstancePrices
    uses: MoneyUses
    versions: VersionRepository
    watched: WatchedJobs

    def of(self, task: ApprenticeTask, document: Mapping[str, Any]) -> Obstacle | None:
        """Return what keeps a training of a task from beginning now; None where nothing does.

        Args:
            document: the task's present configuration, which has ``training``.
        """
        most = MAX_APPRENTICE_VERSIONS
        if len(self.versions.all_of(task.id)) >= most:
            said = f"task {task.name} has {most} versions of its small model; make another task"
            return Obstacle("versions", said)
        settings = document["training"]
        if settings["backend"] not in IN_JOBS:
            return None
        objection = objection_to_paying(document, self.prices)
        if objection is not None:
            return Obstacle("budget", str(objection))
        instance, monthly = settings["instanceTypes"][0], document["budgets"]["trainingMonthly"]
        price = self.prices.find(instance)
        assert price is not None, "there is no objection"
        amount = reserved_for(settings["maxRuntimeS"], price)
        return self._unpaid(task, amount, monthly, f"{instance} for maxRuntimeS")

    def _unpaid(
        self, task: ApprenticeTask, amount: int, monthly: str, what: str
    ) -> Obstacle | None:
        scope = task_scope(task.organization_id, training_of(task.id))
        standing, limits = self.uses.standing(scope), MoneyLimits(month=nano_usd(monthly))
        # Limits that differ lift a halt once they are set, which planning a job does.
        if standing.halted is not None and standing.limits == limits:
            said = "a training cost more than it can have: put another budgets.trainingMonthly"
            return Obstacle("budget", said)
        standing, today = standing._replace(limits=limits), self.uses.clock.now().date()
        use = standing.short(today, amount)
        if use is None:
            return None
        until = resets_at(use.period, standing.day(today))
        cost = f"{what} may cost {amount / _NANO:.2f}"
        soon = self._free_soon(task, use, amount)
        if soon is not None and soon.until < until:
            return Obstacle("budget", _set_aside(soon, use, cost), soon.until)
        message = (
            f"budgets.trainingMonthly has {(use.room or 0) / _NANO:.2f} US dollars left until "
            f"{until:%Y-%m-%d}, and {cost}"
        )
        return Obstacle("budget", message, until, NoRoom(scope, standing, use, until))

    def _free_soon(self, task: ApprenticeTask, use: PeriodUse, amount: int) -> SetAside | None:
        """Return what gives a period room for an amount before it is over; None if nothing does."""
        if use.limit is None or use.spent + amount > use.limit:
            return None
        now, freed, trainings = self.uses.clock.now(), 0, set()
        left = [one for one in self.watched.unpaid(task.id) if use.name in one.periods]
        for one in sorted(left, key=lambda job: free_at(job, now)):
            freed += one.reserved_nano_usd
            trainings.add(one.number)
            if use.committed - freed + amount <= use.limit:
                return SetAside(freed, free_at(one, now), sorted(trainings))
        return None


def _set_aside(soon: SetAside, use: PeriodUse, cost: str) -> str:
    return (
        f"of budgets.trainingMonthly, {(use.limit or 0) / _NANO:.2f} US dollars, "
        f"{soon.nano_usd / _NANO:.2f} are set aside for jobs of trainings that have ended "
        f"({', '.join(map(str, soon.trainings))}) and free at about "
        f"{soon.until:%Y-%m-%d %H:%M} UTC, and {cost}"
    )
