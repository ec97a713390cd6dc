"""``autotune decks samples``: what models were asked and answered, to be judged."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from pydantic import ValidationError

from autotune.cli import exit_codes
from autotune.cli.exit_codes import exit_code_of
from autotune.cli.invocation import Columns, Invocation, command, note, page_size, stop
from autotune.cli.lines import (
    InvalidLineError,
    RejectedLines,
    numbered_lines,
    parse_object,
    rereadable,
)
from autotune.cli.progress import CountProgress
from autotune.client import AutotuneError, InvalidInputError
from autotune.client.deck_samples import encode_sample
from autotune.client.submissions import submission_key
from autotune.protocol.deck_sample_labels import NewLabelledSample
from autotune.protocol.deck_samples import (
    AddedLabels,
    BulkSamples,
    Collection,
    NewSample,
    RejectedLine,
    Sample,
    Split,
)
from autotune.protocol.problems import FieldProblem

app = typer.Typer(no_args_is_help=True, help="Samples of a deck: add, list, show, delete.")

_COLUMNS: Columns[Sample] = {
    "ID": lambda one: one.id,
    "SPLIT": lambda one: one.split,
    "MODEL": lambda one: one.model,
    "HOW": lambda one: one.collection,
    "INPUT": lambda one: _excerpt(one.input_excerpt),
    "OUTPUT": lambda one: _excerpt(one.output_excerpt),
    "EXTERNAL ID": lambda one: _excerpt(one.external_id) if one.external_id else None,
    "DUPLICATE OF": lambda one: one.duplicate_of,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
}
# The client adds the place and the digest of each thousand.
_KEY = "autotune-decks-samples"
_EXCERPT_CHARACTERS = 40

SampleFile = Annotated[
    typer.FileBinaryRead,
    typer.Argument(
        metavar="FILE.jsonl",
        help="One JSON object a line: request and response of OpenAI's, or input and output. "
        "- reads stdin.",
    ),
]
SkipInvalid = Annotated[
    bool, typer.Option("--skip-invalid", help="Write invalid lines to FILE.rejected.jsonl; go on.")
]
KeyName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Give a new name to add the same lines once more."),
]


@command(app)
def add(
    invocation: Invocation,
    deck_id: str,
    file: SampleFile,
    *,
    skip_invalid: SkipInvalid = False,
    idempotency_key: KeyName = None,
) -> None:
    """Add a file of samples and print their ids, one a line.

    A line may have labels: what people said of the sample, for graders of the deck.

    Every line is checked before anything is sent. What the server refuses all the same is written
    to FILE.rejected.jsonl: mend and add that file. The same file adds nothing the second time
    within seven days, so after Ctrl-C or an error run the same command again.
    """
    with ExitStack() as kept:
        lines = _SampleLines(file, kept, skip_invalid=skip_invalid, model=NewLabelledSample)
        kept.callback(lines.rejected.close)
        lines.check()
        progress = kept.enter_context(CountProgress("sent", len(lines.numbers)))
        try:
            done = invocation.client.decks.samples.upload(
                deck_id,
                lines.samples(),
                idempotency_key=submission_key(idempotency_key or _KEY),
                on_progress=lambda done: progress.show(done.accepted + len(done.rejected)),
            )
        except (AutotuneError, KeyboardInterrupt) as error:
            if _may_pass(error):
                progress.print_line("run the same command again to go on")
            raise
        lines.reject(done.rejected)
    _show(invocation, done, lines.rejected)
    refused = done.labels.rejected if done.labels else []
    for one in refused:
        problem = FieldProblem(field=one.field, expected=one.expected)
        note(str(InvalidLineError(lines.source, lines.numbers[one.line - 1], [problem])))
    is_whole = not (lines.rejected.count or refused)
    raise typer.Exit(exit_codes.OK if is_whole else exit_codes.INCOMPLETE)


@command(app)
def match(
    invocation: Invocation,
    file: SampleFile,
    *,
    collection: Annotated[Collection, typer.Option(help="How the samples came.")] = "manual",
    skip_invalid: SkipInvalid = False,
    idempotency_key: KeyName = None,
) -> None:
    """Add a file of samples to the decks whose system prompts they have; print ids and decks.

    What no deck has is counted: `autotune decks unmatched`. Else it is as `add` is.
    """
    with ExitStack() as kept:
        lines = _SampleLines(file, kept, skip_invalid=skip_invalid)
        kept.callback(lines.rejected.close)
        lines.check()
        progress = kept.enter_context(CountProgress("taken in", len(lines.numbers)))
        try:
            done = invocation.client.decks.samples.match(
                lines.samples(),
                collection=collection,
                idempotency_key=submission_key(idempotency_key or _KEY),
                on_progress=lambda done: progress.show(
                    done.accepted + len(done.unmatched) + len(done.rejected)
                ),
            )
        except (AutotuneError, KeyboardInterrupt) as error:
            if _may_pass(error):
                progress.print_line("run the same command again to go on")
            raise
        lines.reject(done.rejected)
    _note_rejected(lines.rejected)
    if invocation.as_json:
        shown = done.model_dump(by_alias=True, mode="json", exclude={"rejected"})
        invocation.show_json({**shown, "rejectedLines": lines.rejected.count})
    else:
        for one in done.samples:
            typer.echo(f"{one.sample_id}  {one.deck_id}")
        note(f"added {done.accepted}; no deck has the prompts of {len(done.unmatched)}")
    raise typer.Exit(exit_codes.INCOMPLETE if lines.rejected.count else exit_codes.OK)


@command(app, "list")
def list_(
    invocation: Invocation,
    deck_id: str,
    *,
    split: Annotated[Split | None, typer.Option(help="Only this half.")] = None,
    model: Annotated[str | None, typer.Option(help="Only what this model answered.")] = None,
    deck_version: Annotated[
        int | None,
        typer.Option(min=1, help="Only samples that came with this version of the system prompt."),
    ] = None,
    external_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Only the one with this id of yours.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List the samples of a deck, newest first."""
    found = invocation.client.decks.samples.list(
        deck_id,
        split=split,
        model=model,
        deck_version=deck_version,
        external_id=external_id,
        page_size=page_size(limit),
    )
    invocation.show_all(found, _COLUMNS, limit)


