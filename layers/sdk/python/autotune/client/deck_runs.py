"""``client.decks.runs``: samples of a deck judged by its graders, and what judges said."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.errors import WaitTimeoutError
from autotune.client.exchange import Course, Pause, Plan, Session
from autotune.client.submissions import LONGEST_KEY, checked_key
from autotune.client.waiting import GAP_GROWTH
from autotune.protocol import deck_results, deck_runs
from autotune.protocol.deck_samples import Split

_FIRST_LOOK_AFTER_SECONDS = 1.0
_LONGEST_GAP_SECONDS = 15.0

_estimate = returning(deck_runs.DeckEstimateResponse, lambda answer: answer.estimate)
_run = returning(deck_runs.DeckRunResponse, lambda answer: answer.run)
_runs = returning(deck_runs.DeckRunList, lambda page: (page.runs, page.next_token))
_results = returning(deck_results.DeckResultList, lambda page: (page.results, page.next_token))
_of_sample = returning(deck_results.SampleResults, lambda answer: answer.results)


def estimate_run(
    deck_id: str,
    *,
    grader_ids: Sequence[str] | None = None,
    sample_ids: Sequence[str] | None = None,
    split: Split | None = None,
    deck_version: int | None = None,
    prompt_edit_id: str | None = None,
    labelled: bool | None = None,
    repeat: bool | None = None,
    **options: Unpack[CallOptions],
) -> Call[deck_runs.DeckEstimate]:
    """Return what a run would probably cost, and at most; nothing is asked or spent.

    Args:
        grader_ids: all active graders of the deck unless given, and so on, as ``start`` has them.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: a grader or sample is none of the deck's, or may not be used so.
        ConflictError: there is no grader, or no sample, to judge.
    """
    request = _requested(
        grader_ids, sample_ids, split, deck_version, prompt_edit_id, labelled, repeat, None
    )
    return call("POST", "decks", deck_id, "estimate", read=_estimate, body=request, **options)


def start_run(
    deck_id: str,
    *,
    grader_ids: Sequence[str] | None = None,
    sample_ids: Sequence[str] | None = None,
    split: Split | None = None,
    deck_version: int | None = None,
    prompt_edit_id: str | None = None,
    labelled: bool | None = None,
    repeat: bool | None = None,
    cap_nano_usd: int | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[deck_runs.DeckRun]:
    """Have samples of a deck judged by its graders; return before they are.

    Args:
        grader_ids: graders of the deck, each in its current version; all active ones unless given.
            Those that are proposed may be tried on up to three samples of the development half.
        sample_ids: samples of the deck; all of it, or of ``split``, unless given. What was
            generated for edits of the system prompt is judged where it is named, or its edit.
        split: ``development`` or ``holdout``.
        deck_version: only samples that came with this version of the system prompt, of those that
            are not named.
        prompt_edit_id: only responses that were generated for this edit of the system prompt.
        labelled: drawn held-out samples that people rated, on which a judge is measured: with the
            current system prompt, or that of ``deck_version``.
        repeat: judge again what these versions have judged, beside the first results; twenty
            samples unless some are given, or ``labelled``. What was judged is not paid again
            without it.
        cap_nano_usd: the most that it may cost, in billionths of a US dollar; what the estimate
            says it costs at most unless given.
        idempotency_key: 1 to 200 visible ASCII characters; the same key and arguments again
            return the first run. A fresh one is made where none is given.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: a grader or sample is none of the deck's, or may not be used so; or
            the key came before with other arguments.
        ConflictError: there is no grader, or no sample, to judge; a version is at work in another
            run; or the organisation has 20 runs under way.
    """
    return call(
        "POST",
        "decks",
        deck_id,
        "runs",
        read=_run,
        body=_requested(
            grader_ids,
            sample_ids,
            split,
            deck_version,
            prompt_edit_id,
            labelled,
            repeat,
            cap_nano_usd,
        ),
        idempotency_key=checked_key(idempotency_key, longest=LONGEST_KEY),
        **options,
    )


def get_run(deck_id: str, run_id: str, **options: Unpack[CallOptions]) -> Call[deck_runs.DeckRun]:
    """Read a run: what has become of its judgements, and what it has cost.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such run of it.
    """
    return call("GET", "decks", deck_id, "runs", run_id, read=_run, **options)


def list_runs(
    deck_id: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[deck_runs.DeckRun]:
    """Walk through the runs of a deck, newest first.

    Args:
        page_size: runs fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck in this organisation.
    """
    return listing("decks", deck_id, "runs", read=_runs, page_size=page_size, **options)


def cancel_run(
    deck_id: str, run_id: str, **options: Unpack[CallOptions]
) -> Call[deck_runs.DeckRun]:
    """Have a run begin nothing more, and cancel what waits; one that has ended stays as it is.

    What is being asked may be paid, and its results are stored; it is ``canceled`` after that.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such run of it.
    """
    return call("POST", "decks", deck_id, "runs", run_id, "cancel", read=_run, **options)


def wait_for_run(
    deck_id: str,
    run_id: str,
    *,
    timeout: float | None = None,
    on_progress: Callable[[deck_runs.DeckRun], None] | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[deck_runs.DeckRun]:
    """Wait until a run has ended: completed, stopped, canceled or failed.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.
        on_progress: gets the run each time that it was read.

    Raises:
        WaitTimeoutError: it was still running after ``timeout``.
        NotFoundError: there is no such deck in this organisation, or no such run of it.
    """

    def ask(session: Session) -> Course[deck_runs.DeckRun]:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        gap = _FIRST_LOOK_AFTER_SECONDS
        while True:
            run = yield from session.course(get_run(deck_id, run_id, extra_headers=extra_headers))
            if on_progress is not None:
                on_progress(run)
            if run.status != "running":
                return run
            left = deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeoutError(f"{run_id} was still running after {timeout:g} s")
            yield Pause(min(gap, left))
            gap = min(gap * GAP_GROWTH, _LONGEST_GAP_SECONDS)

    return ask


def list_results(
    deck_id: str,
    grader_id: str,
    *,
    version: int | None = None,
    status: deck_results.DeckResultStatus | None = None,
    score: int | None = None,
    repeated: Literal[True] | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[deck_results.DeckResult]:
    """Walk through what a grader's judge said, those of the newest samples first.

    Results on held-out samples are left out of a version that has no look at their labels: reading
    its agreement spends one.

    Args:
        version: of the grader; the current one unless given.
        score: the level, from -3 to 3.
        repeated: only judgements that were made again.
        page_size: results fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
    """
    return listing(
        "decks",
        deck_id,
        "graders",
        grader_id,
        "results",
        read=_results,
        page_size=page_size,
        query={
            "version": None if version is None else str(version),
            "status": status,
            "score": None if score is None else str(score),
            "repeated": "true" if repeated else None,
        },
        **options,
    )


def list_sample_results(
    deck_id: str, sample_id: str, **options: Unpack[CallOptions]
) -> Call[Sequence[deck_results.DeckResult]]:
    """Return what judges said of a sample, by grader and version: at most two hundred results.

    Of a sample that is held out, those of versions that have a look at the labels.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such sample of it.
    """
    path = ("decks", deck_id, "samples", sample_id, "results")
    return call("GET", *path, read=_of_sample, **options)


def _requested(
    grader_ids: Sequence[str] | None,
    sample_ids: Sequence[str] | None,
    split: Split | None,
    deck_version: int | None,
    prompt_edit_id: str | None,
    labelled: bool | None,
    repeat: bool | None,
    cap_nano_usd: int | None,
) -> deck_runs.StartDeckRunRequest:
    given: Mapping[str, Any] = {
        "grader_ids": None if grader_ids is None else list(grader_ids),
        "sample_ids": None if sample_ids is None else list(sample_ids),
        "split": split,
        "deck_version": deck_version,
        "prompt_edit_id": prompt_edit_id,
        "labelled": labelled,
        "repeat": repeat,
        "cap_nano_usd": cap_nano_usd,
    }
    return request_of(deck_runs.StartDeckRunRequest, **given)


class DeckRunMethods:
    """Methods of a deck's runs and results."""

    _place: ClassVar = "decks.runs"

    estimate = Method(estimate_run)
    start = Method(start_run)
    get = Method(get_run)
    list = ListMethod(list_runs)
    cancel = Method(cancel_run)
    wait_for = Method(wait_for_run)
    list_results = ListMethod(list_results)
    list_sample_results = Method(list_sample_results)


class DeckRuns(DeckRunMethods, Resource):
    """Runs of decks, blocking."""


class AsyncDeckRuns(DeckRunMethods, AsyncResource):
    """Runs of decks, for an event loop."""
