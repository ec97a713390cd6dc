"""``autotune decks graders``: the rubrics of a deck."""

import json
from typing import Annotated

import typer

from autotune.cli.deck_proposals import propose
from autotune.cli.deck_reading import DeckFilePath, JudgeOptions, read_file
from autotune.cli.deck_trials import lint, try_
from autotune.cli.invocation import Columns, Invocation, command, given, note, stop
from autotune.client.deck_files.levels import LEVEL_NAMES
from autotune.protocol.deck_rubrics import DeckGrader, DeckGraderVersion

app = typer.Typer(no_args_is_help=True, help="Graders of a deck: rubrics of seven levels.")

_COLUMNS: Columns[DeckGrader] = {
    "ID": lambda one: one.id,
    "NAME": lambda one: one.name,
    "STATUS": lambda one: one.status,
    "VERSION": lambda one: one.version,
    "ORIGIN": lambda one: one.origin,
    "JUDGE": lambda one: one.judge and one.judge.model,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
}
_VERSION_COLUMNS: Columns[DeckGraderVersion] = {
    "VERSION": lambda one: one.version,
    "FROM": lambda one: one.parent,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
    "AUTHOR": lambda one: one.author,
    "JUDGE": lambda one: one.judge and one.judge.model,
    "DIGEST": lambda one: one.digest[:12],
    "EDIT": lambda one: one.edit_id,
    "NOTE": lambda one: one.note or None,
}

GraderIds = Annotated[
    list[str] | None, typer.Argument(metavar="GRADER...", help="Ids of the deck's graders.")
]


@command(app, "list")
def list_(invocation: Invocation, deck_id: str) -> None:
    """List the graders of a deck, oldest first."""
    invocation.show_all(invocation.client.decks.graders.list(deck_id), _COLUMNS)


@command(app)
def show(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    version: Annotated[
        int | None, typer.Option(min=1, help="This version, else the current one.")
    ] = None,
) -> None:
    """Show a grader with its rubric."""
    graders = invocation.client.decks.graders
    found: DeckGrader | DeckGraderVersion
    if version is None:
        found = graders.get(deck_id, grader_id)
    else:
        found = graders.get_version(deck_id, grader_id, version)
    if invocation.as_json:
        invocation.show_json(found)
        return
    fields = found.model_dump(by_alias=True, mode="json", exclude={"rubric", "judge"})
    judge = found.judge
    fields["judge"] = judge and f"{judge.model} at {judge.connection_id}"
    fields["params"] = judge and judge.params
    invocation.show_fields(fields)
    rubric = found.rubric
    typer.echo(f"\n{rubric.criteria}\n")
    for name, text in zip(reversed(LEVEL_NAMES), reversed(rubric.levels), strict=True):
        typer.echo(f"{name:>2}  {text}")
    if rubric.not_applicable_when:
        typer.echo(f"\nNot applicable when: {rubric.not_applicable_when}")
    for number, example in enumerate(rubric.examples, 1):
        typer.echo(f"\nExample {number}: {json.dumps(example, ensure_ascii=False)}")


@command(app)
def add(
    invocation: Invocation,
    deck_id: str,
    file: DeckFilePath,
    *,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only the grader of this name; may be repeated."),
    ] = None,
    judge: JudgeOptions,
) -> None:
    """Add the graders of a file to a deck; they grade nothing before they are activated."""
    read = read_file(file, judge)
    names = [one.name for one, _ in read.graders]
    if unknown := [one for one in only or () if one not in names]:
        stop(f"{file} has no grader {', '.join(unknown)}: it has {', '.join(names) or 'none'}")
    wanted = [one for one in read.graders if only is None or one[0].name in only]
    if not wanted:
        stop(f"{file} has no graders")
    for said, by in wanted:
        examples = [one.model_copy(update={"sample_id": None}) for one in said.rubric.examples]
        rubric = said.rubric.model_copy(update={"examples": examples})
        made = invocation.client.decks.graders.create(
            deck_id, name=said.name, rubric=rubric, judge=by, origin="import"
        )
        if invocation.as_json:
            invocation.show_json(made)
        else:
            typer.echo(made.id)
            note(f"{made.name} is proposed")
    for one in read.notes:
        note(one)


