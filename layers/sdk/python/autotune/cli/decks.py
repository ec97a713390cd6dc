"""``autotune decks``: system prompts, and the graders that judge what models answer to them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.deck_agreement import agreement, disagreements, means, patterns
from autotune.cli.deck_capture import app as capture
from autotune.cli.deck_edits import (
    accept,
    cancel_fix,
    edit,
    edits,
    fix,
    propose,
    reject,
    replay,
    rollback,
)
from autotune.cli.deck_files import export, import_
from autotune.cli.deck_graders import app as graders
from autotune.cli.deck_labels import app as labels
from autotune.cli.deck_labels import label, progress, truth
from autotune.cli.deck_prompt_edits import app as prompt_edits
from autotune.cli.deck_proposals import (
    JUDGE_TOKENS,
    PROPOSER_TOKENS,
    model_of,
    show_proposal,
)
from autotune.cli.deck_reading import prompt_in
from autotune.cli.deck_runs import Timeout, cancel, estimate, grade, nano_usd, results, runs
from autotune.cli.deck_samples import app as samples
from autotune.cli.deck_unmatched import adopt, dismiss, unmatched
from autotune.cli.ingest_urls import app as ingest
from autotune.cli.invocation import Columns, Invocation, command, given, require_one, stop
from autotune.cli.tasks import AggregationOption, DeadlineSeconds, UncalibratedOption
from autotune.protocol.decks import Deck, DeckVersion
from autotune.protocol.limits import MAX_TASK_GRADERS

app = typer.Typer(
    no_args_is_help=True, help="Decks: a system prompt, its graders, and samples to judge."
)

_COLUMNS: Columns[Deck] = {
    "ID": lambda deck: deck.id,
    "NAME": lambda deck: deck.name,
    "STATUS": lambda deck: deck.status,
    "VERSION": lambda deck: deck.version,
    "SAMPLES": lambda deck: deck.samples,
    "GRADERS": lambda deck: deck.graders,
    "HELD OUT": lambda deck: f"{deck.holdout_share:.0%}",
    "CREATED": lambda deck: f"{deck.created_at:%Y-%m-%d %H:%M}",
}
_VERSION_COLUMNS: Columns[DeckVersion] = {
    "VERSION": lambda one: one.version,
    "FROM": lambda one: one.parent,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
    "AUTHOR": lambda one: one.author,
    "PLACEHOLDERS": lambda one: ",".join(one.placeholders) or None,
    "CHARACTERS": lambda one: len(one.system_prompt),
    "NOTE": lambda one: one.note or None,
}

PromptFile = Annotated[
    Path,
    typer.Argument(
        metavar="PROMPT.md", help="The system prompt, as it is; - reads stdin.", allow_dash=True
    ),
]


@command(app)
def create(
    invocation: Invocation,
    prompt: PromptFile,
    *,
    name: Annotated[str | None, typer.Option(help="Its name; else that of the file.")] = None,
    description: Annotated[str | None, typer.Option()] = None,
    holdout_share: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Share of the samples' groups that is held out: 0.5 without it, 1 for a deck that "
            "only measures. It never changes.",
        ),
    ] = None,
    propose: Annotated[
        bool, typer.Option("--propose", help="Have a model propose graders at once, and wait.")
    ] = False,
    connection: Annotated[
        str | None, typer.Option(help="With --propose: where models are called, llc_...")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="With --propose: the model that proposes, and judges then.")
    ] = None,
    cap: Annotated[
        str | None,
        typer.Option(metavar="USD", help="With --propose: most US dollars, such as 0.50."),
    ] = None,
    timeout: Timeout = None,
) -> None:
    """Make a deck from a system prompt.

    A line break at the end of the file is not part of the prompt. With --propose, the deck's id
    is on the first line, and the rest is as of `autotune decks graders propose`.
    """
    if prompt.name.endswith(".deck.md"):
        stop(f"{prompt} is a deck file: `autotune decks import {prompt}` takes it")
    if name is None and prompt == Path("-"):
        stop("--name is needed where the prompt comes from stdin")
    if propose:
        if connection is None or model is None or cap is None:
            stop("--propose needs --connection, --model and --cap")
        created = invocation.client.decks.create_proposed(
            name=name or prompt.stem,
            system_prompt=prompt_in(prompt),
            description=description,
            holdout_share=holdout_share,
            proposer=model_of(connection, model, PROPOSER_TOKENS),
            judge=model_of(connection, model, JUDGE_TOKENS),
            cap_nano_usd=nano_usd(cap),
        )
        if not invocation.as_json:
            typer.echo(created.deck.id)
        if created.run is not None:
            show_proposal(invocation, created.run, timeout)
        return
    if not connection is model is cap is None:
        stop("--connection, --model and --cap go with --propose")
    deck = invocation.client.decks.create(
        name=name or prompt.stem,
        system_prompt=prompt_in(prompt),
        description=description,
        holdout_share=holdout_share,
    )
    _show(invocation, deck)


@command(app, "list")
def list_(
    invocation: Invocation,
    *,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
) -> None:
    """List the organisation's decks, oldest first."""
    invocation.show_all(invocation.client.decks.list(), _COLUMNS, limit)


