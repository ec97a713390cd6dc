"""Jobs whose training goes on or ended without them, or is gone: they are stopped and paid for."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.instance_prices import price_of
from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.training.bounds import tell_if_above
from autotune_platform.apprentice.training.items import training_key, trainings_of
from autotune_platform.apprentice.training.jobs import Found, found_in
from autotune_platform.apprentice.training.models import Training, WatchedJob
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.watched import (
    LOOK_AFTER,
    LOOK_SOON,
    NEVER_CREATED_AFTER,
    WatchedJobs,
)
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.scopes import COMMITTED
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sweeping import look_at_each
from autotune_platform.runtime.training_jobs import SageMakerJobs
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.item_format import Item

logger = Logger()

PAID_MESSAGE: Final = "a left job was paid"
_MOST = 500


@part
class JobWatching:
    """Looks after jobs that nobody else looks after.

    Attributes:
        money: of the ``budgets`` table.
        files: where jobs read and write.
    """

    watched: WatchedJobs
    trainings: TrainingRepository
    sagemaker: SageMakerJobs
    money: MoneyBudgets
    files: ModelFiles
    clock: Clock = SYSTEM_CLOCK

    def sweep(self, *, has_time: Callable[[], bool]) -> int:
        """Look at what is due; return how many there were.

        Raises:
            Exception: the first one of what failed, once all else was looked at.
        """
        due = self.watched.due(self.clock.now(), limit=_MOST)
        looks = look_at_each(due, self._look, has_time=has_time, put_off=self._put_off)
        return looks.require().count

    def _put_off(self, item: Item) -> None:
        logger.exception("a job was not looked at", job=item.get("name"))
        self.watched.put_off(item, self.clock.now() + LOOK_AFTER)

    def _look(self, item: Item) -> None:
        one = self.watched.read(item)
        training = self.trainings.get(one.task_id, one.number)
        if training is not None and training.id != one.training_id:
            training = None
        is_under_way = training is not None and not training.has_ended
        if training is not None and is_under_way and _is_at(training, one):
            self._again(one, LOOK_AFTER, left_since=None)
            return
        now = self.clock.now()
        since = one.left_since or now
        described = self.sagemaker.find(one.name)
        found = None if described is None else found_in(described)
        if found is not None and found.training_id != one.training_id:
            found = None  # somebody else's, of our name
        elif found is not None and found.outcome == "running":
            logger.warning("a job without a training is stopped", job=one.name)
            self.sagemaker.stop(one.name)
            self._again(one, LOOK_SOON, left_since=since)
            return
        if found is None and now < since + NEVER_CREATED_AFTER:
            self._again(one, LOOK_SOON, left_since=since)
            return
        if not is_under_way:  # else its next job uses them
            self.files.delete_jobs(one.task_id, one.training_id)
        self._pay(one, training, found, now)

    def _pay(
        self, one: WatchedJob, training: Training | None, found: Found | None, now: datetime
    ) -> None:
        billable = 0 if found is None else found.billable_seconds
        spent = price_of(billable, one.price_nano_usd)
        tell_if_above(one.name, reserved_nano_usd=one.reserved_nano_usd, spent_nano_usd=spent)
        paid = self.money.settlement(
            [one.scope], one.periods, reserved=one.reserved_nano_usd, spent=spent
        )
        if training is None:
            # Its organisation may be gone with its budget, which nobody would delete again.
            stays = {name: 0 for name in paid[0].numbers if name.startswith(COMMITTED)}
            paid = [replace(paid[0], at_least=stays)] if self.money.has(one.scope) else []
        if training is not None and (spent or _is_at(training, one)):
            paid.append(self._shown(training, one, billable, spent))
        if training is not None and spent:
            day = now.astimezone(UTC).date().isoformat()
            paid.append(self.trainings.paid(training, day, spent))
        if not self.watched.close(one, now, *paid):
            self._again(one, LOOK_SOON, left_since=one.left_since)
        elif spent and (training is None or training.has_ended):
            # The event of a training's end, by which costs are drawn, was without this.
            logger.info(PAID_MESSAGE, job=one.name, nano_usd=spent)

    def _shown(self, training: Training, one: WatchedJob, billable: int, spent: int) -> Addition:
        """Return what has a training show what a job cost that it goes on or ended without."""
        changes: dict[str, Any] = {}
        if training.job is not None and _is_at(training, one):
            known = {"billable_seconds": billable, "spent_nano_usd": spent}
            job = training.job.model_copy(update=known)
            changes["job"] = job.model_dump(mode="json", exclude_none=True)
        # Whoever has read one that is under way would store its own sum over this one.
        turn = {} if training.has_ended else {"turn": 1}
        return Addition(
            table=self.money.outbox.name,
            pk=trainings_of(one.task_id),
            sk=training_key(one.number),
            numbers={"spent_nano_usd": spent, "billable_seconds": billable, **turn},
            changes=changes,
            # Its end tells what it cost: what is paid after that is told otherwise.
            only_if={"id": one.training_id, "state": training.state},
        )

    def _again(self, one: WatchedJob, after: timedelta, *, left_since: datetime | None) -> None:
        self.watched.look_again(one, self.clock.now() + after, left_since=left_since)


def _is_at(training: Training, one: WatchedJob) -> bool:
    return training.job is not None and training.job.name == one.name
