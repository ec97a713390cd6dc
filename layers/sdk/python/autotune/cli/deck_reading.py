"""Reads files of decks: deck files, and graders of aibff, with the judges that options name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from autotune.cli.invocation import require_id, stop
from autotune.client import (
    DeckFile,
    DeckFileGrader,
    DeckFileJudge,
    LocalFileError,
    parse_deck_file,
)
from autotune.client.deck_files.aibff import parse_aibff_file
from autotune.client.deck_files.reading import says_its_grammar
from autotune.protocol import limits
from autotune.protocol.deck_rubrics import DeckJudge
from autotune.protocol.llm_params import LlmParams

_MAX_TOKENS = 1_000

DeckFilePath = Annotated[
    Path,
    typer.Argument(metavar="FILE.deck.md", help="A deck file, or graders of aibff; - reads stdin."),
]


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The model that judges by graders whose file names none."""

    connection: Annotated[
        str | None,
        typer.Option(help="Where models are called, in place of the file's connections: llc_..."),
    ] = None
    model: Annotated[
        str | None, typer.Option(help="The model that judges, where the file names none.")
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=limits.MAX_LLM_OUTPUT_TOKENS,
            help=f"Most tokens of an answer of --model; {_MAX_TOKENS:,} without it.",
        ),
    ] = None

    def judge(self, said: DeckFileJudge | None) -> DeckJudge | None:
        """Return the judge of a grader of which a file says this; None where nobody says one."""
        if self.connection is not None:
            require_id(self.connection, "llc", name="connection", listed_by="llm connections")
        if said is None and self.model is not None:
            params = LlmParams(max_tokens=self.max_tokens or _MAX_TOKENS, temperature=0.0)
            said = DeckFileJudge(model=self.model, params=params)
        connection = self.connection or (said.connection if said is not None else None)
        if said is None:
            return None
        if connection is None:
            stop("--connection is needed: the file says which model judges, and not where")
        return said.at(connection)


@dataclass(frozen=True)
class ReadFile:
    """What a file says of a deck.

    Attributes:
        name: of the deck, if it is one.
        system_prompt: of the deck, if it has one.
        graders: each with its judge, where it has one.
        whole: the file as it was, where it is a deck file.
        notes: what of it is left out.
    """

    name: str
    system_prompt: str | None
    graders: Sequence[tuple[DeckFileGrader, DeckJudge | None]]
    whole: DeckFile | None
    notes: Sequence[str]


def text_in(path: Path) -> str:
    """Return the text of a file, or of stdin; line breaks of Windows become plain ones.

    Raises:
        LocalFileError: it cannot be read, or is no UTF-8.
    """
    try:
        raw = typer.get_binary_stream("stdin").read() if path == Path("-") else path.read_bytes()
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise LocalFileError(path, error) from error
    except UnicodeDecodeError as error:
        raise LocalFileError(path, f"expected UTF-8, not byte {error.start}") from error


def prompt_in(path: Path) -> str:
    """Return the prompt that a file holds, without a line break at its end."""
    prompt = text_in(path).removesuffix("\n")
    if not prompt.strip():
        stop(f"{path} is empty: expected a system prompt")
    return prompt


def read_file(file: Path, judge: JudgeOptions) -> ReadFile:
    """Return what a file says, whichever of the two forms it has.

    Raises:
        DeckFileError: it breaks the grammar, or its meaning is not clear.
        LocalFileError: it cannot be read.
    """
    text = text_in(file)
    if says_its_grammar(text):
        deck = parse_deck_file(text, source=file.name)
        graders = [(one, judge.judge(deck.judge_of(one))) for one in deck.graders]
        return ReadFile(deck.name, deck.system_prompt, graders, deck, ())
    foreign = parse_aibff_file(text, source=file.name, read=lambda name: _beside(file, name))
    judges = [(one, judge.judge(None)) for one in foreign.graders]
    return ReadFile(foreign.name, foreign.system_prompt, judges, None, foreign.notes)


def graders_in(file: Path) -> Sequence[DeckFileGrader]:
    """Return the graders that a file has, whichever of the two forms it has.

    Raises:
        DeckFileError: it breaks the grammar, or its meaning is not clear.
        LocalFileError: it cannot be read.
    """
    text = text_in(file)
    if says_its_grammar(text):
        return parse_deck_file(text, source=file.name).graders
    foreign = parse_aibff_file(text, source=file.name, read=lambda name: _beside(file, name))
    return foreign.graders


def _beside(file: Path, name: str) -> str:
    """Return the text of a deck file that another names; it lies in its folder or below."""
    folder = file.parent.resolve()
    path = (folder / name).resolve()
    if not (path.is_relative_to(folder) and path.name.endswith(".deck.md")):
        raise LocalFileError(Path(name), f"expected a .deck.md in {file.parent}, or below")
    return text_in(path)
