"""``autotune decks ingest``: addresses that take samples and decks from curl."""

from datetime import datetime
from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, command
from autotune.protocol.deck_samples import Collection
from autotune.protocol.ingest_urls import IngestUrl

app = typer.Typer(
    no_args_is_help=True, help="Ingest URLs: addresses that take samples and decks from curl."
)

_COLUMNS: Columns[IngestUrl] = {
    "ID": lambda one: one.id,
    "NAME": lambda one: one.name,
    "STATE": lambda one: one.state,
    "DECK": lambda one: one.deck_id,
    "HOW": lambda one: one.collection,
    "ENDS WITH": lambda one: one.ends_with,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
}


@command(app)
def create(
    invocation: Invocation,
    *,
    name: Annotated[str, typer.Option(help="What it is for.")],
    deck: Annotated[
        str | None,
        typer.Option(help="All samples are of this deck; else each finds its own by its prompt."),
    ] = None,
    collection: Annotated[
        Collection, typer.Option(help="How samples are said to have come.")
    ] = "telemetry",
    expires_at: Annotated[
        datetime | None, typer.Option(help="When it stops answering, local time.")
    ] = None,
) -> None:
    """Make an ingest URL and show it, this once."""
    created = invocation.client.decks.ingest_urls.create(
        name=name, deck_id=deck, collection=collection, expires_at=expires_at
    )
    warning = "The URL is shown this once; who knows it may send samples, so keep it as a secret."
    urls = {"samples": f"{created.url}/samples"}
    if deck is None:
        urls["decks"] = f"{created.url}/decks"
    invocation.show_once(created, created.ingest_url, urls, warning)


@command(app, "list")
def list_(invocation: Invocation) -> None:
    """List all ingest URLs, revoked ones too, without what lets in."""
    invocation.show_all(invocation.client.decks.ingest_urls.list(), _COLUMNS)


@command(app)
def get(invocation: Invocation, ingest_url_id: str) -> None:
    """Show one ingest URL, without what lets in."""
    invocation.show(invocation.client.decks.ingest_urls.get(ingest_url_id))


@command(app)
def revoke(invocation: Invocation, ingest_url_id: str) -> None:
    """Revoke an ingest URL at once and for good."""
    invocation.show(invocation.client.decks.ingest_urls.revoke(ingest_url_id))