@command(app)
def show(
    invocation: Invocation,
    deck_id: str,
    *,
    version: Annotated[
        int | None, typer.Option(min=1, help="The prompt of this version, else the current one.")
    ] = None,
) -> None:
    """Show a deck and its system prompt."""
    if version is None:
        _show(invocation, invocation.client.decks.get(deck_id))
        return
    found = invocation.client.decks.get_version(deck_id, version)
    if invocation.as_json:
        invocation.show_json(found)
        return
    invocation.show_fields(found.model_dump(by_alias=True, mode="json", exclude={"system_prompt"}))
    typer.echo(f"\n{found.system_prompt}")


@command(app)
def versions(invocation: Invocation, deck_id: str) -> None:
    """List the versions of a deck's system prompt, newest first."""
    invocation.show_all(invocation.client.decks.versions(deck_id), _VERSION_COLUMNS)


@command(app)
def update(
    invocation: Invocation,
    deck_id: str,
    *,
    name: Annotated[str | None, typer.Option()] = None,
    description: Annotated[str | None, typer.Option()] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(metavar="PROMPT.md", help="A further version of the prompt.", allow_dash=True),
    ] = None,
    note: Annotated[str | None, typer.Option(help="Why the prompt is changed.")] = None,
    version: Annotated[
        int | None, typer.Option(min=1, help="Make a version that exists the current one.")
    ] = None,
    active: Annotated[
        bool, typer.Option("--active", help="Take up a deck that was archived.")
    ] = False,
) -> None:
    """Change what is given of a deck, and show it."""
    require_one(version=version, prompt=prompt)
    if note is not None and prompt is None:
        stop("--note says why the prompt is changed: give --prompt, too")
    decks = invocation.client.decks
    if prompt is not None:
        decks.add_version(deck_id, system_prompt=prompt_in(prompt), note=note)
    deck = decks.update(
        deck_id,
        name=given(name),
        description=given(description),
        version=given(version),
        status=given("active" if active else None),
    )
    _show(invocation, deck)


@command(app)
def archive(invocation: Invocation, deck_id: str) -> None:
    """Archive a deck: it stays as it is, and nothing is graded by it any more."""
    deck = invocation.client.decks.update(deck_id, status="archived")
    invocation.show_done({"id": deck.id, "status": deck.status}, f"archived {deck.id}")


@command(app)
def delete(invocation: Invocation, deck_id: str) -> None:
    """Delete a deck with its graders, samples and labels; their texts are gone within minutes."""
    invocation.client.decks.delete(deck_id)
    invocation.show_deleted(deck_id)


@command(app)
def task(
    invocation: Invocation,
    deck_id: str,
    *,
    name: Annotated[str | None, typer.Option(help="By default the deck's.")] = None,
    aggregation: AggregationOption = None,
    quorum: Annotated[
        int | None,
        typer.Option(
            min=1, max=MAX_TASK_GRADERS, help="How many graders have to score; by default one."
        ),
    ] = None,
    deadline_seconds: DeadlineSeconds = None,
    uncalibrated: UncalibratedOption = None,
) -> None:
    """Make a task in which all graders score that are active and published."""
    made = invocation.client.decks.create_task(
        deck_id,
        name=name,
        aggregation=aggregation,
        quorum=quorum,
        deadline_seconds=deadline_seconds,
        uncalibrated=uncalibrated,
    )
    invocation.show(made)


def _show(invocation: Invocation, deck: Deck) -> None:
    if invocation.as_json:
        invocation.show_json(deck)
        return
    invocation.show_fields(deck.model_dump(by_alias=True, mode="json", exclude={"system_prompt"}))
    if deck.system_prompt is not None:
        typer.echo(f"\n{deck.system_prompt}")


command(app, "import")(import_)
_COMMANDS: Sequence[Callable[..., Any]] = (
    *(export, estimate, grade, runs, cancel, results),
    *(label, truth, progress, agreement, disagreements, means, patterns),
    *(propose, fix, cancel_fix, edits, edit, replay, accept, reject, rollback),
    *(unmatched, adopt, dismiss),
)
for one in _COMMANDS:
    command(app)(one)
app.add_typer(graders, name="graders")
app.add_typer(samples, name="samples")
app.add_typer(prompt_edits, name="prompt-edits")
app.add_typer(labels, name="labels")
app.add_typer(ingest, name="ingest")
app.add_typer(capture, name="capture")
