"""The second step where a model is trained in a job: jobs are planned, paid for and looked after.

Each call looks at what there is and does what comes next, so that doubled, late and killed calls
change nothing twice: money is set aside in the transaction that plans a job, a job's name follows
from that plan, and it is paid for in the transaction that notes what became of it.
"""

from collections.abc import Sequence
from datetime import UTC, timedelta
from typing import Any, Final, NamedTuple

from autotune.protocol.apprentice_trainings import ApprenticeTrainingError
from autotune.protocol.llm_connections import nano_usd
from autotune_platform.apprentice.instance_prices import (
    InstancePrices,
    price_of,
    reserved_for,
)
from autotune_platform.apprentice.training.bounds import tell_if_above
from autotune_platform.apprentice.training.elsewhere import (
    is_given_up,
    lack_of,
    plan_elsewhere,
    waits_too_long,
)
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.job_files import JobFiles
from autotune_platform.apprentice.training.jobs import Asked, Found, TrainingJobs, job_name
from autotune_platform.apprentice.training.models import JobPlan, Training, TrainingJob
from autotune_platform.apprentice.training.progress import Begun, TrainingProgress, Under
from autotune_platform.apprentice.training.waits import SHORTEST_WAIT_S, wait_seconds
from autotune_platform.apprentice.training.watched import NEVER_CREATED_AFTER, WatchedJobs
from autotune_platform.budgets.money import MoneyBudgets, NoRoom, Reserved
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.task_money import TaskMoney
from autotune_platform.budgets.uses import task_scope, training_of
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.training_jobs import JobRefusedError
from autotune_platform.storage.counting import Addition

MOST_FAILURES: Final = 3
GIVEN_BACK_WITHIN: Final = NEVER_CREATED_AFTER + timedelta(minutes=5)
"""So long after a job was refused nothing is set aside for it any more."""


class Looked(NamedTuple):
    """What a look came to.

    Attributes:
        is_over: whether the execution has nothing left to do.
        seconds: when to look again; None where the step is done.
        job: name of the job under way.
    """

    is_over: bool
    seconds: int | None
    job: str | None


