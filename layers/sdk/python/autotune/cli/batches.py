"""``autotune batches``: how far the completions of one request have come."""

from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, command, page_size, require_id
from autotune.protocol.batches import BatchState, BatchSummary
from autotune.protocol.completions import BatchResponse, CompletionState, CompletionVerdict

app = typer.Typer(no_args_is_help=True, help="Batches: what came in one request.")


_COLUMNS: Columns[BatchSummary] = {
    "ID": lambda batch: batch.id,
    "STATE": lambda batch: batch.state,
    "CREATED": lambda batch: f"{batch.created_at:%Y-%m-%d %H:%M:%S}",
    "COMPLETIONS": lambda batch: batch.counts.expected,
    "PENDING": lambda batch: batch.counts.pending,
    "SCORED": lambda batch: batch.counts.scored,
    "ABSTAINED": lambda batch: batch.counts.abstained,
    "FAILED": lambda batch: batch.counts.failed,
    "CANCELED": lambda batch: batch.counts.canceled,
    "TASK": lambda batch: batch.task_ids[0] if batch.tasks == 1 else f"{batch.tasks} tasks",
}
_OF_BATCH: Columns[CompletionVerdict] = {
    "COMPLETION": lambda one: one.completion_id,
    "STATE": lambda one: one.state,
    "SCORE": lambda one: f"{one.score.value:.3f}" if one.score else None,
    "WHY": lambda one: one.reason_code,
    "ATTEMPTS": lambda one: one.attempts,
    "MODEL": lambda one: one.model_id,
    "TASK": lambda one: one.task_id,
}


@command(app, "list")
def list_(
    invocation: Invocation,
    state: Annotated[BatchState | None, typer.Option(help="Only those in this state.")] = None,
    task: Annotated[
        str | None, typer.Option(help="Only those with a completion of the task with this id.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List batches with how far each has come, the youngest first."""
    if task is not None:
        require_id(task, "task", name="task")
    found = invocation.client.batches.list(state=state, task_id=task, page_size=page_size(limit))
    invocation.show_all(found, _COLUMNS, limit)


@command(app)
def completions(
    invocation: Invocation,
    batch_id: str,
    state: Annotated[CompletionState | None, typer.Option(help="Only those in this state.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
) -> None:
    """List the completions of a batch in the order of the request, and where each stands."""
    found = invocation.client.batches.completions(batch_id, state=state, page_size=page_size(limit))
    invocation.show_all(found, _OF_BATCH, limit)


@command(app)
def get(invocation: Invocation, batch_id: str) -> None:
    """Show how many completions of a batch are decided; with --json every verdict, too."""
    _show(invocation, invocation.client.batches.get(batch_id))


@command(app)
def cancel(invocation: Invocation, batch_id: str) -> None:
    """Cancel what is pending in a batch, and show where it stands."""
    _show(invocation, invocation.client.batches.cancel(batch_id))


@command(app)
def delete_content(invocation: Invocation, batch_id: str) -> None:
    """Delete the texts of a batch; verdicts stay, and what had none is canceled."""
    invocation.client.batches.delete_content(batch_id)
    invocation.show_done(
        {"id": batch_id, "contentDeleted": True}, f"deleted the texts of {batch_id}"
    )


def _show(invocation: Invocation, batch: BatchResponse) -> None:
    invocation.show(batch if invocation.as_json else batch.counts)
