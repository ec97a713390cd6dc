"""``autotune rescore``: scoring completions again whose grader was mended."""

from typing import Annotated, cast

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Invocation, note, stop
from autotune.protocol.completions import ReasonCode, VerdictState
from autotune.protocol.limits import MAX_DEADLINE_SECONDS, MIN_DEADLINE_SECONDS


def rescore(
    invocation: Invocation,
    *,
    completion_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[COMPLETION]...", help="Ids of completions.")
    ] = None,
    batch: Annotated[str | None, typer.Option(help="Id of a batch, in place of ids.")] = None,
    task: Annotated[str | None, typer.Option(help="Id of a task, in place of ids.")] = None,
    reason: Annotated[
        list[str] | None,
        typer.Option(help="Only what failed for this reason; as often as there are reasons."),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(
            help="Only what is in this state. Without it: failed of a batch or a task, any of ids."
        ),
    ] = None,
    deadline: Annotated[
        int | None,
        typer.Option(
            min=MIN_DEADLINE_SECONDS,
            max=MAX_DEADLINE_SECONDS,
            metavar="SECONDS",
            help="How long the new verdicts may take; as long as at first unless given.",
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the new verdicts.")] = False,
) -> None:
    """Score completions again that have a verdict; the verdict before stays readable.

    Nothing is submitted again: a completion keeps its id and gets a later generation.
    """
    if sum(bool(one) for one in (completion_ids, batch, task)) != 1:
        stop("give ids of completions, or --batch, or --task, and one of these alone")
    client = invocation.client
    done = client.completions.rescore(
        completion_ids or None,
        batch_id=batch,
        task_id=task,
        reason_codes=cast("list[ReasonCode] | None", reason or None),
        states=cast("list[VerdictState] | None", state or None),
        deadline_seconds=deadline,
    )
    failed = 0
    if wait:
        for batch_id in dict.fromkeys(one.batch_id for one in done.batches):
            failed += client.batches.wait(batch_id).counts.failed
    if invocation.as_json:
        invocation.show_json(done)
    for reason_skipped, count in done.skipped.items():
        note(f"{count} skipped: {reason_skipped.replace('_', ' ')}")
    last_line = f"{done.rescored} are scored again"
    if wait:
        last_line += f"; {failed} failed in their batches"
    note(last_line) if invocation.as_json else typer.echo(last_line)
    raise typer.Exit(exit_codes.INCOMPLETE if failed else exit_codes.OK)
