"""``autotune decks prompt-edits``: other system prompts, answered, measured, accepted."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.deck_reading import text_in
from autotune.cli.deck_runs import nano_usd
from autotune.cli.invocation import Columns, Invocation, command, note, stop
from autotune.cli.llm_spending import dollars
from autotune.protocol.deck_prompt_edits import PromptArm, PromptEdit, PromptEffect

app = typer.Typer(
    no_args_is_help=True, help="Edits of a deck's system prompt, by what a model answers under it."
)

_COLUMNS: Columns[PromptEdit] = {
    "ID": lambda one: one.id,
    "STATUS": lambda one: one.status.replace("_", " "),
    "REPLACES": lambda one: one.base_version,
    "BY": lambda one: one.candidate_version,
    "MODEL": lambda one: one.generator.model,
    "INPUTS": lambda one: one.inputs,
    "LOOK": lambda one: one.look,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
    "NOTE": lambda one: " ".join(one.note.split())[:40] or None,
}
_EFFECT_COLUMNS: Columns[PromptEffect] = {
    "GRADER": lambda one: one.grader_name,
    "OUTCOME": lambda one: one.outcome.replace("_", " "),
    "MEANS": lambda one: _both(one, _mean),
    "CHANGE": lambda one: _delta(one),  # noqa: PLW0108 - it is made below
    "CONFIDENCE": lambda one: None if one.confidence is None else f"{one.confidence:.2%}",
    "INPUTS": lambda one: one.inputs,
    "ANSWERED": lambda one: _both(one, lambda arm: str(arm.answered)),
    "PAIRS": lambda one: one.pairs,
    "LABELS": lambda one: _both(one, lambda arm: str(arm.labels)),
    "UNJUDGED": lambda one: _both(one, lambda arm: str(arm.unjudged)),
    "MISSING": lambda one: _missing(one),  # noqa: PLW0108 - so is this
}

Reason = Annotated[str | None, typer.Option(help="Why.")]


@command(app)
def propose(
    invocation: Invocation,
    deck_id: str,
    prompt: Annotated[
        Path,
        typer.Argument(metavar="PROMPT.md", help="The prompt; - reads stdin.", allow_dash=True),
    ],
    *,
    connection: Annotated[str, typer.Option(help="Where the model is called: llc_...")],
    model: Annotated[str, typer.Option(help="The model that answers under both prompts.")],
    max_tokens: Annotated[int, typer.Option(min=1, help="Of each answer, at most.")] = 1_000,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Of the model.")] = None,
    groups: Annotated[
        int | None, typer.Option(min=1, help="Draw so many groups of samples; all without it.")
    ] = None,
    labels: Annotated[
        int | None,
        typer.Option(
            min=50, help="Measure it at so many labels of each version, then at twice as many."
        ),
    ] = None,
    note: Annotated[str | None, typer.Option(help="What it is for.")] = None,
) -> None:
    """Propose a system prompt in place of the current one; nothing is asked yet."""
    params: dict[str, Any] = {"maxTokens": max_tokens}
    if temperature is not None:
        params["temperature"] = temperature
    made = invocation.client.decks.prompt_edits.propose(
        deck_id,
        system_prompt=text_in(prompt),
        generator={"connectionId": connection, "model": model, "params": params},
        groups=groups,
        labels=labels,
        note=note,
    )
    _show(invocation, made)


@command(app, name="list")
def list_(
    invocation: Invocation,
    deck_id: str,
    *,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List a deck's edits of its system prompt, newest first."""
    invocation.show_all(invocation.client.decks.prompt_edits.list(deck_id), _COLUMNS, limit)


@command(app)
def show(invocation: Invocation, deck_id: str, edit_id: str) -> None:
    """Show an edit, with what was measured last; it spends no look."""
    _show(invocation, invocation.client.decks.prompt_edits.get(deck_id, edit_id))


