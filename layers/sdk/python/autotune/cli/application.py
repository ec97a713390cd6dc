"""The commands and the options that stand before them."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from autotune.cli import (
    apprentice,
    batches,
    completions,
    decks,
    exports,
    grader,
    keys,
    llm,
    openai_evals,
    ops,
    reviews,
    reward_urls,
    runs,
    sessions,
    task_figures,
    webhooks,
)
from autotune.cli.audit import audit
from autotune.cli.console import console
from autotune.cli.exit_codes import INTERRUPTED, exit_code_of
from autotune.cli.explain import explain
from autotune.cli.exports import export
from autotune.cli.invocation import AsJson, Invocation, command, note, stop
from autotune.cli.overview import overview
from autotune.cli.rescore import rescore
from autotune.cli.scores import scores
from autotune.cli.submit import submit
from autotune.client import APIError, AutotuneError
from autotune.client.configuration import API_KEY_VARIABLE, BASE_URL_VARIABLE, installed_version

_HINTS = {
    "idempotency_key_reused": (
        "these completions were submitted before with another --priority; "
        "give --submission NAME to submit them once more"
    ),
    "budget_exhausted": "`autotune llm budget` shows what is left of it",
    "grader_not_verified": "that is what `autotune graders verify` does",
    "grader_not_calibrated": "`autotune tasks update TASK --uncalibrated abstain` takes it",
    "unauthenticated": "check the key and that the base URL belongs to it",
}


class ReportingGroup(TyperGroup):
    """The root of the commands: an error that escapes is one line here, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except AutotuneError as error:
            stop(describe(error), exit_code_of(error))
        except KeyboardInterrupt:
            note("autotune: interrupted")
            raise typer.Exit(INTERRUPTED) from None


def describe(error: AutotuneError) -> str:
    """Return one line: the error, its notes, and what may help."""
    parts = [str(error), *getattr(error, "__notes__", [])]
    hint = _hint(error) if isinstance(error, APIError) else None
    if hint is not None:
        parts.append(hint)
    return "; ".join(" ".join(part.split()) for part in parts)


def _hint(error: APIError) -> str | None:
    if error.budget is not None and error.budget.scope == "apprentice_task":
        return "`autotune apprentice status` shows what is left of it"
    return _HINTS.get(error.code)


app = typer.Typer(
    name="autotune",
    cls=ReportingGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Have completions scored by graders that their owners keep to themselves.",
)
app.add_typer(keys.app, name="keys")
app.add_typer(sessions.app, name="sessions")
app.add_typer(openai_evals.app, name="graders")
app.add_typer(task_figures.tasks_app, name="tasks")
for function in (overview, submit, rescore, explain, scores, export, audit, console):
    command(app)(function)
app.add_typer(exports.app, name="exports")
app.add_typer(completions.app, name="completions")
app.add_typer(batches.app, name="batches")
app.add_typer(runs.app, name="runs")
app.add_typer(reviews.app, name="reviews")
app.add_typer(reward_urls.app, name="reward-urls")
app.add_typer(llm.app, name="llm")
app.add_typer(decks.app, name="decks")
app.add_typer(apprentice.app, name="apprentice")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(ops.app, name="ops")
app.add_typer(grader.app, name="grader")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autotune {installed_version()}")
        raise typer.Exit


@app.callback()
def _options(
    ctx: typer.Context,
    base_url: Annotated[
        str | None,
        typer.Option(
            help=f"Where the API is; else {BASE_URL_VARIABLE}, else .autotune/local.json."
        ),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(help=f"The key; else {API_KEY_VARIABLE}, else .autotune/local.json."),
    ] = None,
    as_json: AsJson = False,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    ctx.obj = Invocation(base_url=base_url, api_key=api_key, as_json=as_json)
