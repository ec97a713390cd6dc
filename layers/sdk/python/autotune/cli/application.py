"""The commands and the options that stand before them."""

from typing import Annotated

import typer

from autotune.cli import (
    batches,
    completions,
    exports,
    grader,
    graders,
    keys,
    ops,
    reviews,
    reward_urls,
    runs,
    tasks,
    webhooks,
)
from autotune.cli.audit import audit
from autotune.cli.export import export
from autotune.cli.invocation import AsJson, Invocation, command
from autotune.cli.reporting import ReportingGroup
from autotune.cli.scores import scores
from autotune.cli.submit import submit
from autotune.client.configuration import API_KEY_VARIABLE, BASE_URL_VARIABLE, installed_version

app = typer.Typer(
    name="autotune",
    cls=ReportingGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Have completions scored by graders that their owners keep to themselves.",
)
app.add_typer(keys.app, name="keys")
app.add_typer(graders.app, name="graders")
app.add_typer(tasks.app, name="tasks")
command(app)(submit)
command(app)(scores)
command(app)(export)
command(app)(audit)
app.add_typer(exports.app, name="exports")
app.add_typer(completions.app, name="completions")
app.add_typer(batches.app, name="batches")
app.add_typer(runs.app, name="runs")
app.add_typer(reviews.app, name="reviews")
app.add_typer(reward_urls.app, name="reward-urls")
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
