"""What is set aside for jobs of trainings, as callers see it."""

from collections.abc import Mapping

from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.watched import WatchedJobs
from autotune_platform.runtime.parts import part


@part
class TrainingMoney:
    """Tells what is set aside for trainings' jobs."""

    watched: WatchedJobs

    def set_aside(self, *trainings: Training) -> Mapping[int, int]:
        """Return what is set aside for each of a task's trainings, in billionths of a US dollar.

        That is for the job whose end was not noted, and for each that was refused and that somebody
        may create yet, beside which the training goes on.
        """
        found = {
            one.number: one.open_job.reserved_nano_usd if one.open_job else 0 for one in trainings
        }
        own = {one.job.name for one in trainings if one.job is not None}
        refused = {one.id: one for one in trainings if one.plan and one.plan.refused_at}
        for task_id in {one.task_id for one in refused.values()}:
            for job in self.watched.unpaid(task_id):
                if job.training_id in refused and job.name not in own:
                    found[job.number] += job.reserved_nano_usd
        return found
