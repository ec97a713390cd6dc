"""``autotune reward-urls``: addresses for trainers that can only call a URL."""

from datetime import datetime
from typing import Annotated

import typer

from autotune.cli.invocation import TIME_FORMATS, Columns, Invocation, command
from autotune.protocol.rewards import CONTRACT_PATHS, RewardUrl

app = typer.Typer(
    no_args_is_help=True, help="Addresses at which trainers get rewards that send no headers."
)

_COLUMNS: Columns[RewardUrl] = {
    "ID": lambda one: one.id,
    "NAME": lambda one: one.name,
    "TASK": lambda one: one.task_id,
    "MODEL": lambda one: one.model_id,
    "STATE": lambda one: one.state,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
    "EXPIRES": lambda one: f"{one.expires_at:%Y-%m-%d %H:%M}" if one.expires_at else None,
}


@command(app)
def create(
    invocation: Invocation,
    name: Annotated[str, typer.Option(help="What it is for.")],
    task: Annotated[str, typer.Option(help="The task that judges what is asked.")],
    model: Annotated[str, typer.Option(help="Whose responses are asked about.")],
    expires_at: Annotated[
        datetime | None,
        typer.Option(
            formats=TIME_FORMATS,
            help="When it stops answering, local time without a zone; else once it is revoked.",
        ),
    ] = None,
) -> None:
    """Make a reward URL and print it, this once, with each trainer's path."""
    created = invocation.client.reward_urls.create(
        name=name, task_id=task, model_id=model, expires_at=expires_at
    )
    warning = "The URL is shown this once; who knows it may ask, so keep it where secrets are kept."
    urls = {trainer: f"{created.url}/{path}" for trainer, path in CONTRACT_PATHS.items()}
    invocation.show_once(created, created.reward_url, {**urls, "url": created.url}, warning)


@command(app, "list")
def list_(invocation: Invocation) -> None:
    """List all reward URLs, revoked ones too, without what lets in."""
    invocation.show_all(invocation.client.reward_urls.list(), _COLUMNS)


@command(app)
def get(invocation: Invocation, reward_url_id: str) -> None:
    """Show one reward URL, without what lets in."""
    invocation.show(invocation.client.reward_urls.get(reward_url_id))


@command(app)
def revoke(invocation: Invocation, reward_url_id: str) -> None:
    """Revoke a reward URL at once and for good."""
    invocation.show(invocation.client.reward_urls.revoke(reward_url_id))
