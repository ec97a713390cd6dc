"""``client.apprentice_tasks``: what a paid model is asked, until a small one answers it as well."""

from collections.abc import Mapping
from typing import Any, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.protocol import apprentice_tasks as wire
from autotune.protocol.apprentice_pairs import ApprenticePairList, ApprenticeVersionPair

_task = returning(wire.ApprenticeTaskResponse, lambda answer: answer.task)
_tasks = returning(wire.ApprenticeTaskList, lambda page: (page.tasks, page.next_token))
_configuration = returning(
    wire.ApprenticeConfigurationResponse, lambda answer: answer.configuration
)
_configurations = returning(
    wire.ApprenticeConfigurationList, lambda page: (page.configurations, page.next_token)
)
_pairs = returning(ApprenticePairList, lambda page: (page.pairs, page.next_token))


def put_apprentice_task(
    name: str,
    *,
    configuration: wire.PutApprenticeTaskRequest | Mapping[str, Any],
    **options: Unpack[CallOptions],
) -> Call[wire.ApprenticeTask]:
    """Make a task, or give it its next configuration; the same as now changes nothing.

    Args:
        name: a lower-case letter, then up to 62 lower-case letters, digits and underscores.
        configuration: all of it; a mapping has the fields of ``PutApprenticeTaskRequest``, in
            snake_case or as on the wire.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: a connection or a grader is not there, a model has no known price, or
            the name cannot be.
        ConflictError: the organisation has as many tasks as it may, or the task as many
            configurations.
    """
    request = (
        request_of(wire.PutApprenticeTaskRequest, **configuration)
        if isinstance(configuration, Mapping)
        else configuration
    )
    return call("PUT", "apprentice", "tasks", name, read=_task, body=request, **options)


def get_apprentice_task(name: str, **options: Unpack[CallOptions]) -> Call[wire.ApprenticeTask]:
    """Read a task with its present configuration.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("GET", "apprentice", "tasks", name, read=_task, **options)


def list_apprentice_tasks(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.ApprenticeTaskSummary]:
    """Walk through the organisation's tasks by name, without their configurations.

    Args:
        page_size: tasks fetched at a time, 1 to 200.
    """
    return listing("apprentice", "tasks", read=_tasks, page_size=page_size, **options)


def delete_apprentice_task(name: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a task with all its configurations.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("DELETE", "apprentice", "tasks", name, read=nothing, **options)


def list_apprentice_configurations(
    name: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.ApprenticeConfiguration]:
    """Walk through the versions of a task's configuration, newest first.

    Args:
        page_size: versions fetched at a time, 1 to 200; of long ones fewer come at a time.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return listing(
        "apprentice",
        "tasks",
        name,
        "configurations",
        read=_configurations,
        page_size=page_size,
        **options,
    )


def get_apprentice_configuration(
    name: str, version: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeConfiguration]:
    """Read one version of a task's configuration, which never changes.

    Raises:
        NotFoundError: there is no such task, or no such version.
    """
    return call(
        "GET",
        "apprentice",
        "tasks",
        name,
        "configurations",
        str(version),
        read=_configuration,
        **options,
    )


def list_apprentice_pairs(
    name: str, *, version: int, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[ApprenticeVersionPair]:
    """Walk through a version's pairs, newest first: what its evidence is made of.

    Args:
        version: its number.
        page_size: pairs fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such task in this organisation, or it has no such version.
    """
    return listing(
        "apprentice",
        "tasks",
        name,
        "pairs",
        read=_pairs,
        page_size=page_size,
        query={"version": str(version)},
        **options,
    )


class ApprenticeTaskMethods:
    """Methods of the apprentice's tasks."""

    put = Method(put_apprentice_task)
    get = Method(get_apprentice_task)
    list = ListMethod(list_apprentice_tasks)
    delete = Method(delete_apprentice_task)
    configurations = ListMethod(list_apprentice_configurations)
    configuration = Method(get_apprentice_configuration)
    pairs = ListMethod(list_apprentice_pairs)


class ApprenticeTasks(ApprenticeTaskMethods, Resource):
    """The apprentice's tasks, blocking."""


class AsyncApprenticeTasks(ApprenticeTaskMethods, AsyncResource):
    """The apprentice's tasks, for an event loop."""
