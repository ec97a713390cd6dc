"""``autotune apprentice apply``: brings tasks to what an ``apprentice.yaml`` says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from autotune.cli.apprentice_keys import KeyPlan, plan_keys
from autotune.client import (
    AutotuneClient,
    AutotuneError,
    InvalidRequestError,
    NotFoundError,
)
from autotune.client.apprentice_files.faults import (
    ApprenticeFileError,
    ApprenticeFileFault,
)
from autotune.client.apprentice_files.models import ApprenticeFile, FileTask, KeySource
from autotune.client.apprentice_files.wording import findings, path_on_wire
from autotune.protocol.apprentice_definition import definition_hash
from autotune.protocol.apprentice_tasks import (
    ApprenticeTask,
    CustomEvaluator,
    PutApprenticeTaskRequest,
)


@dataclass(frozen=True)
class TaskChange:
    """What becomes of one task.

    Attributes:
        version: of its configuration, after.
        is_evidence_new: whether its definition is another one, so that evidence begins anew.
    """

    task: str
    change: Literal["new", "changed", "unchanged"]
    version: int
    is_evidence_new: bool

    @property
    def as_json(self) -> dict[str, Any]:
        """The change as a program reads it."""
        return {
            "task": self.task,
            "change": self.change,
            "version": self.version,
            "evidenceBeginsAnew": self.is_evidence_new,
        }

    def __str__(self) -> str:
        if self.change == "new":
            return f"{self.task}: new, version 1"
        if self.change == "unchanged":
            return f"{self.task}: unchanged, version {self.version}"
        said = f"{self.task}: version {self.version}"
        if self.is_evidence_new:
            return f"{said}; its definition changed, so evidence begins anew"
        return f"{said}; its definition is the same, so evidence stands"


@dataclass(frozen=True)
class Plan:
    """What an ``apply`` is going to do, of which nothing is done.

    Attributes:
        before: each task as it is; None for one that is new.
    """

    file: ApprenticeFile
    keys: Sequence[KeyPlan]
    before: Mapping[str, ApprenticeTask | None]

    @property
    def known_ids(self) -> dict[KeySource, str]:
        """The connections that there are already."""
        return {one.source: one.connection.id for one in self.keys if one.connection is not None}

    def changes(self) -> list[TaskChange]:
        """Return what would change, without changing it."""
        ids = self.known_ids
        return [
            _expected_change(name, task.with_connections(ids), self.before[name])
            for name, task in self.file.tasks.items()
        ]


class PartlyAppliedError(ApprenticeFileError):
    """The API refused a task.

    Attributes:
        done: the tasks before it, which it took.
    """

    def __init__(
        self, source: str, faults: Sequence[ApprenticeFileFault], done: Sequence[TaskChange]
    ) -> None:
        super().__init__(source, faults)
        self.done = tuple(done)


def make_plan(client: AutotuneClient, file: ApprenticeFile) -> Plan:
    """Return what is to be done for a file.

    Raises:
        ApprenticeFileError: a connection, a grader or a key that the file names is not there, or is
            another provider's.
    """
    keys, faults = plan_keys(file, client.llm.connections.list())
    plan = Plan(file, keys, {name: _present(client, name) for name in file.tasks})
    for task in file.tasks.values():
        faults += _faults_of(client, plan, task)
    if faults:
        raise ApprenticeFileError(file.source, faults)
    return plan


def carry_out(client: AutotuneClient, plan: Plan) -> list[TaskChange]:
    """Make the connections that are needed, then put each task; return what changed.

    Raises:
        PartlyAppliedError: the API refused a task, such as for a model without a known price.
    """
    ids = {one.source: one.carry_out(client) for one in plan.keys}
    done: list[TaskChange] = []
    for name, task in plan.file.tasks.items():
        try:
            put = client.apprentice_tasks.put(name, configuration=task.with_connections(ids))
        except InvalidRequestError as error:
            faults = _refused(plan.file, name, error)
            raise PartlyAppliedError(plan.file.source, faults, done) from error
        except AutotuneError as error:
            if done:
                error.add_note(
                    f"done before: {'; '.join(map(str, done))}; the same command goes on"
                )
            raise
        done.append(_change(name, put.version, put.definition_hash, plan.before[name]))
    return done


def _present(client: AutotuneClient, name: str) -> ApprenticeTask | None:
    try:
        return client.apprentice_tasks.get(name)
    except NotFoundError:
        return None


def _faults_of(client: AutotuneClient, plan: Plan, task: FileTask) -> list[ApprenticeFileFault]:
    """Return what of a task is known to be refused before it is put."""
    file = plan.file
    faults = []
    try:
        task.with_connections(plan.known_ids)
    except ValidationError as error:
        place = file.path_of(task.name, ("remote",))
        faults += [file.fault((*place, *path), expected) for path, expected in findings(error)]
    evaluator = task.configuration.evaluator
    if isinstance(evaluator, CustomEvaluator):
        try:
            client.graders.get(evaluator.grader_id)
        except NotFoundError:
            path = file.path_of(task.name, ("evaluator", "grader_id"))
            expected = "expected a grader that this organisation may use"
            faults.append(file.fault(path, f"{expected}: `autotune graders list` shows them"))
    return faults


def _expected_change(
    name: str, configuration: PutApprenticeTaskRequest, before: ApprenticeTask | None
) -> TaskChange:
    document = configuration.model_dump(mode="json", by_alias=True)
    is_same = before is not None and document == before.configuration.model_dump(
        mode="json", by_alias=True
    )
    version = 1 if before is None else before.version + (not is_same)
    return _change(name, version, definition_hash(document), before)


def _change(name: str, version: int, definition: str, before: ApprenticeTask | None) -> TaskChange:
    if before is None:
        return TaskChange(name, "new", version, is_evidence_new=False)
    is_new = definition != before.definition_hash
    change: Literal["changed", "unchanged"] = (
        "unchanged" if version == before.version else "changed"
    )
    return TaskChange(name, change, version, is_evidence_new=is_new)


def _refused(
    file: ApprenticeFile, task: str, error: InvalidRequestError
) -> list[ApprenticeFileFault]:
    """Return what the API refused of a task, where the file says it."""
    if not error.errors:
        return [file.fault(("tasks", task), error.detail)]
    faults = []
    for problem in error.errors:
        place = file.path_of(task, path_on_wire(problem.field))
        detail = error.detail.removeprefix(f"{problem.field}: ")
        said = detail if len(error.errors) == 1 else f"expected {problem.expected}"
        faults.append(file.fault(place, said))
    return faults
