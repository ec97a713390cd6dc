"""``autotune decks import`` and ``export``: decks as files that people edit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.deck_reading import DeckFilePath, JudgeOptions, ReadFile, prompt_in, read_file
from autotune.cli.invocation import Invocation, note, stop
from autotune.client import (
    AutotuneError,
    LocalFileError,
    deck_file_of,
    format_deck_file,
)
from autotune.client.deck_files.exporting import judge_of, rubric_of
from autotune.protocol.deck_rubrics import DeckGrader
from autotune.protocol.decks import Deck
from autotune.protocol.levels import LevelsRubric


def import_(
    invocation: Invocation,
    file: DeckFilePath,
    *,
    name: Annotated[str | None, typer.Option(help="Its name, in place of the file's.")] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(metavar="PROMPT.md", help="The system prompt of a file that has none."),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="DECK", help="Bring this deck to what the file says, in place of a new one."
        ),
    ] = None,
    judge: JudgeOptions,
) -> None:
    """Make a deck of a file, with its graders, which grade nothing before they are activated.

    With --into DECK a prompt or a grader that differs gets a further version, what is new is made,
    and what is the same stays: running it again changes nothing. Graders are known by their names.
    """
    read = read_file(file, judge)
    names = [one.name for one, _ in read.graders]
    if into is not None and len(set(names)) != len(names):
        stop(f"{file} has graders of the same name, and --into knows them by their names")
    text = read.system_prompt
    if prompt is not None:
        if text is not None:
            stop(f"{file} has a system prompt of its own: leave out --prompt")
        text = prompt_in(prompt)
    if into is None:
        deck = _made(invocation, read, name=name, prompt=text)
    else:
        deck = _changed(invocation, into, read, name=name, prompt=text)
    with _told_of(deck.id):
        ids = [one.id for one in _bring(invocation, deck, read, is_new=into is None)]
    for said in read.notes:
        note(said)
    if invocation.as_json:
        invocation.show_json({"deckId": deck.id, "graderIds": ids, "notes": list(read.notes)})
        return
    typer.echo(deck.id)
    note(f"{deck.name}: {len(ids)} graders; `autotune decks graders list {deck.id}` shows them")


def export(
    invocation: Invocation,
    deck_id: str,
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.deck.md", help="The file; - is stdout.")
    ] = Path("-"),
    no_connections: Annotated[
        bool,
        typer.Option(
            "--no-connections", help="Leave out where models are called: for other organisations."
        ),
    ] = False,
) -> None:
    """Write a deck, its current prompt and its graders, as a file; retired ones are left out."""
    deck = invocation.client.decks.get(deck_id)
    graders = invocation.client.decks.graders.list(deck_id)
    kept = [one for one in graders if one.status != "retired"]
    text = format_deck_file(deck_file_of(deck, kept, with_connections=not no_connections))
    shown = {"deckId": deck.id, "graders": len(kept)}
    if out == Path("-"):
        if invocation.as_json:
            invocation.show_json({**shown, "text": text})
        else:
            typer.echo(text, nl=False)
        return
    try:
        out.write_bytes(text.encode())
    except OSError as error:
        raise LocalFileError(out, error) from error
    sentence = f"wrote {out}: {deck.name}, {len(kept)} graders"
    invocation.show_done({**shown, "file": str(out)}, sentence)


def _made(invocation: Invocation, read: ReadFile, *, name: str | None, prompt: str | None) -> Deck:
    if prompt is None:
        stop(f"{read.name} is a grader without a system prompt: give --prompt, or a deck by --into")
    whole = read.whole
    return invocation.client.decks.create(
        name=name or read.name,
        system_prompt=prompt,
        description=None if whole is None else whole.description,
        holdout_share=None if whole is None else whole.holdout_share,
    )


def _changed(
    invocation: Invocation, deck_id: str, read: ReadFile, *, name: str | None, prompt: str | None
) -> Deck:
    """Bring a deck itself to what a file says."""
    decks = invocation.client.decks
    deck = decks.get(deck_id)
    whole = read.whole
    if whole is not None and whole.holdout_share != deck.holdout_share:
        stop(
            f"holdoutShare of {deck_id} is {deck.holdout_share:g} for good, because samples are "
            f"divided as they come; the file says {whole.holdout_share:g}"
        )
    if prompt is not None and prompt != deck.system_prompt:
        decks.add_version(deck_id, system_prompt=prompt, parent=deck.version)
    changes: dict[str, Any] = {}
    said = name or (whole.name if whole is not None else deck.name)
    if said != deck.name:
        changes["name"] = said
    if whole is not None and whole.description != deck.description:
        changes["description"] = whole.description
    return decks.update(deck_id, **changes) if changes else deck


def _bring(
    invocation: Invocation, deck: Deck, read: ReadFile, *, is_new: bool
) -> Iterator[DeckGrader]:
    """Make the graders of a file, or versions of those that a deck has; yield each."""
    graders = invocation.client.decks.graders
    there = {} if is_new else _by_name(deck, graders.list(deck.id))
    for said, judge in read.graders:
        rubric = _without_samples(said.rubric) if is_new else said.rubric
        known = there.get(said.name)
        if known is None:
            yield graders.create(
                deck.id, name=said.name, rubric=rubric, judge=judge, origin="import"
            )
            continue
        if rubric != rubric_of(known) or (judge is not None and judge != judge_of(known)):
            graders.add_version(deck.id, known.id, rubric=rubric, judge=judge, parent=known.version)
        yield known


def _by_name(deck: Deck, graders: Sequence[DeckGrader]) -> dict[str, DeckGrader]:
    """Return the graders of a deck that are not retired, by their names."""
    kept = [one for one in graders if one.status != "retired"]
    found = {one.name: one for one in kept}
    if len(found) != len(kept):
        several = next(one.name for one in kept if found[one.name] is not one)
        stop(
            f"{deck.id} has several graders {several}: `autotune decks graders update` renames one"
        )
    return found


def _without_samples(rubric: LevelsRubric) -> LevelsRubric:
    """Return a rubric for another deck, whose samples its examples are not."""
    examples = [one.model_copy(update={"sample_id": None}) for one in rubric.examples]
    return rubric.model_copy(update={"examples": examples})


@contextmanager
def _told_of(deck_id: str) -> Iterator[None]:
    """Print how to go on where a deck has been made and its graders have not."""
    try:
        yield
    except (AutotuneError, KeyboardInterrupt):
        note(f"{deck_id} is there; the same command with --into {deck_id} goes on")
        raise
