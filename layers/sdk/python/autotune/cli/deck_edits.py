"""``autotune decks propose`` and what follows: edits of rubrics, replayed, accepted, taken back."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from autotune.cli import exit_codes
from autotune.cli.deck_reading import text_in
from autotune.cli.deck_runs import tell
from autotune.cli.invocation import Columns, Invocation, note, stop
from autotune.cli.llm_spending import dollars
from autotune.protocol.deck_edit_proposals import EditProposal
from autotune.protocol.deck_edits import DeckEdit, EditField
from autotune.protocol.deck_effects import EditEffect, EditTrial

_COLUMNS: Columns[DeckEdit] = {
    "ID": lambda one: one.id,
    "STATUS": lambda one: one.status.replace("_", " "),
    "OF": lambda one: one.base_version,
    "MAKES": lambda one: one.candidate_version,
    "LOOK": lambda one: one.look,
    "KAPPA": lambda one: _delta(one.effect or one.trial),
    "OUTCOME": lambda one: one.effect and one.effect.outcome.replace("_", " "),
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
    "NOTE": lambda one: " ".join(one.note.split())[:40] or None,
}
_UNDER_WAY = ("coding", "merging", "patching")
_TEXT_FIELDS = tuple(one for one in get_args(EditField) if one != "examples")

Reason = Annotated[str | None, typer.Option(help="Why.")]


def propose(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    patch: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATCH.json]", help="A JSON list of changes; - reads stdin.", allow_dash=True
        ),
    ] = None,
    *,
    field: Annotated[
        str, typer.Option(help="criteria, level or notApplicableWhen: which text is changed.")
    ] = "criteria",
    level: Annotated[int | None, typer.Option(min=-3, max=3, help="Which level's text.")] = None,
    find: Annotated[
        str | None, typer.Option(help="A passage that the text has exactly once.")
    ] = None,
    replace: Annotated[str | None, typer.Option(help="What stands there afterwards.")] = None,
    sample: Annotated[
        list[str] | None, typer.Option(help="A sample that shows it; as often as needed.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="What it is for.")] = None,
) -> None:
    """Propose an edit of a grader's current version: one change, or all those of a file."""
    if (patch is None) == (find is None or replace is None):
        stop("give either PATCH.json, or --find and --replace")
    if patch is None:
        if field not in _TEXT_FIELDS:
            stop(f"--field is one of {', '.join(_TEXT_FIELDS)}; examples come in PATCH.json")
        change: dict[str, Any] = {"field": field, "find": find, "replace": replace}
        changes = [change if level is None else {**change, "level": level}]
    else:
        changes = _changes_in(patch)
    made = invocation.client.decks.edits.propose(
        deck_id, grader_id, patch=changes, sample_ids=sample, note=note
    )
    _show(invocation, made)


def fix(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    connection: Annotated[str, typer.Option(help="Where the model is called: llc_...")],
    model: Annotated[str, typer.Option(help="The model that proposes.")],
    cap_usd: Annotated[
        float, typer.Option(min=0, help="The most that it may cost, in US dollars.")
    ],
    max_tokens: Annotated[int, typer.Option(min=1, help="Of each answer, at most.")] = 2_000,
    samples: Annotated[
        int | None, typer.Option(min=1, max=40, help="Show it so many disagreements; else 40.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Start without asking.")] = False,
) -> None:
    """Have a model propose edits, from disagreements of the development half, and wait for it.

    What it costs is said before.
    """
    of_edits = invocation.client.decks.edits
    proposer = {
        "connectionId": connection,
        "model": model,
        "params": {"maxTokens": max_tokens},
    }
    before = of_edits.estimate_proposal(deck_id, grader_id, proposer=proposer, samples=samples)
    note(
        f"{before.shown} disagreements, at most {before.requests} requests: "
        f"{dollars(before.estimate_nano_usd)} US dollars, "
        f"at most {dollars(before.bound_nano_usd)}"
    )
    if not before.fits:
        note("the budget has no room for all of it now: what does not fit would wait")
    _confirm(invocation, yes=yes)
    of_edits.propose_by_model(
        deck_id,
        grader_id,
        proposer=proposer,
        cap_nano_usd=round(cap_usd * 1e9),
        samples=samples,
    )
    note(f"`autotune decks cancel-fix {deck_id} {grader_id}` ends it")
    found = of_edits.wait_for_proposal(deck_id, grader_id)
    if found is None:
        stop(f"{grader_id} has no proposal")
    _show_proposal(invocation, deck_id, found)


def cancel_fix(invocation: Invocation, deck_id: str, grader_id: str) -> None:
    """Have the model's latest proposal ask nothing more; what is being asked may be paid.

    Patches that were answered become edits.
    """
    found = invocation.client.decks.edits.cancel_proposal(deck_id, grader_id)
    if found is None:
        stop(f"{grader_id} has no proposal")
    _show_proposal(invocation, deck_id, found)


def _show_proposal(invocation: Invocation, deck_id: str, found: EditProposal) -> None:
    if invocation.as_json:
        invocation.show_json(found)
        return
    is_ending = found.cancel_requested_at is not None and found.status in _UNDER_WAY
    status = f"{found.status}, is being canceled" if is_ending else found.status
    failed = f": {found.failed_because.replace('_', ' ')}" if found.failed_because else ""
    note(f"{status}{failed}, {found.cost_nano_usd / 1e9:.4f} USD")
    for one in found.refused:
        note(f"refused for {one.pattern}: {one.because}")
    of_edits = invocation.client.decks.edits
    made = [of_edits.get(deck_id, found.grader_id, edit_id) for edit_id in found.edit_ids]
    invocation.show_all(made, _COLUMNS)


