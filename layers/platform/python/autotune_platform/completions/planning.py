"""From a submission to the batch that it becomes: its tasks, and who judges for them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Literal

from autotune.protocol.completions import NewCompletion, Priority, SubmissionWarning
from autotune.protocol.graders import GraderStatus
from autotune.protocol.limits import MAX_DEADLINE_SECONDS
from autotune.protocol.problems import FieldProblem
from autotune_platform.access.models import Caller
from autotune_platform.completions.models import CHUNK_COMPLETIONS, Batch, Segment
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.calibrating import require_calibrated
from autotune_platform.graders.directory import GraderDirectory, require_verified
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.tasks.models import Task
from autotune_platform.tasks.service import TaskService
from autotune_platform.verdicts.models import GradedBy
from autotune_platform.verdicts.panels import Panel, PanelMember, PanelRecords

# Queue, run and writing, on top of what the grader itself takes.
_PLATFORM_LATENCY_MS = 500
_SECONDS_PER_DAY = 86_400


_MOST_WARNINGS = 20
_UNWELL: Mapping[GraderStatus, tuple[Literal["grader_degraded", "grader_inactive"], str]] = {
    "degraded": ("grader_degraded", "its health is bad; what is submitted may wait"),
    "inactive": (
        "grader_inactive",
        "it was not well for half an hour; what is submitted waits for it until its deadline",
    ),
}


@dataclass(frozen=True)
class Plan:
    """The batch that a submission becomes, and what its caller should know of its graders.

    ``runs`` is how many its chunks begin.
    """

    batch: Batch
    runs: int
    warnings: Sequence[SubmissionWarning]


@part
class BatchPlanner:
    """Makes batches of submissions, after checking their tasks and graders."""

    tasks: TaskService
    graders: GraderDirectory
    panels: PanelRecords
    clock: Clock = SYSTEM_CLOCK

    def require_graders(self, caller: Caller, tasks: Sequence[Task]) -> None:
        """Check, before anything is written, that tasks have graders which can judge.

        Raises:
            ConflictError: a task's grader is gone.
            GraderNotVerifiedError: a task's grader is not verified.
            GraderNotCalibratedError: it is not calibrated, and the task refuses such ones.
        """
        graders = self._graders_of(caller, {task.id: task for task in tasks})
        for grader in graders.values():
            require_verified(grader)
        _require_calibrated(tasks, graders)

    def plan(
        self,
        caller: Caller,
        completions: Sequence[NewCompletion],
        *,
        batch_id: str,
        fingerprint: str,
        priority: Priority,
        alone: bool,
    ) -> Plan:
        """Return the batch that a submission becomes; panels that judge for it are stored by then.

        Raises:
            InvalidRequestError: a task is not one of the organisation's.
            GraderNotVerifiedError: a task's grader is not verified.
            GraderNotCalibratedError: it is not calibrated, and the task refuses such ones.
            ConflictError: a task's grader is gone.
        """
        tasks = self._tasks_of(caller, completions, alone=alone)
        graders = self._graders_of(caller, tasks)
        _require_calibrated(tasks.values(), graders)
        now = self.clock.now()
        slowest = max(grader.capabilities.avg_latency_ms for grader in graders.values())
        judges = {task.id: self._judge(task, graders) for task in tasks.values()}
        batch = Batch(
            id=batch_id,
            organization_id=caller.organization_id,
            fingerprint=fingerprint,
            status="accepting",
            priority=priority,
            segments=[
                Segment(
                    task_id=task_id,
                    grader_id=judges[task_id].grader_id,
                    grader_version=judges[task_id].grader_version,
                    share_identity=tasks[task_id].share_identity,
                    deadline_seconds=_deadline_seconds(tasks[task_id]),
                    retention_days=tasks[task_id].retention_days,
                    uncalibrated=tasks[task_id].uncalibrated,
                    count=sum(1 for _ in group),
                )
                for task_id, group in groupby(completions, key=attrgetter("task_id"))
            ],
            estimated_score_time_ms=slowest + _PLATFORM_LATENCY_MS,
            created_at=now,
            attempted_at=now,
        )
        return Plan(batch, self._runs(batch, tasks), _warnings(graders))

    def _runs(self, batch: Batch, tasks: Mapping[str, Task]) -> int:
        """Return how many runs a batch begins: for each judge as many as ``chunks_of`` cuts."""
        judged: Counter[tuple[str, str]] = Counter()
        members: dict[tuple[str, str], int] = {}
        for segment in batch.segments:
            judge = segment.grader_id, segment.grader_version
            judged[judge] += segment.count
            members[judge] = len(tasks[segment.task_id].graders)
        return sum(
            math.ceil(count / CHUNK_COMPLETIONS) * members[judge] for judge, count in judged.items()
        )

    def _tasks_of(
        self, caller: Caller, completions: Sequence[NewCompletion], *, alone: bool
    ) -> dict[str, Task]:
        tasks = self.tasks.get_many(caller, {completion.task_id for completion in completions})
        unknown = [
            FieldProblem(
                field="taskId" if alone else f"completions[{index}].taskId",
                expected="a task of this organisation",
            )
            for index, completion in enumerate(completions)
            if completion.task_id not in tasks
        ]
        if unknown:
            raise InvalidRequestError(
                f"{unknown[0].field}: no such task in this organisation", fields=unknown[:20]
            )
        return tasks

    def _graders_of(self, caller: Caller, tasks: dict[str, Task]) -> dict[str, Grader]:
        try:
            return {
                grader_id: self.graders.get_visible(caller, "organization", grader_id)
                for grader_id in {
                    named.grader_id for task in tasks.values() for named in task.graders
                }
            }
        except NotFoundError as error:
            raise ConflictError(f"{error.detail} any more; give the task another one") from error

    def _judge(self, task: Task, graders: Mapping[str, Grader]) -> GradedBy:
        """Return the task's one grader, or the panel that judges in its place, stored by then.

        Raises:
            GraderNotVerifiedError: a grader is not verified.
        """
        members = [
            PanelMember(
                grader_id=named.grader_id,
                grader_version=require_verified(graders[named.grader_id]),
                weight=named.weight,
            )
            for named in task.graders
        ]
        is_human = graders[members[0].grader_id].is_person
        if len(members) == 1 and task.review is None and not is_human:
            return GradedBy(
                grader_id=members[0].grader_id, grader_version=members[0].grader_version
            )
        panel = Panel.of(
            task.organization_id,
            members,
            aggregation=task.aggregation,
            quorum=task.quorum,
            review=task.review,
            is_human=is_human,
        )
        self.panels.keep(panel)
        return GradedBy(grader_id=panel.id, grader_version=panel.version)


def _require_calibrated(tasks: Iterable[Task], graders: Mapping[str, Grader]) -> None:
    for task in tasks:
        for named in task.graders:
            require_calibrated(graders[named.grader_id], task.uncalibrated)


def _warnings(graders: Mapping[str, Grader]) -> list[SubmissionWarning]:
    """Return which graders are not well, in the order of their ids."""
    unwell = [id_ for id_, grader in sorted(graders.items()) if grader.status in _UNWELL]
    said = {id_: _UNWELL[graders[id_].status] for id_ in unwell[:_MOST_WARNINGS]}
    return [
        SubmissionWarning(code=code, grader_id=id_, detail=detail)
        for id_, (code, detail) in said.items()
    ]


def _deadline_seconds(task: Task) -> int:
    """Return how long a task's completions may take: never longer than their text is there."""
    longest = MAX_DEADLINE_SECONDS
    if task.retention_days is not None:
        longest = min(longest, task.retention_days * _SECONDS_PER_DAY)
    return min(task.deadline_seconds or longest, longest)
