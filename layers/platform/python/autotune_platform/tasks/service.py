"""Creating, reading and changing tasks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autotune.protocol.ids import new_id
from autotune.protocol.tasks import CreateTaskRequest, GraderWeight, UpdateTaskRequest
from autotune_platform.access.models import Caller
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.calibrating import require_calibrated
from autotune_platform.graders.directory import GraderDirectory, require_verified
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.tasks.models import Task
from autotune_platform.tasks.repository import TaskRepository

_IDS_AT_A_TIME = 12


@part
class TaskService:
    """Keeps an organisation's tasks."""

    repository: TaskRepository
    graders: GraderDirectory
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: CreateTaskRequest) -> Task:
        """Create a task.

        Raises:
            InvalidRequestError: a grader is none that the caller may use, or a human one beside
                others.
            GraderNotVerifiedError: a grader is not verified.
            GraderNotCalibratedError: one is not calibrated, and the task refuses such ones.
        """
        graders = request.all_graders()
        found = self._require_graders(caller, graders, alone=request.grader_id is not None)
        for grader in found:
            require_calibrated(grader, request.uncalibrated)
        now = self.clock.now()
        task = Task(
            id=new_id("task"),
            organization_id=caller.organization_id,
            created_at=now,
            updated_at=now,
            **{**dict(request), **_named(graders)},
        )
        self.repository.add(task, at_most=caller.limits.tasks)
        return task

    def get(self, caller: Caller, task_id: str) -> Task:
        """Return a task of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.get_of(caller.organization_id, task_id)

    def get_many(self, caller: Caller, task_ids: Iterable[str]) -> dict[str, Task]:
        """Return those of the tasks that are the organisation's, by id."""
        tasks = self.repository.get_many(task_ids)
        return {
            task.id: task
            for task in tasks.values()
            if task.organization_id == caller.organization_id
        }

    def is_known(self, caller: Caller, task_id: str) -> bool:
        """Return whether a task is or was the organisation's; of any other it takes as long."""
        return self.repository.is_known(caller.organization_id, task_id)

    def ids(self, caller: Caller, *, after: str | None = None) -> Iterator[str]:
        """Yield the ids of every task that the organisation ever had, oldest first.

        A deleted one keeps its place, because what was submitted to it can still be read.
        """
        while True:
            found = self.repository.ids(caller.organization_id, after=after, limit=_IDS_AT_A_TIME)
            yield from found
            if len(found) < _IDS_AT_A_TIME:
                return
            after = found[-1]

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[Task], str | None]:
        """Return a page of the organisation's tasks, oldest first."""
        return self.repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def id_after(self, organization_id: str, task_id: str | None) -> str | None:
        """Return the task behind one in the order of ids, deleted or not; None at the end."""
        found = self.repository.ids(organization_id, after=task_id, limit=1)
        return found[0] if found else None

    def update(self, caller: Caller, task_id: str, request: UpdateTaskRequest) -> Task:
        """Change a task; completions that were submitted before keep their grader.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            InvalidRequestError: a new grader is none that the caller may use, or a human one beside
                others; or the quorum is larger than the number of graders.
            GraderNotVerifiedError: a new grader is not verified.
            GraderNotCalibratedError: a grader is not calibrated, and the task refuses such ones.
            ConflictError: the task changed at the same time.
        """
        before = self.get(caller, task_id)
        changes = _changes(request)
        graders = request.all_graders()
        found: Sequence[Grader] = ()
        if graders:
            found = self._require_graders(caller, graders, alone=request.grader_id is not None)
            changes = {"quorum": None, **changes, **_named(graders)}
        _require_attainable(request.quorum, graders or before.graders)
        after = before.model_copy(update={**changes, "updated_at": self.clock.now()})
        if after.uncalibrated == "refuse":
            if not graders and before.uncalibrated != "refuse":
                named = [one.grader_id for one in after.graders]
                found = self.graders.of_organization(caller.organization_id, named)
            for grader in found:
                require_calibrated(grader, "refuse")
        if not self.repository.replace(before, after):
            raise ConflictError(f"task {task_id} changed at the same time; read it again")
        return after

    def delete(self, caller: Caller, task_id: str) -> None:
        """Delete a task; what was submitted to it is still scored and stays readable.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        self.repository.delete(self.get(caller, task_id))

    def _require_graders(
        self, caller: Caller, graders: Sequence[GraderWeight], *, alone: bool
    ) -> Sequence[Grader]:
        """Return all graders, which may be used, and of which a person judges alone."""
        found = []
        for place, named in enumerate(graders):
            field = "graderId" if alone else f"graders[{place}].graderId"
            try:
                grader = self.graders.get_visible(caller, "organization", named.grader_id)
            except NotFoundError as error:
                raise InvalidRequestError.of_field(
                    field,
                    "a grader of this organisation, or a public one",
                    detail=f"{error.detail} that this organisation may use",
                ) from error
            require_verified(grader)
            found.append(grader)
            if grader.is_person and len(graders) > 1:
                raise InvalidRequestError.of_field(
                    field,
                    "no human grader beside others; a review policy asks a person as well",
                    detail=f"grader {grader.id} is a person's and must be the only one",
                )
        return found


_LIFTED_BY_NULL = {"deadline_seconds", "quorum", "review", "retention_days", "uncalibrated"}


def _changes(request: UpdateTaskRequest) -> dict[str, Any]:
    """Return the fields that a request sets."""
    lifted = request.model_fields_set & _LIFTED_BY_NULL
    return {name: value for name, value in request if value is not None or name in lifted}


def _named(graders: Sequence[GraderWeight]) -> dict[str, Any]:
    """Return a task's fields that name its graders."""
    return {
        "graders": list(graders),
        "grader_id": graders[0].grader_id if len(graders) == 1 else None,
    }


def _require_attainable(quorum: int | None, graders: Sequence[GraderWeight]) -> None:
    if quorum is not None and quorum > len(graders):
        raise InvalidRequestError.of_field(
            "quorum",
            f"at most the number of graders, {len(graders)}",
            detail=f"{quorum} is more than the task has graders",
        )
