"""``autotune tasks``: what is scored, and by whom."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes, judges
from autotune.cli.invocation import Columns, Invocation, command, given, stop
from autotune.client import InvalidRequestError
from autotune.client.arguments import not_given
from autotune.protocol.limits import (
    MAX_DEADLINE_SECONDS,
    MAX_RETENTION_DAYS,
    MIN_DEADLINE_SECONDS,
    MIN_RETENTION_DAYS,
)
from autotune.protocol.tasks import Task

app = typer.Typer(no_args_is_help=True, help="Tasks: create, list, get, update, delete.")

_COLUMNS: Columns[Task] = {
    "ID": lambda task: task.id,
    "NAME": lambda task: task.name,
    "GRADER": lambda task: task.grader_id or f"{len(task.graders)} graders",
    "CREATED": lambda task: f"{task.created_at:%Y-%m-%d %H:%M}",
}

MetadataObject = Annotated[str | None, typer.Option(help="A JSON object.")]
DeadlineSeconds = Annotated[
    int | None,
    typer.Option(
        min=MIN_DEADLINE_SECONDS,
        max=MAX_DEADLINE_SECONDS,
        help="What has no verdict by then ends failed; by default 7 days.",
    ),
]
RetentionDays = Annotated[
    int | None,
    typer.Option(
        min=MIN_RETENTION_DAYS,
        max=MAX_RETENTION_DAYS,
        help="Prompts and responses are gone after so long; by default they stay.",
    ),
]


@command(app)
def create(
    invocation: Invocation,
    *,
    name: Annotated[str, typer.Option()],
    grader: judges.GraderWeights,
    aggregation: judges.AggregationOption = None,
    quorum: judges.QuorumOption = None,
    review: judges.ReviewOptions,
    description: Annotated[str | None, typer.Option()] = None,
    prompt_template: Annotated[str | None, typer.Option()] = None,
    metadata: MetadataObject = None,
    share_identity: Annotated[
        bool, typer.Option("--share-identity", help="Let the grader see which model it scores.")
    ] = False,
    deadline_seconds: DeadlineSeconds = None,
    retention_days: RetentionDays = None,
) -> None:
    """Create a task."""
    metadata_object = _json_object(metadata)
    graders = judges.weights(grader)
    alone = _alone(graders)
    with _naming_unknown(list(graders)):
        task = invocation.client.tasks.create(
            name=name,
            grader_id=alone,
            graders=None if alone else graders,
            aggregation=aggregation,
            quorum=quorum,
            review=review.policy(),
            description=description,
            prompt_template=prompt_template,
            metadata=metadata_object,
            share_identity=share_identity,
            deadline_seconds=deadline_seconds,
            retention_days=retention_days,
        )
    invocation.show(task)


@command(app, "list")
def list_(invocation: Invocation) -> None:
    """List the organisation's tasks, oldest first."""
    invocation.show_all(invocation.client.tasks.list(), _COLUMNS)


@command(app)
def get(invocation: Invocation, task_id: str) -> None:
    """Show a task."""
    invocation.show(invocation.client.tasks.get(task_id))


@command(app)
def update(
    invocation: Invocation,
    task_id: str,
    *,
    name: Annotated[str | None, typer.Option()] = None,
    grader: judges.NewGraderWeights = None,
    aggregation: judges.AggregationOption = None,
    quorum: judges.QuorumOption = None,
    no_quorum: Annotated[
        bool, typer.Option("--no-quorum", help="All graders have to score again.")
    ] = False,
    review: judges.ReviewOptions,
    no_review: Annotated[
        bool, typer.Option("--no-review", help="Drop what of the review policy is not given here.")
    ] = False,
    description: Annotated[str | None, typer.Option()] = None,
    prompt_template: Annotated[str | None, typer.Option()] = None,
    metadata: MetadataObject = None,
    share_identity: Annotated[
        bool | None, typer.Option(help="Whether the grader sees which model it scores.")
    ] = None,
    deadline_seconds: DeadlineSeconds = None,
    no_deadline: Annotated[
        bool, typer.Option("--no-deadline", help="Seven days apply again.")
    ] = False,
    retention_days: RetentionDays = None,
    no_retention: Annotated[
        bool, typer.Option("--no-retention", help="Texts of later submissions stay.")
    ] = False,
) -> None:
    """Change what is given of a task, and show it; what was submitted is judged as before."""
    _either(quorum=quorum, no_quorum=no_quorum)
    _either(deadline_seconds=deadline_seconds, no_deadline=no_deadline)
    _either(retention_days=retention_days, no_retention=no_retention)
    metadata_object = _json_object(metadata)
    graders = judges.weights(grader or [])
    alone = _alone(graders)
    policy = review.policy()
    with _naming_unknown(list(graders)):
        # A policy is replaced as a whole, so what stays of it is sent again.
        if policy and not no_review and (kept := invocation.client.tasks.get(task_id).review):
            policy = {**kept.model_dump(exclude_none=True), **policy}
        task = invocation.client.tasks.update(
            task_id,
            name=given(name),
            grader_id=given(alone),
            graders=graders if len(graders) > 1 else not_given,
            aggregation=given(aggregation),
            quorum=None if no_quorum else given(quorum),
            review=None if no_review and policy is None else given(policy),
            description=given(description),
            prompt_template=given(prompt_template),
            metadata=given(metadata_object),
            share_identity=given(share_identity),
            deadline_seconds=None if no_deadline else given(deadline_seconds),
            retention_days=None if no_retention else given(retention_days),
        )
    invocation.show(task)


@command(app)
def delete(invocation: Invocation, task_id: str) -> None:
    """Delete a task; what was submitted to it is still scored."""
    invocation.client.tasks.delete(task_id)
    invocation.show_deleted(task_id)


def _alone(graders: Mapping[str, float]) -> str | None:
    return next(iter(graders)) if len(graders) == 1 else None


def _either(**options: object) -> None:
    """Refuse a value together with what lifts it."""
    if all(options.values()):
        names = " or ".join(f"--{name.replace('_', '-')}" for name in options)
        raise typer.BadParameter(f"give either {names}")


@contextmanager
def _naming_unknown(graders: list[str]) -> Iterator[None]:
    try:
        yield
    except InvalidRequestError as error:
        unknown = _unknown_grader(error, graders)
        if unknown is None:
            raise
        stop(f"no grader {unknown} that this organisation may use", exit_codes.NOT_FOUND)


def _unknown_grader(error: InvalidRequestError, graders: list[str]) -> str | None:
    """Return the grader that the API does not know, None where something else is wrong."""
    if len(graders) == 1:
        return graders[0] if any(fault.field == "graderId" for fault in error.errors) else None
    by_field = {f"graders[{place}].graderId": id_ for place, id_ in enumerate(graders)}
    found = [by_field[fault.field] for fault in error.errors if fault.field in by_field]
    return found[0] if found else None


def _json_object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="--metadata") from error
    if not isinstance(value, dict):
        raise typer.BadParameter("must be a JSON object", param_hint="--metadata")
    return value
