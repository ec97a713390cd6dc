"""``client.decks.edits``: changes of rubrics, what they change, and what becomes of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Unpack

from autotune.client.arguments import fields_of, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.deck_edit_proposals import (
    cancel_proposal,
    estimate_edit_proposal,
    get_proposal,
    propose_edits_by_model,
    wait_for_proposal,
    waiting,
)
from autotune.client.exchange import Plan
from autotune.protocol import deck_edits as wire
from autotune.protocol.deck_samples import Split

_edit = returning(wire.DeckEditResponse, lambda answer: answer.edit)
_estimate = returning(wire.EditEstimateResponse, lambda answer: answer.estimate)
_edits = returning(wire.DeckEditList, lambda page: (page.edits, page.next_token))


def propose_edit(
    deck_id: str,
    grader_id: str,
    *,
    patch: Sequence[wire.EditChange | Mapping[str, Any]],
    pattern: wire.EditPattern | Mapping[str, Any] | None = None,
    sample_ids: Sequence[str] | None = None,
    base_version: int | None = None,
    note: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckEdit]:
    """Propose an edit of a grader's current version.

    Args:
        patch: up to ten changes such as ``{"field": "criteria", "find": "…", "replace": "…"}``, of
            ``criteria``, ``notApplicableWhen`` or a ``level`` with its number; or ``{"field":
            "examples", "example": {…}}``. What is to be found is in its text exactly once.
        pattern: what it is to mend.
        sample_ids: samples that show it, of the development half.
        base_version: the version that it changes, which has to be the current one still.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
        InvalidRequestError: it does not apply, makes the rubric more than twice as long, or takes
            eight words in a row from a labelled sample.
        ConflictError: another version is the current one.
    """
    request = request_of(
        wire.CreateEditRequest,
        patch=[fields_of(one) for one in patch],
        pattern=fields_of(pattern),
        sample_ids=None if sample_ids is None else list(sample_ids),
        base_version=base_version,
        note=note,
    )
    path = ("decks", deck_id, "graders", grader_id, "edits")
    return call("POST", *path, read=_edit, body=request, **options)


def get_edit(
    deck_id: str, grader_id: str, edit_id: str, **options: Unpack[CallOptions]
) -> Call[wire.DeckEdit]:
    """Read an edit, with what it changes once its replay has ended.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader or edit of it.
    """
    path = ("decks", deck_id, "graders", grader_id, "edits", edit_id)
    return call("GET", *path, read=_edit, **options)


def list_edits(
    deck_id: str, grader_id: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.DeckEdit]:
    """Walk through a grader's edits, newest first.

    Args:
        page_size: edits fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
    """
    path = ("decks", deck_id, "graders", grader_id, "edits")
    return listing(*path, read=_edits, page_size=page_size, **options)


def estimate_edit(
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    split: Split,
    labels_since: datetime | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.EditEstimate]:
    """Read what a replay would cost, in billionths of a US dollar; nothing is asked or spent.

    Args:
        split: ``development`` or ``holdout``, of which it says the look that would be spent.
        labels_since: only labels given later.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such grader or edit of it.
        ConflictError: it cannot be replayed now; the error says why.
    """
    request = request_of(wire.ReplayEditRequest, split=split, labels_since=labels_since)
    path = ("decks", deck_id, "graders", grader_id, "edits", edit_id, "estimate")
    return call("POST", *path, read=_estimate, body=request, **options)


def replay_edit(
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    split: Split,
    cap_nano_usd: int | None = None,
    labels_since: datetime | None = None,
    accept_if_better: bool | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckEdit]:
    """Have labelled samples of one half judged by the edited version; return before they are.

    Args:
        split: ``development`` first; ``holdout`` spends a look at the labels, for good.
        cap_nano_usd: the most that it may cost, in billionths of a US dollar.
        labels_since: only labels given later, of which looks from before do not count.
        accept_if_better: accept it when it is measured, if nothing speaks against it.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such grader or edit of it.
        ConflictError: it cannot be replayed now; the error says why.
    """
    request = request_of(
        wire.ReplayEditRequest,
        split=split,
        cap_nano_usd=cap_nano_usd,
        labels_since=labels_since,
        accept_if_better=accept_if_better,
    )
    path = ("decks", deck_id, "graders", grader_id, "edits", edit_id, "replay")
    return call("POST", *path, read=_edit, body=request, **options)


def wait_for_edit(
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    timeout: float | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[wire.DeckEdit]:
    """Wait until an edit is not being replayed any more.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.

    Raises:
        WaitTimeoutError: it was still being replayed after ``timeout``.
        NotFoundError: there is no such deck in this organisation, or no such grader or edit of it.
    """
    read = get_edit(deck_id, grader_id, edit_id, extra_headers=extra_headers)
    said = f"{edit_id} was still being replayed"
    return waiting(read, lambda one: one.status != "replaying", said, timeout)


def accept_edit(
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    consent: bool | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckEdit]:
    """Make the edited version the current one.

    Args:
        consent: to clearly bad samples that are newly called positive, and to
            levels where the question does not apply.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader or edit of it.
        ConflictError: what was measured does not allow it, or not without consent; or another
            version is the current one.
    """
    request = request_of(wire.AcceptEditRequest, consent=consent)
    path = ("decks", deck_id, "graders", grader_id, "edits", edit_id, "accept")
    return call("POST", *path, read=_edit, body=request, **options)


def reject_edit(
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    reason: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckEdit]:
    """Reject an edit that is not accepted.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader or edit of it.
        ConflictError: it is accepted or taken back.
    """
    request = request_of(wire.DecideEditRequest, reason=reason)
    path = ("decks", deck_id, "graders", grader_id, "edits", edit_id, "reject")
    return call("POST", *path, read=_edit, body=request, **options)


def roll_back_edit(
    deck_id: str,
    grader_id: str,
    edit_id: str,
    *,
    reason: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckEdit]:
    """Make the version from before an accepted edit the current one again.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader or edit of it.
        ConflictError: it is not accepted, or another version is the current one by now.
    """
    request = request_of(wire.DecideEditRequest, reason=reason)
    path = ("decks", deck_id, "graders", grader_id, "edits", edit_id, "rollback")
    return call("POST", *path, read=_edit, body=request, **options)


class DeckEditMethods:
    """Methods of edits of rubrics."""

    _place: ClassVar = "decks.edits"

    propose = Method(propose_edit)
    propose_by_model = Method(propose_edits_by_model)
    estimate_proposal = Method(estimate_edit_proposal)
    get_proposal = Method(get_proposal)
    cancel_proposal = Method(cancel_proposal)
    wait_for_proposal = Method(wait_for_proposal)
    get = Method(get_edit)
    list = ListMethod(list_edits)
    estimate = Method(estimate_edit)
    replay = Method(replay_edit)
    wait_for = Method(wait_for_edit)
    accept = Method(accept_edit)
    reject = Method(reject_edit)
    rollback = Method(roll_back_edit)


class DeckEdits(DeckEditMethods, Resource):
    """Edits of rubrics, blocking."""


class AsyncDeckEdits(DeckEditMethods, AsyncResource):
    """Edits of rubrics, for an event loop."""
