"""``client.tasks``: what is to be scored, and by which grader."""

from collections.abc import Mapping
from typing import Any, Generic, Unpack

from autotune.client.arguments import (
    AbsentT,
    NotGiven,
    change_of,
    fields_of,
    not_given,
    request_of,
)
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import (
    Call,
    CallOptions,
    Listing,
    call,
    listing,
    nothing,
    returning,
    split_options,
)
from autotune.protocol import tasks, windows
from autotune.protocol.comparison import ModelComparison
from autotune.protocol.levels import Uncalibrated

_task = returning(tasks.TaskResponse, lambda answer: answer.task)
_stats = returning(windows.TaskStats)
_comparison = returning(ModelComparison)
_tasks = returning(tasks.TaskList, lambda page: (page.tasks, page.next_token))


class TaskFields(CallOptions, Generic[AbsentT], total=False):
    """Fields of a task besides its name; ``AbsentT`` is the type of one that is left out."""

    grader_id: str | AbsentT
    graders: Mapping[str, float] | AbsentT
    aggregation: tasks.Aggregation | AbsentT
    quorum: int | AbsentT | None
    review: tasks.ReviewPolicy | Mapping[str, Any] | AbsentT | None
    description: str | AbsentT
    prompt_template: str | AbsentT
    metadata: Mapping[str, Any] | AbsentT
    share_identity: bool | AbsentT
    deadline_seconds: int | AbsentT | None
    retention_days: int | AbsentT | None
    uncalibrated: Uncalibrated | AbsentT | None


def create_task(
    *,
    name: str,
    **options: Unpack[TaskFields[None]],
) -> Call[tasks.Task]:
    """Create a task that one grader judges, or several together.

    Args:
        grader_id: the one grader; give either this or ``graders``.
        graders: the weight of each grader by its id, above 0 and up to 1,000; up to ten of them.
        aggregation: how their values become one: ``mean`` (default), ``median``, ``min``,
            ``confidence_weighted`` or ``majority``.
        quorum: how many of them have to score a completion; default all.
        review: when a person is asked, such as ``{"confidence_below": 0.5}``; default never.
        share_identity: let the grader see each completion's ``model_id``; default False.
        deadline_seconds: 60 to 604,800; what has no verdict that long after its submission ends
            ``failed`` with ``deadline_exceeded``. Default seven days.
        retention_days: 1 to 3650; so long after its submission a completion's prompt, response and
            metadata are gone, and its verdict stays. Default none: they stay until deleted.
        uncalibrated: what becomes of completions where a rubric grader is not calibrated:
            ``refuse``, ``abstain`` or ``allow``. Default none: a rubric of levels abstains.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: there is no such grader that this organisation may use.
        ConflictError: a grader is not verified, or not calibrated where the task refuses that.
    """
    fields, call_options = _split(options)
    request = request_of(tasks.CreateTaskRequest, name=name, **fields)
    return call("POST", "tasks", read=_task, body=request, **call_options)


def get_task(task_id: str, **options: Unpack[CallOptions]) -> Call[tasks.Task]:
    """Read a task.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return call("GET", "tasks", task_id, read=_task, **options)


def list_tasks(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[tasks.Task]:
    """Walk through the organisation's tasks, oldest first.

    Args:
        page_size: tasks fetched at a time, 1 to 200.
    """
    return listing("tasks", read=_tasks, page_size=page_size, **options)


def update_task(
    task_id: str,
    *,
    name: str | NotGiven = not_given,
    **options: Unpack[TaskFields[NotGiven]],
) -> Call[tasks.Task]:
    """Change the fields that are given; what was submitted before keeps all but name and template.

    Args:
        grader_id: one grader in place of all that there were.
        graders: the weight of each of several graders, in place of all that there were.
        review: the whole of the new policy; None asks no person any more.
        quorum: None makes it all graders again.
        deadline_seconds: None lifts the task's deadline, so that seven days apply again.
        retention_days: None keeps texts of later submissions until they are deleted.
        uncalibrated: None has a rubric of levels abstain again where it is not calibrated.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such task in this organisation.
        InvalidRequestError: there is no such grader that this organisation may use.
        ConflictError: a new grader is not verified, or not calibrated where the task refuses that,
            or the task changed at the same time.
    """
    fields, call_options = _split(options)
    request = change_of(
        tasks.UpdateTaskRequest,
        clearable={"deadline_seconds", "quorum", "retention_days", "review", "uncalibrated"},
        name=name,
        **fields,
    )
    return call("PATCH", "tasks", task_id, read=_task, body=request, **call_options)


def delete_task(task_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a task; what was submitted to it is still scored and stays readable.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return call("DELETE", "tasks", task_id, read=nothing, **options)


def task_stats(
    task_id: str,
    *,
    window: windows.PartWindow = "7d",
    model_id: str | None = None,
    grader_version: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[windows.TaskStats]:
    """Read what a task's completions came to over time, by model and by version of the grader.

    Figures follow verdicts by seconds. What nothing was counted of is None, and never 0.

    Args:
        window: how far back: ``24h`` (by the hour), ``7d`` or ``30d`` (by the day).
        model_id: only completions of this model.
        grader_version: only what this version of the grader, or of the panel, decided.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    query = {"window": window, "model": model_id, "graderVersion": grader_version}
    return call("GET", "tasks", task_id, "stats", read=_stats, query=query, **options)


def compare_models(
    task_id: str,
    *,
    a: str,
    b: str,
    tolerance: float = 0.0,
    **options: Unpack[CallOptions],
) -> Call[ModelComparison]:
    """Compare two models, or two checkpoints, on the prompts that both answered at a task.

    The latest 500 scores of each are compared; ``is_complete`` is whether that is all.

    Args:
        a: the model that is compared with.
        b: the model whose scores are better where the difference is above 0.
        tolerance: a difference of no more is a tie, 0 to 1.

    Raises:
        NotFoundError: there is no such task in this organisation.
        InvalidRequestError: both are the same model.
    """
    query = {"a": a, "b": b, "tolerance": str(tolerance)}
    return call("GET", "tasks", task_id, "comparison", read=_comparison, query=query, **options)


def _split(options: CallOptions) -> tuple[dict[str, Any], CallOptions]:
    """Return a request's fields apart from the options of the call."""
    fields, call_options = split_options(options)
    graders = fields.get("graders")
    if isinstance(graders, Mapping):
        fields["graders"] = [{"grader_id": one, "weight": graders[one]} for one in graders]
    if "review" in fields:
        fields["review"] = fields_of(fields["review"])
    return fields, call_options


class TaskMethods:
    """Methods of tasks."""

    create = Method(create_task)
    get = Method(get_task)
    list = ListMethod(list_tasks)
    update = Method(update_task)
    delete = Method(delete_task)
    stats = Method(task_stats)
    compare = Method(compare_models)


class Tasks(TaskMethods, Resource):
    """Tasks, blocking."""


class AsyncTasks(TaskMethods, AsyncResource):
    """Tasks, for an event loop."""
