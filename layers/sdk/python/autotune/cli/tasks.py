"""``autotune tasks``: what is scored, and by whom."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import (
    Columns,
    Invocation,
    command,
    given,
    require_id,
    require_one,
    stop,
)
from autotune.cli.review_options import ReviewOptions
from autotune.client import InvalidRequestError
from autotune.client.arguments import not_given
from autotune.protocol import limits
from autotune.protocol.levels import Uncalibrated
from autotune.protocol.tasks import Aggregation, Task

app = typer.Typer(
    no_args_is_help=True, help="Tasks: create, list, get, stats, compare, update, delete."
)

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
        min=limits.MIN_DEADLINE_SECONDS,
        max=limits.MAX_DEADLINE_SECONDS,
        help="What has no verdict by then ends failed; by default 7 days.",
    ),
]
RetentionDays = Annotated[
    int | None,
    typer.Option(
        min=limits.MIN_RETENTION_DAYS,
        max=limits.MAX_RETENTION_DAYS,
        help="Prompts and responses are gone after so long; by default they stay.",
    ),
]
GraderWeights = Annotated[
    list[str], typer.Option(help="Id of a verified grader; ID=WEIGHT, and once more, for several.")
]
NewGraderWeights = Annotated[
    list[str] | None,
    typer.Option(
        "--grader", help="As for a new task, in place of all graders that there were before."
    ),
]
AggregationOption = Annotated[
    Aggregation | None,
    typer.Option(help="How the values of several graders become one; by default mean."),
]
QuorumOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=limits.MAX_TASK_GRADERS, help="How many graders have to score; by default all."
    ),
]


def weights(given: Sequence[str]) -> dict[str, float]:
    """Return the weight of each grader, by its id; 1 where none is given."""
    found: dict[str, float] = {}
    for option in given:
        grader_id, has_weight, weight = option.partition("=")
        require_id(grader_id, "grd", name="grader")
        if grader_id in found:
            raise typer.BadParameter(f"{grader_id} is named twice", param_hint="--grader")
        found[grader_id] = _weight(weight) if has_weight else 1.0
    return found


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight <= limits.MAX_GRADER_WEIGHT:
        expected = f"a weight lies above 0 and up to {limits.MAX_GRADER_WEIGHT:,}, not {text!r}"
        raise typer.BadParameter(expected, param_hint="--grader")
    return weight


UncalibratedOption = Annotated[
    Uncalibrated | None,
    typer.Option(
        help="What becomes of completions whose rubric grader is not calibrated; by default a "
        "rubric of levels abstains."
    ),
]


@command(app)
def create(
    invocation: Invocation,
    *,
    name: Annotated[str, typer.Option()],
    grader: GraderWeights,
    aggregation: AggregationOption = None,
    quorum: QuorumOption = None,
    review: ReviewOptions,
    description: Annotated[str | None, typer.Option()] = None,
    prompt_template: Annotated[str | None, typer.Option()] = None,
    metadata: MetadataObject = None,
    share_identity: Annotated[
        bool, typer.Option("--share-identity", help="Let the grader see which model it scores.")
    ] = False,
    deadline_seconds: DeadlineSeconds = None,
    retention_days: RetentionDays = None,
    uncalibrated: UncalibratedOption = None,
) -> None:
    """Create a task."""
    metadata_object = _json_object(metadata)
    graders = weights(grader)
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
            uncalibrated=uncalibrated,
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
    grader: NewGraderWeights = None,
    aggregation: AggregationOption = None,
    quorum: QuorumOption = None,
    no_quorum: Annotated[
        bool, typer.Option("--no-quorum", help="All graders have to score again.")
    ] = False,
    review: ReviewOptions,
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
    uncalibrated: UncalibratedOption = None,
    no_uncalibrated: Annotated[
        bool, typer.Option("--no-uncalibrated", help="A rubric of levels abstains again.")
    ] = False,
) -> None:
    """Change what is given of a task, and show it; what was submitted is judged as before."""
    require_one(quorum=quorum, no_quorum=no_quorum)
    require_one(deadline_seconds=deadline_seconds, no_deadline=no_deadline)
    require_one(retention_days=retention_days, no_retention=no_retention)
    require_one(uncalibrated=uncalibrated, no_uncalibrated=no_uncalibrated)
    metadata_object = _json_object(metadata)
    graders = weights(grader or [])
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
            uncalibrated=None if no_uncalibrated else given(uncalibrated),
        )
    invocation.show(task)


@command(app)
def delete(invocation: Invocation, task_id: str) -> None:
    """Delete a task; what was submitted to it is still scored."""
    invocation.client.tasks.delete(task_id)
    invocation.show_deleted(task_id)


def _alone(graders: Mapping[str, float]) -> str | None:
    return next(iter(graders)) if len(graders) == 1 else None


@contextmanager
def _naming_unknown(graders: list[str]) -> Iterator[None]:
    """End as for an unknown id where the API does not know one of the graders."""
    fields = [f"graders[{place}].graderId" for place in range(len(graders))]
    if len(graders) == 1:
        fields = ["graderId"]
    try:
        yield
    except InvalidRequestError as error:
        at_fault = {fault.field for fault in error.errors}
        for field, grader_id in zip(fields, graders, strict=True):
            if field in at_fault:
                stop(f"no grader {grader_id} that this organisation may use", exit_codes.NOT_FOUND)
        raise


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
