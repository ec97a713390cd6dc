"""``autotune decks unmatched``, ``adopt`` and ``dismiss``: prompts that no deck has."""

from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, note
from autotune.protocol.deck_telemetry import UnmatchedPrompt

_EXCERPT_CHARACTERS = 60
_COLUMNS: Columns[UnmatchedPrompt] = {
    "ID": lambda one: one.id,
    "CALLS": lambda one: one.calls,
    "FIRST SEEN": lambda one: f"{one.first_seen_at:%Y-%m-%d %H:%M}",
    "LAST SEEN": lambda one: f"{one.last_seen_at:%Y-%m-%d %H:%M}",
    "CHARACTERS": lambda one: one.characters,
    "TIED": lambda one: ",".join(one.tied_deck_ids) or None,
    "PROMPT": lambda one: " ".join(one.excerpt.split())[:_EXCERPT_CHARACTERS],
}


def unmatched(
    invocation: Invocation,
    unmatched_id: Annotated[
        str | None, typer.Argument(help="Show the whole of this one: ump_...")
    ] = None,
) -> None:
    """List system prompts of captured calls that no deck has, or show one."""
    if unmatched_id is not None:
        prompt = invocation.client.decks.unmatched.get(unmatched_id)
        if invocation.as_json:
            invocation.show_json(prompt)
            return
        rest = {"system_prompt", "examples", "excerpt"}
        invocation.show_fields(prompt.model_dump(by_alias=True, mode="json", exclude=rest))
        typer.echo(f"\n{prompt.system_prompt}")
        return
    found = invocation.client.decks.unmatched.list()
    invocation.show_all(found.prompts, _COLUMNS)
    if found.passed_over:
        note(f"{found.passed_over} calls had further prompts, for which the list had no room")


def adopt(
    invocation: Invocation,
    unmatched_id: str,
    *,
    name: Annotated[str, typer.Option(help="The deck's name.")],
    description: Annotated[str | None, typer.Option()] = None,
    holdout_share: Annotated[
        float | None, typer.Option(min=0, max=1, help="As for `autotune decks create`.")
    ] = None,
) -> None:
    """Make a deck of a prompt that no deck has; the calls kept with it become samples."""
    adopted = invocation.client.decks.unmatched.adopt(
        unmatched_id, name=name, description=description, holdout_share=holdout_share
    )
    if invocation.as_json:
        invocation.show_json(adopted)
        return
    typer.echo(adopted.deck.id)
    note(f"{len(adopted.sample_ids)} samples")


def dismiss(invocation: Invocation, unmatched_id: str) -> None:
    """Erase a prompt that no deck has, and its calls; it is not listed again for 90 days."""
    invocation.client.decks.unmatched.dismiss(unmatched_id)
    invocation.show_done({"id": unmatched_id, "dismissed": True}, f"dismissed {unmatched_id}")
