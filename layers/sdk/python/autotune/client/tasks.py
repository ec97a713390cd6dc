"""``client.tasks``: what is to be scored, and by which grader."""

from collections.abc import Mapping
from typing import Any, Unpack

from autotune.client.arguments import NotGiven, change_of, fields_of, not_given, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.protocol import tasks

_task = returning(tasks.TaskResponse, lambda answer: answer.task)
_tasks = returning(tasks.TaskList, lambda page: (page.tasks, page.next_token))


def create_task(
    *,
    name: str,
    grader_id: str | None = None,
    graders: Mapping[str, float] | None = None,
    aggregation: tasks.Aggregation | None = None,
    quorum: int | None = None,
    review: tasks.ReviewPolicy | Mapping[str, Any] | None = None,
    description: str | None = None,
    prompt_template: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    share_identity: bool | None = None,
    deadline_seconds: int | None = None,
    retention_days: int | None = None,
    **options: Unpack[CallOptions],
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

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: there is no such grader that this organisation may use.
        ConflictError: a grader is not verified.
    """
    request = request_of(
        tasks.CreateTaskRequest,
        name=name,
        grader_id=grader_id,
        graders=_named(graders),
        aggregation=aggregation,
        quorum=quorum,
        review=fields_of(review),
        description=description,
        prompt_template=prompt_template,
        metadata=metadata,
        share_identity=share_identity,
        deadline_seconds=deadline_seconds,
        retention_days=retention_days,
    )
    return call("POST", "tasks", read=_task, body=request, **options)


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
    grader_id: str | NotGiven = not_given,
    graders: Mapping[str, float] | NotGiven = not_given,
    aggregation: tasks.Aggregation | NotGiven = not_given,
    quorum: int | NotGiven | None = not_given,
    review: tasks.ReviewPolicy | Mapping[str, Any] | NotGiven | None = not_given,
    description: str | NotGiven = not_given,
    prompt_template: str | NotGiven = not_given,
    metadata: Mapping[str, Any] | NotGiven = not_given,
    share_identity: bool | NotGiven = not_given,
    deadline_seconds: int | NotGiven | None = not_given,
    retention_days: int | NotGiven | None = not_given,
    **options: Unpack[CallOptions],
) -> Call[tasks.Task]:
    """Change the fields that are given; what was submitted before keeps all but name and template.

    Args:
        grader_id: one grader in place of all that there were.
        graders: the weight of each of several graders, in place of all that there were.
        review: the whole of the new policy; None asks no person any more.
        quorum: None makes it all graders again.
        deadline_seconds: None lifts the task's deadline, so that seven days apply again.
        retention_days: None keeps texts of later submissions until they are deleted.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such task in this organisation.
        InvalidRequestError: there is no such grader that this organisation may use.
        ConflictError: a new grader is not verified, or the task changed at the same time.
    """
    request = change_of(
        tasks.UpdateTaskRequest,
        clearable={"deadline_seconds", "quorum", "retention_days", "review"},
        name=name,
        grader_id=grader_id,
        graders=_named(graders),
        aggregation=aggregation,
        quorum=quorum,
        review=fields_of(review),
        description=description,
        prompt_template=prompt_template,
        metadata=metadata,
        share_identity=share_identity,
        deadline_seconds=deadline_seconds,
        retention_days=retention_days,
    )
    return call("PATCH", "tasks", task_id, read=_task, body=request, **options)


def delete_task(task_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a task; what was submitted to it is still scored and stays readable.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return call("DELETE", "tasks", task_id, read=nothing, **options)


def _named(
    graders: Mapping[str, float] | NotGiven | None,
) -> list[dict[str, Any]] | NotGiven | None:
    if not isinstance(graders, Mapping):
        return graders
    return [{"grader_id": grader_id, "weight": weight} for grader_id, weight in graders.items()]


class TaskMethods:
    """Methods of tasks."""

    create = Method(create_task)
    get = Method(get_task)
    list = ListMethod(list_tasks)
    update = Method(update_task)
    delete = Method(delete_task)


class Tasks(TaskMethods, Resource):
    """Tasks, blocking."""


class AsyncTasks(TaskMethods, AsyncResource):
    """Tasks, for an event loop."""
