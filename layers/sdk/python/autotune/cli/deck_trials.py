"""``autotune decks graders lint`` and ``try``: what is seen of a rubric before it grades."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from autotune.cli import exit_codes
from autotune.cli.deck_reading import graders_in
from autotune.cli.deck_runs import RESULT_COLUMNS, Timeout, ended, nano_usd, tell
from autotune.cli.invocation import Columns, Invocation, note, stop
from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_DECK_TRIAL_SAMPLES
from autotune.protocol.rubric_lint import LintedRubric, RubricRemark, lint_rubric


class _Remarked(RubricRemark):
    """A remark with the name of the grader that it is about."""

    grader: str


_REMARK_COLUMNS: Columns[_Remarked] = {
    "GRADER": lambda one: one.grader,
    "WHERE": lambda one: one.field,
    "LEVEL": lambda one: None if one.level is None else str(one.level),
    "IT IS": lambda one: one.code,
    "WHAT": lambda one: one.message,
}


def lint(
    invocation: Invocation,
    where: Annotated[
        str, typer.Argument(metavar="DECK|FILE", help="A deck, dck_..., or a file with graders.")
    ],
    grader_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="GRADER...", help="Of the deck; all of its graders without any."),
    ] = None,
) -> None:
    """Say what of rubrics is empty, repeated or vague; exit status 1 if anything is.

    Nothing is asked. A file is looked at here, without a server.
    """
    found: list[_Remarked] = []
    if is_id("dck", where):
        graders = invocation.client.decks.graders
        wanted = [graders.get(where, one) for one in grader_ids or ()] or graders.list(where)
        found = [of for one in wanted for of in _remarked(one.name, one.rubric)]
    elif grader_ids:
        stop("graders are named of a deck: a file is looked at as a whole")
    else:
        read = graders_in(Path(where))
        found = [of for one in read for of in _remarked(one.name, one.rubric)]
    if found:
        invocation.show_all(found, _REMARK_COLUMNS)
    elif not invocation.as_json:
        note("no remarks")
    raise typer.Exit(exit_codes.INCOMPLETE if found else exit_codes.OK)


def try_(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    sample: Annotated[
        list[str] | None,
        typer.Option(help="A sample of the development half; up to three. The newest without it."),
    ] = None,
    cap: Annotated[
        str | None, typer.Option(metavar="USD", help="Most US dollars, such as 0.05.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Start without asking, on a terminal too.")
    ] = False,
    timeout: Timeout = None,
) -> None:
    """Try a grader on three samples of the development half: say what it costs, and show levels.

    One that is only proposed may be tried. What its version judged before is not paid again.
    """
    runs = invocation.client.decks.runs
    most = None if cap is None else nano_usd(cap)
    ids = sample or _newest(invocation, deck_id)
    if not ids:
        stop("the deck has no samples in its development half")
    tell(runs.estimate(deck_id, grader_ids=[grader_id], sample_ids=ids))
    is_asked = not (yes or invocation.as_json) and typer.get_text_stream("stdin").isatty()
    if is_asked and not typer.confirm("Start?", err=True):
        stop("nothing was started", exit_codes.INCOMPLETE)
    started = runs.start(deck_id, grader_ids=[grader_id], sample_ids=ids, cap_nano_usd=most)
    run = ended(invocation, started, timeout)
    version = run.graders[0].version
    found = [
        one
        for id_ in ids
        for one in runs.list_sample_results(deck_id, id_)
        if (one.grader_id, one.version, one.repeated) == (grader_id, version, False)
    ]
    invocation.show_all(found, RESULT_COLUMNS)
    is_whole = run.status == "completed" and not run.counts.failed
    raise typer.Exit(exit_codes.OK if is_whole else exit_codes.INCOMPLETE)


def _remarked(name: str, rubric: LintedRubric) -> list[_Remarked]:
    return [_Remarked(grader=name, **one.model_dump()) for one in lint_rubric(rubric)]


def _newest(invocation: Invocation, deck_id: str) -> list[str]:
    """Return ids of the samples that a grader is tried on where none is named."""
    listed: Iterable[str] = (
        one.id for one in invocation.client.decks.samples.list(deck_id, split="development")
    )
    return list(islice(listed, MAX_DECK_TRIAL_SAMPLES))
