"""Reads an ``apprentice.yaml``, and says what of it is wrong by line and key."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from autotune.client.apprentice_files.faults import (
    ApprenticeFileError,
    ApprenticeFileFault,
    Path,
    dotted,
)
from autotune.client.apprentice_files.models import (
    ApprenticeFile,
    AskedModel,
    FileTask,
    KeySource,
    place_of,
)
from autotune.client.apprentice_files.remote_models import read_local, read_remote
from autotune.client.apprentice_files.replaced import CUSTOM_GRADER, replaced_by
from autotune.client.apprentice_files.wording import findings
from autotune.client.apprentice_files.yaml_text import YamlText, read_yaml
from autotune.protocol.apprentice_tasks import TASK_NAME, PutApprenticeTaskRequest
from autotune.protocol.limits import MAX_APPRENTICE_TASKS

SECTIONS = (
    "remote",
    "local",
    "evaluator",
    "thresholds",
    "confidence",
    "sampling",
    "budgets",
    "training",
)
"""What may stand at the top, for each task that has none of its own."""

_AMOUNTS = ("daily", "weekly", "monthly", "training_monthly")


def parse_apprentice_file(text: str, *, source: str = "apprentice.yaml") -> ApprenticeFile:
    """Return the tasks that a file says.

    A section at the top holds for each task that has none of its own. One in a task takes its place
    as a whole.

    Args:
        text: what the file holds.
        source: its name, for errors.

    Raises:
        ApprenticeFileError: it is no YAML, or a value is not what it may be; ``faults`` have all
            that was found, with their lines. Conditions between several keys are checked once each
            of them is right by itself.
    """
    return _Reading(read_yaml(text, source=source), source).file()


class _Reading:
    """One reading of a file: gathers faults."""

    def __init__(self, text: YamlText, source: str) -> None:
        self._text = text
        self._source = source
        self._faults = list(text.faults)
        self._top: dict[str, Any] = {}
        self._used: set[str] = set()

    def file(self) -> ApprenticeFile:
        """Return what the file says, or raise all its faults."""
        said = self._text.value
        if not isinstance(said, dict):
            self._fault((), "expected keys with their values: remote, local, tasks and others")
            said = {}
        self._top = said
        for name in said.keys() - {*SECTIONS, "tasks"}:
            self._fault((name,), replaced_by((name,)) or "no key of this name")
        tasks, origins = {}, {}
        for name, values in self._tasks().items():
            origins[name] = self._origins(values)
            task = self._task(name, values, origins[name])
            if task is not None:
                tasks[name] = task
        if not self._faults:
            self._refuse_unused()
        if self._faults:
            raise ApprenticeFileError(self._source, self._faults)
        return ApprenticeFile(self._source, tasks, self._text, origins)

    def _refuse_unused(self) -> None:
        """Refuse sections at the top that nobody would have checked."""
        for name in self._top.keys() & {*SECTIONS} - self._used:
            self._fault((name,), "holds for no task, since each has its own: leave it out")

    def _fault(self, path: Path, expected: str) -> None:
        line = self._text.line_of(path)
        self._faults.append(ApprenticeFileFault(line, dotted(path), expected))

    def _tasks(self) -> Mapping[str, dict[str, Any]]:
        """Return what the file says of each task by name."""
        tasks = self._top.get("tasks")
        if not isinstance(tasks, dict) or not tasks:
            if isinstance(self._text.value, dict):
                self._fault(("tasks",), "expected at least one task, by its name")
            return {}
        if len(tasks) > MAX_APPRENTICE_TASKS:
            self._fault(("tasks",), f"expected at most {MAX_APPRENTICE_TASKS} tasks")
            return {}
        if "budgets" in self._top and len(tasks) > 1:
            self._used.add("budgets")
            expected = f"each task has a budget of its own: give each of the {len(tasks)} its own"
            self._fault(("budgets",), expected)
        return {name: task for name, task in tasks.items() if self._is_task(name, task)}

    def _is_task(self, name: str, task: Any) -> bool:
        path = ("tasks", name)
        if TASK_NAME.fullmatch(name) is None:
            expected = (
                "expected a name of a lower-case letter, then up to 62 lower-case letters, digits "
                "and underscores"
            )
            self._fault(path, expected)
            return False
        if not isinstance(task, dict):
            self._fault(path, "expected keys with their values")
            return False
        return True

    def _origins(self, task: Mapping[str, Any]) -> Mapping[str, Path]:
        """Return where a task's sections stand that it has from the top."""
        names = [name for name in SECTIONS if name in self._top and name not in task]
        self._used.update(names)
        return {name: (name,) for name in names}

    def _task(
        self, name: str, own: Mapping[str, Any], origins: Mapping[str, Path]
    ) -> FileTask | None:
        values = {**{section: self._top[section] for section in origins}, **own}
        before = len(self._faults)
        sources: list[tuple[Path, KeySource]] = []
        server: AskedModel | None = None
        if "remote" in values:
            place = place_of(origins, name, ("remote",))
            values["remote"], sources = read_remote(values["remote"], place, self._fault)
        if "local" in values:
            place = place_of(origins, name, ("local",))
            values["local"], key = read_local(values["local"], place, self._fault)
            server = None if key is None else AskedModel(place, key)
        if isinstance(values.get("budgets"), dict):
            place = place_of(origins, name, ("budgets",))
            values["budgets"] = self._amounts(values["budgets"], place)
        self._refuse_code(values.get("evaluator"), place_of(origins, name, ("evaluator",)))
        try:
            request = PutApprenticeTaskRequest.model_validate(values, by_alias=False, by_name=True)
        except ValidationError as error:
            known = {fault.key for fault in self._faults[before:]}
            for path, expected in findings(error):
                place = place_of(origins, name, path)
                if dotted(place) not in known:
                    self._fault(place, expected)
            return None
        return FileTask(name, request, [AskedModel(*one) for one in sources], server)

    def _amounts(self, budgets: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return budgets with amounts as texts, as they are written: no fraction is rounded."""
        return {
            name: self._text.numerals.get((*path, name), value) if name in _AMOUNTS else value
            for name, value in budgets.items()
        }

    def _refuse_code(self, evaluator: Any, path: Path) -> None:
        """Refuse a Python path where a registered grader is to stand."""
        if isinstance(evaluator, str) and "." in evaluator:
            self._fault(path, CUSTOM_GRADER)
        elif isinstance(evaluator, dict) and evaluator.get("type") == "custom":
            grader = evaluator.get("grader_id")
            if isinstance(grader, str) and "." in grader:
                self._fault((*path, "grader_id"), CUSTOM_GRADER)