def edits(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List a grader's edits, newest first."""
    invocation.show_all(invocation.client.decks.edits.list(deck_id, grader_id), _COLUMNS, limit)


def edit(invocation: Invocation, deck_id: str, grader_id: str, edit_id: str) -> None:
    """Show an edit, with what it changes once its replay has ended."""
    _show(invocation, invocation.client.decks.edits.get(deck_id, grader_id, edit_id))


def replay(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="On the held-out half, which spends a look at its labels; else the development "
            "half, which comes first.",
        ),
    ] = False,
    cap_usd: Annotated[
        float | None, typer.Option(min=0, help="The most that it may cost, in US dollars.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept it if nothing speaks against it.")
    ] = False,
    wait: Annotated[bool, typer.Option(help="Wait until it is measured.")] = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Start without asking.")] = False,
) -> None:
    """Have labelled samples judged by the edited version, and show what that changes.

    What it costs is said before, and which look at held-out labels it spends.
    """
    if accept and not held_out:
        stop("--accept needs --held-out: no other figure backs a claim")
    split: Literal["development", "holdout"] = "holdout" if held_out else "development"
    of_edits = invocation.client.decks.edits
    found = of_edits.estimate(deck_id, grader_id, edit_id, split=split)
    tell(found)
    if found.look is not None:
        note(f"it spends look {found.look} at the held-out labels, of the level {found.alpha:g}")
    _confirm(invocation, yes=yes)
    started = of_edits.replay(
        deck_id,
        grader_id,
        edit_id,
        split=split,
        cap_nano_usd=None if cap_usd is None else round(cap_usd * 1e9),
        accept_if_better=accept or None,
    )
    if not wait:
        _show(invocation, started)
        return
    note(f"replaying in {started.run_id}")
    _show(invocation, of_edits.wait_for(deck_id, grader_id, edit_id))


def accept(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    consent: Annotated[
        bool,
        typer.Option(
            "--consent",
            help="To clearly bad samples that are newly called positive, and to levels where the "
            "question does not apply.",
        ),
    ] = False,
) -> None:
    """Make the edited version the current one, if what was measured allows it."""
    found = invocation.client.decks.edits.accept(
        deck_id, grader_id, edit_id, consent=consent or None
    )
    _show(invocation, found)


def reject(
    invocation: Invocation, deck_id: str, grader_id: str, edit_id: str, *, reason: Reason = None
) -> None:
    """Reject an edit that is not accepted."""
    of_edits = invocation.client.decks.edits
    _show(invocation, of_edits.reject(deck_id, grader_id, edit_id, reason=reason))


def rollback(
    invocation: Invocation, deck_id: str, grader_id: str, edit_id: str, *, reason: Reason = None
) -> None:
    """Make the version from before an accepted edit the current one again."""
    of_edits = invocation.client.decks.edits
    _show(invocation, of_edits.rollback(deck_id, grader_id, edit_id, reason=reason))


def _confirm(invocation: Invocation, *, yes: bool) -> None:
    """Ask a person at a terminal whether to start."""
    is_asked = not (yes or invocation.as_json) and typer.get_text_stream("stdin").isatty()
    if is_asked and not typer.confirm("Start?", err=True):
        stop("nothing was started", exit_codes.INCOMPLETE)


def _changes_in(file: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(text_in(file))
    except ValueError as error:
        stop(f"{file}: {error}")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        stop(f"{file}: expected a JSON list of changes")
    return found


def _show(invocation: Invocation, found: DeckEdit) -> None:
    if invocation.as_json:
        invocation.show_json(found)
        return
    effect = found.effect
    fields: dict[str, Any] = {
        "edit": found.id,
        "status": found.status.replace("_", " "),
        "changes": f"version {found.base_version}",
        "makes": found.candidate_version and f"version {found.candidate_version}",
        "proposed for": (
            f"{dollars(found.proposal_cost_nano_usd)} US dollars"
            if found.origin == "model"
            else None
        ),
        "unfinished": found.unfinished and f"its replay was {found.unfinished}",
        "development": _delta(found.trial),
        "held out": _delta(effect),
    }
    if effect is not None:
        fields |= _measured(effect)
    invocation.show_fields({name: value for name, value in fields.items() if value is not None})


def _measured(effect: EditEffect) -> dict[str, Any]:
    scored, bias, apart = effect.scored, effect.bias, effect.inapplicable
    left = effect.other_model
    found = "-" if effect.detectable is None else f"{effect.detectable:.3f}"
    return {
        "outcome": ", ".join(
            one.replace("_", " ")
            for one in (effect.outcome, *effect.refusals, effect.insufficient_because)
            if one
        ),
        "look": f"{effect.look}, at {effect.alpha:g}",
        "would find": f"{found} in 80 of 100 cases, of {effect.new.n} pairs",
        "scored": f"{scored.old} before, {scored.new} after, of {scored.n}",
        "bias": f"{_number(bias.old)} before, {_number(bias.new)} after",
        "newly positive": f"{effect.newly_positive} of -3 or -2",
        "not applicable": apart and f"{apart.old} scored before, {apart.new} after, of {apart.n}",
        "left out": f"{left} of which no model judged both" if left else None,
    }


def _delta(measured: EditTrial | None) -> str | None:
    if measured is None:
        return None
    if measured.delta is None:
        return "undefined"
    said = f"{_number(measured.old.value)} to {_number(measured.new.value)}"
    low = measured.low if isinstance(measured, EditEffect) else None
    bound = "" if low is None else f", at least {low:+.3f}"
    return f"{said} ({measured.delta:+.3f}{bound})"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
