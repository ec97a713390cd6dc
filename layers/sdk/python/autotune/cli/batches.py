"""``autotune batches``: how far the completions of one request have come."""

import typer

from autotune.cli.invocation import Invocation, command
from autotune.protocol.completions import BatchResponse

app = typer.Typer(no_args_is_help=True, help="Batches: what came in one request.")


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
