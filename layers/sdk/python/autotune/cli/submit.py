"""``autotune submit``: a file of completions, any size, submitted once however often it is sent."""

import asyncio
import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.exit_codes import exit_code_of
from autotune.cli.figures import print_figures
from autotune.cli.invocation import Invocation, note, require_id, stdout_console, stop
from autotune.cli.lines import InvalidLineError, RejectedLines, count_lines, read_completions
from autotune.cli.progress import SubmissionProgress
from autotune.cli.submission import Submission
from autotune.client import AutotuneError
from autotune.client.submissions import DEFAULT_BATCH_SIZE
from autotune.protocol.completions import Priority
from autotune.protocol.limits import MAX_BATCH_COMPLETIONS


def submit(
    invocation: Invocation,
    *,
    file: Annotated[
        typer.FileBinaryRead,
        typer.Argument(
            metavar="FILE.jsonl",
            help="One JSON object a line: prompt, response, modelId and, if any, metadata. "
            "- reads stdin.",
        ),
    ],
    task: Annotated[str, typer.Option(help="Id of the task.")],
    model: Annotated[
        str | None, typer.Option(help="Model id for every line, in place of its modelId.")
    ] = None,
    priority: Annotated[Priority, typer.Option()] = "normal",
    batch_size: Annotated[
        int,
        typer.Option(
            min=1,
            max=MAX_BATCH_COMPLETIONS,
            help="Completions in a request. Give the same one when you submit a file again.",
        ),
    ] = DEFAULT_BATCH_SIZE,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the verdicts and print figures.")
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="Stop waiting so long after the last line was submitted; exit status 1 if some "
            "are pending then. Without it, no limit.",
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Score what failed once more, where its reason may pass, and wait again.",
        ),
    ] = False,
    skip_invalid: Annotated[
        bool,
        typer.Option("--skip-invalid", help="Write invalid lines to FILE.rejected.jsonl; go on."),
    ] = False,
    submission: Annotated[
        str, typer.Option(help="Give a new name to submit the same lines once more, as new ones.")
    ] = "",
) -> None:
    """Submit a file of completions and wait for their verdicts.

    The same file, task, --model, --batch-size and --submission add nothing the second time, so
    after Ctrl-C, --timeout or an error run the same command again; it ends when no completion is
    pending. An invalid line stops the submission before anything of its batch is sent.
    """
    require_id(task, "task", name="task")
    if timeout is not None and not wait:
        stop("--timeout is about waiting, which --no-wait does not")
    if retry_failed and not wait:
        stop("--retry-failed is about verdicts, for which --no-wait does not wait")
    source = "stdin" if file.name == "<stdin>" else file.name
    rejected = RejectedLines(Path(source).with_suffix(".rejected.jsonl")) if skip_invalid else None
    completions = read_completions(
        file, source=source, task_id=task, model_id=model, rejected=rejected
    )
    progress = SubmissionProgress(count_lines(file) if file.seekable() else None, waits=wait)
    done = Submission(progress, retries_failed=retry_failed)

    async def carry_out() -> None:
        async with invocation.async_client() as client:
            # One clear answer about a wrong task, before a line is read.
            await client.tasks.get(task)
            with progress:
                await done.run(
                    client,
                    completions,
                    priority=priority,
                    batch_size=batch_size,
                    idempotency_key=_idempotency_key(submission),
                    wait=wait,
                    timeout_seconds=timeout,
                )

    try:
        asyncio.run(carry_out())
    except (AutotuneError, KeyboardInterrupt) as error:
        _print_status(done, error)
        raise
    finally:
        if rejected is not None:
            rejected.close()
    if not done.submitted and not (rejected and rejected.count):
        stop(f"nothing to submit: {source} has no completions")
    _print(invocation, done, rejected, waited=wait)
    timed_out = wait and done.pending
    if timed_out:
        note(f"{done.pending} are still pending; run the same command again to go on waiting")
    whole = not (timed_out or done.summary.failed or (rejected and rejected.count))
    raise typer.Exit(exit_codes.OK if whole else exit_codes.INCOMPLETE)


def _print_status(done: Submission, error: AutotuneError | KeyboardInterrupt) -> None:
    """Say what is accepted already, and that the same command goes on from there if it can."""
    # Requests that were in flight may have been accepted without an answer that arrived.
    exact = done.is_submitted or isinstance(error, InvalidLineError)
    accepted = f"{'' if exact else 'at least '}{done.submitted} completions are accepted; "
    if isinstance(error, KeyboardInterrupt) or exit_code_of(error) == exit_codes.UNAVAILABLE:
        note(f"{accepted if done.submitted else ''}run the same command again to go on")
    elif done.submitted:
        note(f"{accepted}once this is mended, run the same command again to go on")


def _print(
    invocation: Invocation, done: Submission, rejected: RejectedLines | None, *, waited: bool
) -> None:
    if rejected and rejected.count:
        for fault in rejected.first_faults:
            note(fault)
        if more := rejected.count - len(rejected.first_faults):
            note(f"and {more} more")
        note(f"{rejected.count} invalid lines are in {rejected.path}")
    report = done.report()
    new = done.submitted - done.replayed
    last_line = f"submitted {done.submitted}"
    if waited:
        last_line = f"scored {done.summary.scored} of {done.submitted}"
    if invocation.as_json:
        result: dict[str, Any] = {
            "submitted": done.submitted,
            "new": new,
            "alreadySubmitted": done.replayed,
            "rejectedLines": rejected.count if rejected else 0,
            "batchIds": done.batch_ids,
        }
        if waited:
            result["summary"] = report.model_dump(by_alias=True)
        invocation.show_json(result)
        note(last_line)
        return
    if waited:
        print_figures(stdout_console(), report)
    typer.echo(f"{new} new, {done.replayed} already submitted")
    typer.echo(last_line)


def _idempotency_key(submission: str) -> str:
    # The client adds each batch's place and digest, and the digest covers task and model.
    if not submission:
        return "autotune-submit"
    return f"autotune-submit.{hashlib.sha256(submission.encode()).hexdigest()[:32]}"
