"""``autotune decks grade`` and what belongs to it: what it costs, runs, and results."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Columns, Invocation, note, page_size, require_one, stop
from autotune.cli.llm_spending import dollars
from autotune.cli.progress import DeckRunProgress
from autotune.client import AutotuneError, WaitTimeoutError
from autotune.protocol.deck_results import DeckResult, DeckResultStatus
from autotune.protocol.deck_runs import DeckEstimate, DeckEstimateOfGrader, DeckRun
from autotune.protocol.deck_samples import Split

_NANO = 9

_RUN_COLUMNS: Columns[DeckRun] = {
    "ID": lambda one: one.id,
    "KIND": lambda one: one.kind,
    "STATUS": lambda one: one.status,
    "WHY": lambda one: one.stopped_because or one.waiting_because,
    "SCORED": lambda one: one.counts.scored,
    "ABSTAINED": lambda one: one.counts.abstained,
    "FAILED": lambda one: one.counts.failed,
    "PENDING": lambda one: one.counts.pending,
    "USD": lambda one: dollars(one.cost_nano_usd),
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
}
_ESTIMATE_COLUMNS: Columns[DeckEstimateOfGrader] = {
    "GRADER": lambda one: one.grader_id,
    "VERSION": lambda one: one.version,
    "TO JUDGE": lambda one: one.requests,
    "JUDGED": lambda one: one.known,
    "USD": lambda one: dollars(one.estimate_nano_usd),
    "AT MOST USD": lambda one: dollars(one.bound_nano_usd),
    "FROM": lambda one: "what it cost" if one.measured else "lengths of texts",
}
RESULT_COLUMNS: Columns[DeckResult] = {
    "SAMPLE": lambda one: one.sample_id,
    "SPLIT": lambda one: one.split,
    "STATUS": lambda one: one.status,
    "LEVEL": lambda one: None if one.score is None else f"{one.score:+d}" if one.score else "0",
    "WHY": lambda one: " ".join((one.explanation or one.reason or "").split())[:60] or None,
    "MODEL": lambda one: one.answered_model,
    "USD": lambda one: dollars(one.cost_nano_usd),
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
}

Timeout = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="Stop waiting so long after; the run goes on."),
]


@dataclass(frozen=True, kw_only=True)
class ChosenSamples:
    """What is judged, and by whom."""

    grader: Annotated[
        list[str] | None,
        typer.Option(help="A grader of the deck; may be repeated. All active ones without it."),
    ] = None
    sample: Annotated[
        list[str] | None,
        typer.Option(help="A sample of the deck; may be repeated. All of them without it."),
    ] = None
    split: Annotated[Split | None, typer.Option(help="Only samples of this half.")] = None
    deck_version: Annotated[
        int | None,
        typer.Option(min=1, help="Only samples that came with this version of the system prompt."),
    ] = None
    prompt_edit: Annotated[
        str | None,
        typer.Option(help="Only responses that were generated for this edit of the prompt."),
    ] = None
    labelled: Annotated[
        bool,
        typer.Option(
            "--labelled",
            help="Only drawn held-out samples that people rated: a judge is measured on them.",
        ),
    ] = False
    repeat: Annotated[
        bool,
        typer.Option(
            "--repeat",
            help="Judge again what was judged, which shows how far a judge agrees with itself; "
            "twenty samples without --sample or --labelled.",
        ),
    ] = False

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``client.decks.runs.estimate``."""
        require_one(sample=self.sample, split=self.split)
        require_one(sample=self.sample, deck_version=self.deck_version)
        require_one(sample=self.sample, prompt_edit=self.prompt_edit)
        require_one(prompt_edit=self.prompt_edit, labelled=self.labelled)
        return {
            "grader_ids": self.grader or None,
            "sample_ids": self.sample or None,
            "split": self.split,
            "deck_version": self.deck_version,
            "prompt_edit_id": self.prompt_edit,
            "labelled": self.labelled or None,
            "repeat": self.repeat or None,
        }


def estimate(invocation: Invocation, deck_id: str, *, chosen: ChosenSamples) -> None:
    """Print what grading a deck would cost; exit status 1 if the budget has no room for it.

    Nothing is asked, and nothing is spent.
    """
    found = invocation.client.decks.runs.estimate(deck_id, **chosen.arguments())
    if invocation.as_json:
        invocation.show_json(found)
    else:
        invocation.show_all(found.graders, _ESTIMATE_COLUMNS)
    tell(found)
    raise typer.Exit(exit_codes.OK if found.fits else exit_codes.INCOMPLETE)