@command(app)
def generate(
    invocation: Invocation,
    deck_id: str,
    edit_id: str,
    *,
    cap: Annotated[
        str | None, typer.Option(metavar="USD", help="Most US dollars, such as 2.50.")
    ] = None,
    wait: Annotated[bool, typer.Option(help="Wait until the run has ended.")] = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Start without asking.")] = False,
) -> None:
    """Have the drawn inputs answered under both prompts: say what it costs, start, and wait."""
    edits = invocation.client.decks.prompt_edits
    found = edits.estimate(deck_id, edit_id)
    note(
        f"{found.samples} inputs, {found.requests} responses to pay, {found.known} there, "
        f"{found.unusable} inputs left out: about {dollars(found.estimate_nano_usd)} USD, at most "
        f"{dollars(found.bound_nano_usd)}"
    )
    is_asked = not (yes or invocation.as_json) and typer.get_text_stream("stdin").isatty()
    if is_asked and not typer.confirm("Start?", err=True):
        stop("nothing was started", exit_codes.INCOMPLETE)
    started = edits.generate(deck_id, edit_id, cap_nano_usd=None if cap is None else nano_usd(cap))
    if wait:
        note(f"generating in {started.run_id}")
        started = edits.wait_for(deck_id, edit_id)
    _show(invocation, started)


@command(app)
def measure(
    invocation: Invocation,
    deck_id: str,
    edit_id: str,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Measure without asking.")] = False,
) -> None:
    """Compare the responses under both prompts by their labels.

    The first figures are made at the look that the run spent. Each further time with a figure
    spends one, which makes what this deck measures later less sure; one without spends none.
    """
    found = invocation.client.decks.prompt_edits.get(deck_id, edit_id)
    is_asked = not (yes or invocation.as_json) and typer.get_text_stream("stdin").isatty()
    spends = any(one.outcome != "insufficient" for one in found.effects)
    if spends and is_asked and not typer.confirm("Measure again, and spend a look?", err=True):
        stop("nothing was measured", exit_codes.INCOMPLETE)
    _show(invocation, invocation.client.decks.prompt_edits.measure(deck_id, edit_id))


@command(app)
def accept(
    invocation: Invocation,
    deck_id: str,
    edit_id: str,
    *,
    consent: Annotated[
        bool,
        typer.Option("--consent", help="Although the figures do not speak for it."),
    ] = False,
) -> None:
    """Make the edited prompt the deck's current one."""
    edits = invocation.client.decks.prompt_edits
    _show(invocation, edits.accept(deck_id, edit_id, consent=consent or None))


@command(app)
def reject(invocation: Invocation, deck_id: str, edit_id: str, *, reason: Reason = None) -> None:
    """Reject an edit that is not accepted."""
    edits = invocation.client.decks.prompt_edits
    _show(invocation, edits.reject(deck_id, edit_id, reason=reason))


@command(app)
def rollback(invocation: Invocation, deck_id: str, edit_id: str, *, reason: Reason = None) -> None:
    """Make the prompt from before an accepted edit the current one again."""
    edits = invocation.client.decks.prompt_edits
    _show(invocation, edits.rollback(deck_id, edit_id, reason=reason))


def _show(invocation: Invocation, found: PromptEdit) -> None:
    if invocation.as_json:
        invocation.show_json(found)
        return
    fields: dict[str, Any] = {
        "edit": found.id,
        "status": found.status.replace("_", " "),
        "replaces": f"version {found.base_version}",
        "by": f"version {found.candidate_version}",
        "model": found.generator.model,
        "inputs": found.inputs,
        "measured at": f"{found.labels} labels of each version, then at twice as many",
        "run": found.run_id,
        "unfinished": found.unfinished and f"its run was {found.unfinished}",
        "look": found.look,
        "reason": found.reason or None,
    }
    invocation.show_fields({name: value for name, value in fields.items() if value is not None})
    if found.effects:
        typer.echo()
        invocation.show_all(found.effects, _EFFECT_COLUMNS)


def _both(effect: PromptEffect, said: Callable[[PromptArm], str]) -> str:
    """Return what is said of the responses before and after."""
    return f"{said(effect.old)}, {said(effect.new)}"


def _mean(arm: PromptArm) -> str:
    return "none" if arm.mean is None or arm.mean.value is None else f"{arm.mean.value:+.2f}"


def _missing(effect: PromptEffect) -> str | None:
    """Return why nothing is claimed: of the responses, or of the labels of either version."""
    if effect.insufficient_because is not None:
        return effect.insufficient_because.replace("_", " ")
    of_arms = [
        f"{name}: {arm.insufficient_because.replace('_', ' ')}"
        for name, arm in (("before", effect.old), ("after", effect.new))
        if arm.insufficient_because is not None
    ]
    return ", ".join(of_arms) or None


def _delta(effect: PromptEffect) -> str | None:
    if effect.delta is None:
        return None
    if effect.low is None or effect.high is None:
        return f"{effect.delta:+.2f}, no interval"
    return f"{effect.delta:+.2f} ({effect.low:+.2f} to {effect.high:+.2f})"
