"""``autotune decks label`` and ``truth``: what people say of samples."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from autotune.cli import exit_codes
from autotune.cli.invocation import Columns, Invocation, command, note, page_size, stop
from autotune.cli.lines import InvalidLineError, numbered_lines, parse_object
from autotune.client import InvalidInputError
from autotune.protocol.deck_feedback import (
    FeedbackLine,
    RatedHalf,
    RaterProgress,
    Truth,
    TruthState,
)
from autotune.protocol.limits import MAX_BULK_FEEDBACK
from autotune.protocol.problems import FieldProblem

app = typer.Typer(no_args_is_help=True, help="Labels of a deck, to take them elsewhere.")

_FAULTS_SHOWN = 5
_EXPORTED_AT_ONCE = 100

_TRUTH_COLUMNS: Columns[Truth] = {
    "SAMPLE": lambda one: one.sample_id,
    "SPLIT": lambda one: one.split,
    "STATE": lambda one: one.state,
    "TRUTH": lambda one: level(one.score, does_not_apply=one.does_not_apply),
    "FROM": lambda one: one.source,
    "RATERS": lambda one: one.raters,
    "HOW": lambda one: one.selection,
    "LOOK AGAIN": lambda one: "yes" if one.to_review else None,
}
_RATER_COLUMNS: Columns[RaterProgress] = {
    "RATER": lambda one: one.rater,
    "RATED": lambda one: one.rated,
    "TODAY": lambda one: one.today,
    "CORRECTED": lambda one: one.corrected,
    "LAST": lambda one: f"{one.last_at:%Y-%m-%d %H:%M}",
}


def level(score: int | None, *, does_not_apply: bool = False) -> str | None:
    """Return a level as people write it, such as ``+2``; None where there is none."""
    if does_not_apply:
        return "does not apply"
    if score is None:
        return None
    return f"{score:+d}" if score else "0"


def label(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    file: Annotated[
        typer.FileBinaryRead,
        typer.Argument(
            metavar="FILE.jsonl",
            help="One JSON object a line: sampleId or externalId, score (-3 to 3) or doesNotApply, "
            "and rater, explanation, selection, probability if any; or lines of `autotune decks "
            "labels export`, of this deck or one with the same external ids. - reads stdin.",
        ),
    ],
    *,
    rater: Annotated[
        str | None, typer.Option(help="Who rated, for lines without rater; else you.")
    ] = None,
    drawn: Annotated[
        bool,
        typer.Option(
            "--drawn",
            help="The samples of the file were drawn by chance, or are all there are. Nothing else "
            "counts for agreement.",
        ),
    ] = False,
) -> None:
    """Store what people say of samples from a file, each line once.

    Every line is checked before anything is sent. A line that says what its rater said already
    changes nothing, so the same command may run again; another one is a correction.
    """
    source = "stdin" if getattr(file, "name", "<stdin>") == "<stdin>" else file.name
    defaults = {"rater": rater, "selection": "random" if drawn else None}
    given = {name: value for name, value in defaults.items() if value is not None}
    ratings = list(_ratings(file, source, given))
    if not ratings:
        stop(f"nothing to store: {source} is empty")
    accepted = repeated = not_blind = chosen = 0
    faults: list[str] = []
    waiting = iter(ratings)
    while part := list(islice(waiting, MAX_BULK_FEEDBACK)):
        done = invocation.client.decks.labels.import_ratings(
            deck_id, grader_id, [fields for _, fields in part]
        )
        accepted += done.accepted
        repeated += done.repeated
        not_blind += done.not_blind
        chosen += done.chosen
        for one in done.rejected:
            problem = FieldProblem(field=one.field, expected=one.expected)
            faults.append(str(InvalidLineError(source, part[one.line - 1][0], [problem])))
    _tell(faults)
    counts = {
        "accepted": accepted,
        "repeated": repeated,
        "notBlind": not_blind,
        "chosen": chosen,
        "rejected": len(faults),
    }
    said = f"{accepted} stored, {repeated} there already, {len(faults)} rejected"
    if not_blind:
        said += (
            f"; {not_blind} of the stored are not blind, because you or the rater were shown the "
            "judge's result: of held-out samples they count for nothing"
        )
    if chosen:
        said += (
            f"; {chosen} of the stored are of held-out samples and not drawn: they count for no "
            "agreement (--drawn says that the samples of a file were drawn)"
        )
    invocation.show_done(counts, said)
    raise typer.Exit(exit_codes.INCOMPLETE if faults else exit_codes.OK)


@command(app, "export")
def export_labels(
    invocation: Invocation,
    deck_id: str,
    *,
    grader: Annotated[str | None, typer.Option(help="Of this grader alone.")] = None,
    results: Annotated[
        bool,
        typer.Option(
            "--results",
            help="With what each grader's current version said. You have seen it then: what you "
            "upload of these samples later is not blind.",
        ),
    ] = False,
) -> None:
    """Print a deck's labels as JSON, a line for each grader and sample: ratings, and what holds.

    `autotune decks label` takes such lines, of one grader.
    """
    for one in invocation.client.decks.labels.export(
        deck_id, grader_id=grader, results=results, page_size=_EXPORTED_AT_ONCE
    ):
        invocation.show_json(one)


def truth(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    state: Annotated[
        TruthState | None, typer.Option(help="Only these; people are apart on to_adjudicate.")
    ] = None,
    to_review: Annotated[
        bool,
        typer.Option("--to-review", help="Only what was rated under other criteria than now."),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List what counts as true of samples: the decided, else the median, else the one rating."""
    found = invocation.client.decks.labels.truths(
        deck_id, grader_id, state=state, to_review=to_review, page_size=page_size(limit)
    )
    invocation.show_all(found, _TRUTH_COLUMNS, limit)