def grade(
    invocation: Invocation,
    deck_id: str,
    *,
    chosen: ChosenSamples,
    cap: Annotated[
        str | None,
        typer.Option(
            metavar="USD",
            help="Most US dollars, such as 2.50: the run stops before it could cost more. Without "
            "it, what the estimate says it costs at most.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Start without asking, on a terminal too.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the run has ended.")
    ] = True,
    timeout: Timeout = None,
) -> None:
    """Have the samples of a deck judged by its graders: say what it costs, start, and wait.

    What a version of a grader has judged is not judged, or paid, again. The exit status is 1 unless
    all was judged.
    """
    arguments = chosen.arguments()
    cap_nano_usd = None if cap is None else nano_usd(cap)
    tell(invocation.client.decks.runs.estimate(deck_id, **arguments))
    is_asked = not (yes or invocation.as_json) and typer.get_text_stream("stdin").isatty()
    if is_asked and not typer.confirm("Start?", err=True):
        stop("nothing was started", exit_codes.INCOMPLETE)
    run = invocation.client.decks.runs.start(deck_id, **arguments, cap_nano_usd=cap_nano_usd)
    if wait:
        run = ended(invocation, run, timeout)
    show(invocation, run)
    is_whole = not wait or (run.status == "completed" and not run.counts.failed)
    raise typer.Exit(exit_codes.OK if is_whole else exit_codes.INCOMPLETE)


def runs(
    invocation: Invocation,
    deck_id: str,
    run_id: Annotated[str | None, typer.Argument(help="Show this run.")] = None,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the run has ended.")] = False,
    timeout: Timeout = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List the runs of a deck, newest first, or show one."""
    if run_id is None:
        if wait:
            stop("--wait is about one run: name it")
        found = invocation.client.decks.runs.list(deck_id, page_size=page_size(limit))
        invocation.show_all(found, _RUN_COLUMNS, limit)
        return
    run = invocation.client.decks.runs.get(deck_id, run_id)
    show(invocation, ended(invocation, run, timeout) if wait else run)


def cancel(invocation: Invocation, deck_id: str, run_id: str) -> None:
    """Cancel a run: what waits is not judged; what is being asked may be paid, and is stored."""
    show(invocation, invocation.client.decks.runs.cancel(deck_id, run_id))


def results(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    version: Annotated[
        int | None, typer.Option(min=1, help="Of this version; else the current one.")
    ] = None,
    status: Annotated[DeckResultStatus | None, typer.Option(help="Only these.")] = None,
    score: Annotated[int | None, typer.Option(min=-3, max=3, help="Only this level.")] = None,
    repeated: Annotated[
        bool, typer.Option("--repeated", help="Second judgements, of runs with --repeat.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List what a grader's judge said, those of the newest samples first.

    Held-out samples are left out of a version of which nobody has looked at the agreement.
    """
    found = invocation.client.decks.runs.list_results(
        deck_id,
        grader_id,
        version=version,
        status=status,
        score=score,
        repeated=True if repeated else None,
        page_size=page_size(limit),
    )
    invocation.show_all(found, RESULT_COLUMNS, limit)


def nano_usd(text: str) -> int:
    """Return US dollars in billionths."""
    try:
        nano = Decimal(text).scaleb(_NANO)
    except InvalidOperation:
        nano = Decimal("NaN")
    if not nano.is_finite() or nano < 0 or nano != nano.to_integral_value():
        raise typer.BadParameter("expected US dollars as digits, such as 0.15", param_hint="--cap")
    return int(nano)


def tell(found: DeckEstimate) -> None:
    """Say what a run would cost."""
    known = f", {found.known} are judged already" if found.known else ""
    note(
        f"{found.requests} judgements of {found.samples} samples{known}: "
        f"{dollars(found.estimate_nano_usd)} US dollars, at most {dollars(found.bound_nano_usd)}"
    )
    if not found.fits:
        note("the budget has no room for all of it now: what does not fit would wait")


def ended(invocation: Invocation, run: DeckRun, timeout: float | None) -> DeckRun:
    """Wait for a run and return it, as it was at its end."""
    with _way_on_printed(run), DeckRunProgress(run.counts.expected) as progress:
        return invocation.client.decks.runs.wait_for(
            run.deck_id, run.id, timeout=timeout, on_progress=progress.show
        )


@contextmanager
def _way_on_printed(run: DeckRun) -> Iterator[None]:
    """Print how to go on where waiting ends, because the run goes on."""
    try:
        yield
    except (AutotuneError, KeyboardInterrupt) as error:
        note(f"the run goes on: `autotune decks runs {run.deck_id} {run.id} --wait`")
        if isinstance(error, WaitTimeoutError):
            stop(str(error), exit_codes.INCOMPLETE)
        raise


def show(invocation: Invocation, run: DeckRun) -> None:
    """Print a run."""
    if invocation.as_json:
        invocation.show_json(run)
        return
    counts = run.counts
    reason = run.stopped_because or run.waiting_because
    invocation.show_fields(
        {
            "id": run.id,
            "kind": run.kind,
            "status": f"{run.status} ({reason})" if reason else run.status,
            "graders": " ".join(f"{one.grader_id}@{one.version}" for one in run.graders),
            **counts.model_dump(by_alias=True),
            "costUsd": dollars(run.cost_nano_usd),
            "estimateUsd": dollars(run.estimate_nano_usd),
            "capUsd": dollars(run.cap_nano_usd),
        }
    )
    if (again := run.repeatability) is not None:
        note(
            f"of {again.compared} judged twice, {again.same} have the same level, and "
            f"{again.within_one} are at most one level apart"
        )