@command(app)
def activate(
    invocation: Invocation,
    deck_id: str,
    grader_ids: GraderIds = None,
    *,
    all_: Annotated[
        bool, typer.Option("--all", help="All that are proposed, in place of ids.")
    ] = False,
) -> None:
    """Let graders grade."""
    if all_ == bool(grader_ids):
        stop("give either ids of graders or --all")
    graders = invocation.client.decks.graders
    proposed = [one.id for one in graders.list(deck_id) if one.status == "proposed"] if all_ else ()
    for one in grader_ids or proposed:
        _show_status(invocation, graders.update(deck_id, one, status="active"))


@command(app)
def retire(
    invocation: Invocation,
    deck_id: str,
    grader_ids: Annotated[list[str], typer.Argument(metavar="GRADER...")],
) -> None:
    """Let graders grade no more; what they graded stays."""
    for one in grader_ids:
        retired = invocation.client.decks.graders.update(deck_id, one, status="retired")
        _show_status(invocation, retired)


@command(app)
def publish(
    invocation: Invocation,
    deck_id: str,
    grader_ids: GraderIds = None,
    *,
    all_: Annotated[
        bool, typer.Option("--all", help="All that are active, in place of ids.")
    ] = False,
) -> None:
    """Publish graders, by which tasks can score; again once they changed or were measured."""
    if all_ == bool(grader_ids):
        stop("give either ids of graders or --all")
    graders = invocation.client.decks.graders
    active = [one.id for one in graders.list(deck_id) if one.status == "active"] if all_ else ()
    for one in grader_ids or active:
        grader = graders.publish(deck_id, one)
        if invocation.as_json:
            invocation.show_json(grader)
            continue
        if grader.published is not None:
            typer.echo(grader.published.grader_id)
        note(_calibration_of(grader))


@command(app)
def update(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    name: Annotated[str | None, typer.Option()] = None,
    version: Annotated[
        int | None, typer.Option(min=1, help="Make a version that exists the current one.")
    ] = None,
    shared_share: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="The share of samples that several people are to rate."),
    ] = None,
    shared_raters: Annotated[
        int | None, typer.Option(min=2, max=5, help="How many people rate these.")
    ] = None,
) -> None:
    """Rename a grader, roll it back to a version, or say what several people are to rate.

    `autotune decks import FILE.deck.md --into DECK` makes further versions.
    """
    changed = invocation.client.decks.graders.update(
        deck_id,
        grader_id,
        name=given(name),
        version=given(version),
        shared_share=given(shared_share),
        shared_raters=given(shared_raters),
    )
    _show_status(invocation, changed)


@command(app)
def versions(invocation: Invocation, deck_id: str, grader_id: str) -> None:
    """List the versions of a grader, newest first."""
    found = invocation.client.decks.graders.versions(deck_id, grader_id)
    invocation.show_all(found, _VERSION_COLUMNS)


@command(app)
def delete(invocation: Invocation, deck_id: str, grader_id: str) -> None:
    """Delete a grader that was never active; retire others."""
    invocation.client.decks.graders.delete(deck_id, grader_id)
    invocation.show_deleted(grader_id)


command(app)(propose)
command(app)(lint)
command(app, "try")(try_)


def _show_status(invocation: Invocation, grader: DeckGrader) -> None:
    if invocation.as_json:
        invocation.show_json(grader)
    else:
        typer.echo(f"{grader.id}  {grader.status:<8} version {grader.version}  {grader.name}")


def _calibration_of(grader: DeckGrader) -> str:
    """Say how far the judge of a published grader is trusted."""
    found = grader.calibration
    name = f"{grader.name}, version {grader.version}:"
    if found is None:
        return f"{name} not calibrated, {grader.uncalibrated_because}"
    if found.suspended is not None:
        told = found.suspended
        return (
            f"{name} not calibrated: of {told.labels} fresh labels {told.hits} are within one "
            f"level of {found.model}, {told.predicted:.0%} was predicted; have its labelled "
            "samples judged again"
        )
    kappa = f"kappa {found.kappa:.3f}, at least {found.low:.3f}, of {found.n} ratings"
    if found.look:
        kappa += f", at look {found.look}"
    if found.chose_version:
        kappa += f", {found.chose_version} of which chose the version"
    if grader.uncalibrated_because is not None:
        return f"{name} not calibrated: {kappa}; it has to be {found.threshold:g} at least"
    return f"{name} calibrated for {found.model}: {kappa}"
