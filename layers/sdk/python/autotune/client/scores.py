"""``client.scores``: verdicts, by every filter."""

from typing import Unpack

from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, Listing, call, listing, returning
from autotune.client.filters import FilterOptions, score_filters, spelled
from autotune.protocol.completions import ScoredCompletion, ScoreList, VerdictState
from autotune.protocol.exports import ExportFormat

_scores = returning(ScoreList, lambda page: (page.scores, page.next_token))


def list_scores(
    *,
    state: VerdictState | None = None,
    include_completion: bool = False,
    newest_first: bool = False,
    page_size: int | None = None,
    **options: Unpack[FilterOptions],
) -> Listing[ScoredCompletion]:
    """Walk through the verdicts of a task, or of all; what is pending has none yet.

    What was there when the walk began comes once, whatever is scored meanwhile. Verdicts come task
    by task, in no order that means anything within it, unless ``newest_first``.

    Args:
        task_id: only this task's; else those of every task, deleted ones included.
        model_id: only verdicts on this model.
        grader_id: only verdicts of this grader, or of this panel (``pnl_…``).
        min_score: only scores from this one on, 0 to 1; what is not scored has none.
        max_score: only scores up to this one, included.
        start_date: only what was decided from this time on. A time without a zone is local.
        end_date: only what was decided before this time.
        state: only those in this state.
        include_completion: fetch what was judged, dimensions and reasoning with each verdict.
        newest_first: what was decided last comes first; with ``task_id`` alone.
        page_size: verdicts fetched at a time, 1 to 200.

    Raises:
        InvalidInputError: a filter is out of its range, or a range is empty.
        NotFoundError: there is no such task in this organisation.
    """
    filters, call_options = score_filters(options)
    return listing(
        "scores",
        read=_scores,
        page_size=page_size,
        query={
            **spelled(filters),
            "state": state,
            "include": "completion" if include_completion else None,
            "order": "newest" if newest_first else None,
        },
        **call_options,
    )


def export_scores(
    *,
    format: ExportFormat,  # noqa: A002 - its name on the wire
    **options: Unpack[FilterOptions],
) -> Call[bytes]:
    """Return up to 1,000 matching verdicts as the content of one training data file.

    ``client.exports`` has more of everything; the arguments are those of ``exports.create``.

    Args:
        format: ``jsonl`` (not gzipped here), ``parquet`` or ``tfrecord``.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        RequestTooLargeError: more verdicts match, or the file outgrows 4 MB; see ``limit``.
    """
    filters, call_options = score_filters(options)
    return call(
        "GET",
        "scores",
        "export",
        read=lambda response: response.content,
        query={"format": format, **spelled(filters)},
        **call_options,
    )


class ScoreMethods:
    """Methods of verdicts."""

    list = ListMethod(list_scores)
    export = Method(export_scores)


class Scores(ScoreMethods, Resource):
    """Verdicts, blocking."""


class AsyncScores(ScoreMethods, AsyncResource):
    """Verdicts, for an event loop."""