@command(app)
def show(invocation: Invocation, deck_id: str, sample_id: str) -> None:
    """Show a sample with its texts."""
    sample = invocation.client.decks.samples.get(deck_id, sample_id)
    if invocation.as_json:
        invocation.show_json(sample)
        return
    texts = {"request", "response", "input_excerpt", "output_excerpt"}
    invocation.show_fields(sample.model_dump(by_alias=True, mode="json", exclude=texts))
    for name, document in (("request", sample.request), ("response", sample.response)):
        typer.echo(f"\n{name}\n{json.dumps(document, indent=2, ensure_ascii=False)}")


@command(app)
def delete(invocation: Invocation, deck_id: str, sample_id: str) -> None:
    """Delete a sample with its texts, and what was said of it."""
    invocation.client.decks.samples.delete(deck_id, sample_id)
    invocation.show_deleted(sample_id)


class _SampleLines:
    """A file of samples that is read twice: once to check every line, and once to send them.

    Attributes:
        numbers: of the lines that are sent.
        rejected: takes lines that are not stored.
    """

    def __init__(
        self,
        stream: IO[bytes],
        kept: ExitStack,
        *,
        skip_invalid: bool,
        model: type[NewSample] = NewSample,
    ) -> None:
        self.source = "stdin" if stream.name == "<stdin>" else stream.name
        self.numbers: list[int] = []
        self.rejected = RejectedLines(Path(self.source).with_suffix(".rejected.jsonl"))
        self._stream = rereadable(stream, kept)
        self._skips = skip_invalid
        self._model = model

    def check(self) -> None:
        """Read the file to its end; end the command where a line is wrong, unless they are skipped.

        Raises:
            InvalidLineError: a line is longer than any that could be sent.
        """
        for number, raw in self._lines():
            try:
                _sample_in(raw, self._model)
            except InvalidInputError as error:
                fault = InvalidLineError(self.source, number, error.errors)
                if not self._skips:
                    note("nothing was sent; --skip-invalid goes on without invalid lines")
                    raise fault from error
                self.rejected.add(raw, fault)
            else:
                self.numbers.append(number)
        if not (self.numbers or self.rejected.count):
            stop(f"nothing to add: {self.source} is empty")

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield the samples of the lines that are not rejected."""
        wanted = frozenset(self.numbers)
        return (parse_object(raw) for number, raw in self._lines() if number in wanted)

    def reject(self, refused: list[RejectedLine]) -> None:
        """Keep the lines that the server refused."""
        said = {self.numbers[one.line - 1]: one for one in refused}
        for number, raw in self._lines() if said else ():
            if (one := said.get(number)) is not None:
                problem = FieldProblem(field=one.field, expected=one.expected)
                self.rejected.add(raw, InvalidLineError(self.source, number, [problem]))

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        self._stream.seek(0)
        return numbered_lines(self._stream, source=self.source)


def _may_pass(error: AutotuneError | KeyboardInterrupt) -> bool:
    """Return whether the same command may do what this one did not."""
    return isinstance(error, KeyboardInterrupt) or exit_code_of(error) == exit_codes.UNAVAILABLE


def _sample_in(raw: bytes, model: type[NewSample]) -> None:
    """Check a line.

    Raises:
        InvalidInputError: it is no sample.
    """
    fields = parse_object(raw)
    try:
        sample = model.model_validate(fields)
    except ValidationError as error:
        raise InvalidInputError.of(error) from error
    pair = sample.input is not None and sample.output is not None
    whole = sample.request is not None and sample.response is not None
    if pair == whole:
        raise InvalidInputError.at("input", "input and output, or request and response")
    encode_sample(fields, place="line")


def _show(invocation: Invocation, done: BulkSamples, rejected: RejectedLines) -> None:
    _note_rejected(rejected)
    if invocation.as_json:
        rest: dict[str, Any] = {"rejectedLines": rejected.count}
        if done.labels is not None:
            rest["labels"] = done.labels.model_dump(by_alias=True, mode="json")
        invocation.show_json({"accepted": done.accepted, "sampleIds": done.sample_ids, **rest})
        return
    for sample_id in done.sample_ids:
        typer.echo(sample_id)
    note(f"added {done.accepted}")
    if done.labels is not None:
        note(_told(done.labels))


def _told(labels: AddedLabels) -> str:
    found = {
        "said before": labels.repeated,
        "not blind": labels.not_blind,
        "of held-out samples that were not drawn": labels.chosen,
        "refused": len(labels.rejected),
    }
    rest = [f"{number} {what}" for what, number in found.items() if number]
    return "; ".join([f"labels added {labels.accepted}", *rest])


def _note_rejected(rejected: RejectedLines) -> None:
    for fault in rejected.first_faults:
        note(fault)
    if more := rejected.count - len(rejected.first_faults):
        note(f"and {more} more")
    if rejected.count:
        note(f"{rejected.count} rejected lines are in {rejected.path}")


def _excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    is_long = len(line) > _EXCERPT_CHARACTERS
    return f"{line[: _EXCERPT_CHARACTERS - 1]}…" if is_long else line