@part
class SageMakerStep:
    """Has jobs train a model.

    Attributes:
        watched: notes each job for as long as it is not paid for: a training may be gone before.
        budgets: sets what trainings of a task may cost in a month.
    """

    progress: TrainingProgress
    endings: TrainingEndings
    jobs: TrainingJobs
    watched: WatchedJobs
    files: JobFiles
    money: MoneyBudgets
    budgets: TaskMoney
    prices: InstancePrices

    def run(self, under: Under, *, job: str | None) -> Looked:
        """Look after a training's jobs once.

        Args:
            under: which training.
            job: the one that the look before left under way; it is stopped where its training has
                ended meanwhile, or is gone.

        Raises:
            UnavailableError: a store is busy.
        """
        training = self._at(under)
        if training is None:
            if job is not None and self._is_gone(under) and self._runs_on(job):
                return Looked(is_over=False, seconds=SHORTEST_WAIT_S, job=job)
            return Looked(self.endings.is_over(under), None, None)
        seconds = self._look(training)
        after = self._at(under)
        if after is None:
            return Looked(self.endings.is_over(under), None, None)
        job = after.job.name if after.job else None
        return Looked(is_over=False, seconds=seconds, job=job)

    def _at(self, under: Under) -> Training | None:
        training = self.progress.at(under)
        return training if training is not None and training.step == "train" else None

    def _is_gone(self, under: Under) -> bool:
        found = self.progress.trainings.get(under.task_id, under.number)
        return found is None or found.id != under.training_id or found.has_ended

    def _runs_on(self, job: str) -> bool:
        """Have a job stopped, and return whether it has not ended: until then it writes files."""
        found = self.jobs.find(job)
        if found is None or found.outcome != "running":
            return False
        self.jobs.stop(job)
        return True

    def _look(self, training: Training) -> int:
        """Do what comes next, and return how many seconds later to look again."""
        begun = self.progress.standing(training)
        error: ApprenticeTrainingError | None = None
        if training.is_canceled or begun is None:
            error = "canceled" if training.is_canceled else "task_changed"
        job = training.job
        if job is None:
            if error is not None or begun is None:
                self.progress.fail(training, error or "task_changed")
                return SHORTEST_WAIT_S
            return self._plan(training, begun)
        self.watched.open(training, job, scope=_scope(training))
        found = self.jobs.find(job.name)
        if found is None:
            if error is not None or begun is None:
                # Somebody may be creating it now: whoever watches pays for it, or finds none.
                self.progress.fail(training, error or "task_changed")
            else:
                self._create(training, job, begun)
        elif not found.is_of(training.id, _data(training)):
            # No job of ours can have that name, so nothing is paid.
            others = found._replace(seconds=0, billable_seconds=0)
            self._fail(training, job, "job_name_taken", found=others)
        elif found.outcome == "running":
            return self._watch(training, job, found, error)
        else:
            self._end(training, job, found, error)
        return self._wait(training)

    def _watch(
        self,
        training: Training,
        job: TrainingJob,
        found: Found,
        error: ApprenticeTrainingError | None,
    ) -> int:
        """Let a job run, or have it stopped that nobody wants or that gets no instance.

        One that has an instance after all, as whoever noted that was killed before, runs on.
        """
        is_late = waits_too_long(found, self.progress.clock.now())
        is_given_up = is_late or (job.is_given_up and not found.is_at_work)
        job = job.model_copy(update={"is_given_up": is_given_up})
        is_noted = self.progress.go_on(training, "train", job=job)
        if error is not None or (is_noted and job.is_given_up):
            self.jobs.stop(job.name)
            return SHORTEST_WAIT_S
        return self._wait(training)

    def _plan(self, training: Training, begun: Begun) -> int:
        """Set money aside for the next job and create it, or end the training."""
        plan, document = training.plan or JobPlan(), begun.configuration.document
        now = self.progress.clock.now()
        if plan.not_before is not None and now < plan.not_before:
            self.progress.go_on(training, "train")
            return self._wait(training)
        settings = document["training"]
        instance = settings["instanceTypes"][plan.instance]
        price = self.prices.find(instance)
        base_sha256 = plan.base_sha256 or self.files.base_digest(settings["baseModel"])
        monthly = document["budgets"]["trainingMonthly"]
        if price is None or monthly is None:
            self.progress.fail(training, "budget_exhausted", reason=f"{instance} has no price")
        elif base_sha256 is None:
            self.progress.fail(training, "base_missing")
        else:
            self._set_limits(training, monthly)
            amount = reserved_for(settings["maxRuntimeS"], price)
            again = plan.model_copy(
                update={"attempts": plan.attempts + 1, "base_sha256": base_sha256}
            )

            def planned(periods: list[str]) -> Sequence[Addition]:
                job = TrainingJob(
                    name=job_name(self.jobs.prefix, training.id, again.attempts),
                    attempt=again.attempts,
                    instance_type=instance,
                    price_nano_usd=price,
                    reserved_nano_usd=amount,
                    periods=tuple(periods),
                    is_resumed=plan.is_resumed,
                    planned_at=now,
                )
                after = self.progress.going_on(training, "train", job=job, plan=again)
                return [
                    self.progress.trainings.changed(training, after),
                    self.watched.opened(training, job, scope=_scope(training)),
                ]

            self._reserve(training, begun, amount, planned)
        return self._wait(training)

    def _reserve(self, training: Training, begun: Begun, amount: int, planned: Any) -> None:
        reserved = self.money.reserve([_scope(training)], amount, planned)
        if isinstance(reserved, Reserved):
            stored = self.progress.trainings.get(training.task_id, training.number)
            if stored is not None and stored.job is not None and not stored.has_ended:
                self._create(stored, stored.job, begun)
        elif isinstance(reserved, NoRoom) and self._is_given_back_soon(training):
            self.progress.go_on(training, "train")
        elif reserved is not None:
            if isinstance(reserved, NoRoom):
                self.money.announce(reserved)
            self.progress.fail(training, "budget_exhausted")

    def _is_given_back_soon(self, training: Training) -> bool:
        """Return whether money may be set aside for a job that was refused."""
        refused_at = training.plan.refused_at if training.plan else None
        now = self.progress.clock.now()
        return refused_at is not None and now - refused_at < GIVEN_BACK_WITHIN

    def _set_limits(self, training: Training, monthly: str) -> None:
        self.budgets.put(
            training.organization_id,
            training_of(training.task_id),
            MoneyLimits(month=nano_usd(monthly)),
            name=f"{training.task_name} (training)",
            version=training.configuration_version,
        )

    def _create(self, training: Training, job: TrainingJob, begun: Begun) -> None:
        document, manifest = begun.configuration.document, training.manifest
        assert manifest is not None
        assert training.plan is not None
        assert training.plan.base_sha256 is not None
        asked = Asked(
            name=job.name,
            training_id=training.id,
            task_id=training.task_id,
            inputs=self.files.give(manifest, document, training.plan.base_sha256),
            instance_type=job.instance_type,
            is_spot=document["training"]["spot"],
            max_runtime_s=document["training"]["maxRuntimeS"],
        )
        try:
            self.jobs.create(asked)
        except JobRefusedError as refused:
            # One of this name is looked at next time: it may be ours, as where the answer to its
            # creation was lost and asking again was refused.
            if refused.code == "ResourceInUse" or self.jobs.find(job.name) is not None:
                return
            if refused.code in {"ResourceLimitExceeded", "CapacityError"}:
                self._elsewhere(training, job, begun, None, str(refused))
            else:
                self._fail(training, job, "job_refused", reason=str(refused))
            return
        after = self.progress.trainings.get(training.task_id, training.number)
        is_under_way = after is not None and after.id == training.id and not after.has_ended
        if after is None or not is_under_way or after.job is None or after.job.name != job.name:
            # Whoever ended the training meanwhile may have found no job to stop.
            self.jobs.stop(job.name)

    def _end(
        self,
        training: Training,
        job: TrainingJob,
        found: Found,
        error: ApprenticeTrainingError | None,
    ) -> None:
        """Pay for a job that has ended, and go on from what became of it."""
        begun = self.progress.standing(training)
        plan = training.plan or JobPlan()
        if error is not None or begun is None:
            self._fail(training, job, error or "task_changed", found=found)
        elif found.outcome == "completed":
            self._go_on(training, job, found, step="verify", artifact=found.artifact)
        elif found.outcome == "no_capacity" or (found.outcome == "stopped" and job.is_given_up):
            self._elsewhere(training, job, begun, found, lack_of(job, found))
        elif found.outcome == "out_of_time" and not job.is_resumed:
            self._again(training, job, found, is_resumed=True)
        elif found.outcome == "failed" and plan.failures + 1 < MOST_FAILURES:
            self._again(training, job, found, failures=plan.failures + 1)
        else:
            self._fail(training, job, _ERRORS[found.outcome], reason=found.reason, found=found)

    def _elsewhere(
        self, training: Training, job: TrainingJob, begun: Begun, found: Found | None, said: str
    ) -> None:
        """Go on with another type of instance, or end where there was none for too long."""
        before, now = training.plan or JobPlan(), self.progress.clock.now()
        if found is None:
            before = before.model_copy(update={"refused_at": now})
        types = begun.configuration.document["training"]["instanceTypes"]
        has_trained = found is not None and found.seconds > 0
        plan = plan_elsewhere(before, job, types, said=said, now=now, has_trained=has_trained)
        if is_given_up(plan, now):
            reason = "; ".join(f"{one}: {lack}" for one, lack in plan.lacks.items())
            self._fail(training, job, "no_capacity", reason=reason, found=found)
            return
        self._go_on(training, job, found, step="train", job_after=None, plan=plan)

    def _again(
        self, training: Training, job: TrainingJob, found: Found | None, **changes: Any
    ) -> None:
        plan = training.plan or JobPlan()
        update = {"not_before": None, "without_since": None, "lacks": {}, **changes}
        self._go_on(
            training, job, found, step="train", job_after=None, plan=plan.model_copy(update=update)
        )

    def _go_on(
        self,
        training: Training,
        job: TrainingJob,
        found: Found | None,
        *,
        step: Any,
        **changes: Any,
    ) -> None:
        if "job_after" in changes:
            changes["job"] = changes.pop("job_after")
        paid, known = self._paid(training, job, found)
        self.progress.go_on(training, step, *paid, **{**known, **changes})

    def _fail(
        self,
        training: Training,
        job: TrainingJob,
        error: ApprenticeTrainingError,
        *,
        reason: str | None = None,
        found: Found | None = None,
    ) -> None:
        paid, known = self._paid(training, job, found)
        self.progress.fail(training, error, *paid, reason=reason, **known)

    def _paid(
        self, training: Training, job: TrainingJob, found: Found | None
    ) -> tuple[list[Addition], dict[str, Any]]:
        """Return what pays for a job, and what is known of its training from then on.

        One that was refused is paid for by whoever watches: another that looks after the training
        may create it yet.
        """
        now = self.progress.clock.now()
        if found is None:
            return [self.watched.left(training.task_id, job.name, now)], {}
        billable = found.billable_seconds
        spent = price_of(billable, job.price_nano_usd)
        tell_if_above(job.name, reserved_nano_usd=job.reserved_nano_usd, spent_nano_usd=spent)
        paid = self.money.settlement(
            [_scope(training)], job.periods, reserved=job.reserved_nano_usd, spent=spent
        )
        paid.append(self.watched.closed(training.task_id, job.name, now))
        if spent:
            day = now.astimezone(UTC).date().isoformat()
            paid.append(self.progress.trainings.paid(training, day, spent))
        known = {
            "job": job.model_copy(update={"billable_seconds": billable, "spent_nano_usd": spent}),
            "spent_nano_usd": training.spent_nano_usd + spent,
            "billable_seconds": training.billable_seconds + billable,
            "trained_seconds": training.trained_seconds + found.seconds,
        }
        return paid, known

    def _wait(self, training: Training) -> int:
        return wait_seconds((self.progress.clock.now() - training.created_at).total_seconds())


_ERRORS: Final[dict[str, ApprenticeTrainingError]] = {
    "algorithm_error": "algorithm_error",
    "failed": "job_failed",
    "out_of_time": "out_of_time",
    "stopped": "job_stopped",
}


def _scope(training: Training) -> str:
    return task_scope(training.organization_id, training_of(training.task_id))


def _data(training: Training) -> str:
    assert training.manifest is not None
    return training.manifest.train.sha256