def progress(invocation: Invocation, deck_id: str, grader_id: str) -> None:
    """Show how far people are with a grader's samples, and who rated how many."""
    found = invocation.client.decks.labels.progress(deck_id, grader_id)
    if invocation.as_json:
        invocation.show_json(found)
        return
    invocation.show_fields(
        {
            "holdout": _half(found.holdout),
            "development": _half(found.development),
            "toAdjudicate": found.to_adjudicate,
            "toReview": found.to_review,
        }
    )
    typer.echo()
    invocation.show_all(found.raters, _RATER_COLUMNS)


def _half(half: RatedHalf) -> str:
    return (
        f"{half.rated} of {half.samples} rated, {half.drawn} of them drawn, "
        f"{half.rated_twice} by several people; {half.settled} have a truth"
    )


def _ratings(
    file: typer.FileBinaryRead, source: str, given: dict[str, Any]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rating of each line, with its number; end the command where one is wrong.

    Raises:
        InvalidLineError: a line is longer than any that could be sent.
    """
    faults: list[str] = []
    known: set[Any] = set()
    for number, raw in numbered_lines(file, source=source):
        try:
            said = [{**given, **one} for one in _words_of(parse_object(raw), known)]
            for fields in said:
                _require_rating(fields)
        except InvalidInputError as error:
            faults.append(str(InvalidLineError(source, number, error.errors)))
        else:
            yield from ((number, fields) for fields in said)
    if faults:
        _tell(faults)
        wrong = "1 line is wrong" if len(faults) == 1 else f"{len(faults)} lines are wrong"
        stop(f"{wrong}, so nothing was sent")


def _words_of(line: dict[str, Any], graders: set[Any]) -> list[dict[str, Any]]:
    """Return the ratings of a line: one, or those of a label that was exported.

    Args:
        graders: those of the lines before; this one's is added.

    Raises:
        InvalidInputError: it is a label of another grader than the one before.
    """
    ratings = line.get("ratings")
    if not isinstance(ratings, list) or not all(isinstance(one, dict) for one in ratings):
        return [line]
    graders.add(str(line.get("graderId")))
    if len(graders) > 1:
        raise InvalidInputError.at(
            "graderId", "labels of one grader: export them with --grader, or take those lines alone"
        )
    said = [{name: one[name] for name in one if one[name] is not None} for one in ratings]
    external_id = line.get("externalId")
    if external_id is None:
        return said
    # It names the sample in this deck and in any other that has it.
    return [{**_without_sample(one), "externalId": external_id} for one in said]


def _without_sample(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "sampleId"}


def _require_rating(fields: dict[str, Any]) -> None:
    try:
        FeedbackLine.model_validate(fields)
    except ValidationError as error:
        raise InvalidInputError.of(error) from error


def _tell(faults: list[str]) -> None:
    for fault in faults[:_FAULTS_SHOWN]:
        note(fault)
    if len(faults) > _FAULTS_SHOWN:
        note(f"and {len(faults) - _FAULTS_SHOWN} more")
