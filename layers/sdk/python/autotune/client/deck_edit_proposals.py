"""Edits that a model proposes, as ``client.decks.edits`` asks for them."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Unpack

from autotune.client.arguments import fields_of, request_of
from autotune.client.calls import Call, CallOptions, call, returning
from autotune.client.errors import WaitTimeoutError
from autotune.client.exchange import Course, Pause, Plan, Session
from autotune.client.waiting import GAP_GROWTH
from autotune.protocol import deck_edit_proposals as proposals
from autotune.protocol.deck_rubrics import DeckJudge

ReadT = TypeVar("ReadT")

_FIRST_LOOK_AFTER_SECONDS, _LONGEST_GAP_SECONDS = 1.0, 30.0

_proposal = returning(proposals.EditProposalResponse, lambda answer: answer.proposal)
_estimate = returning(proposals.EditProposalEstimateResponse, lambda answer: answer.estimate)


def propose_edits_by_model(
    deck_id: str,
    grader_id: str,
    *,
    proposer: DeckJudge | Mapping[str, Any],
    cap_nano_usd: int,
    samples: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[proposals.EditProposal | None]:
    """Have a model propose edits of a grader's current version; return before it has.

    It is shown disagreements of the development half. ``wait_for_proposal`` goes on with it.

    Args:
        proposer: the connection, the model and its parameters.
        cap_nano_usd: the most that it may cost, in billionths of a US dollar.
        samples: how many disagreements it is shown, the widest first; 40 unless given.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
        InvalidRequestError: the model cannot be asked, or not within the cap.
        ConflictError: a proposal is under way, or judge and people differ nowhere.
    """
    request = request_of(
        proposals.ProposeEditsRequest,
        proposer=fields_of(proposer),
        cap_nano_usd=cap_nano_usd,
        samples=samples,
    )
    path = ("decks", deck_id, "graders", grader_id, "edits", "proposals")
    return call("POST", *path, read=_proposal, body=request, **options)


def estimate_edit_proposal(
    deck_id: str,
    grader_id: str,
    *,
    proposer: DeckJudge | Mapping[str, Any],
    samples: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[proposals.EditProposalEstimate]:
    """Read what ``propose_by_model`` would cost, in billionths of a US dollar; nothing is asked.

    Args:
        proposer: the connection, the model and its parameters.
        samples: how many disagreements it would be shown, the widest first; 40 unless given.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
        InvalidRequestError: the model cannot be asked.
        ConflictError: judge and people differ nowhere.
    """
    request = request_of(
        proposals.EstimateEditProposalRequest, proposer=fields_of(proposer), samples=samples
    )
    path = ("decks", deck_id, "graders", grader_id, "edits", "proposals", "estimate")
    return call("POST", *path, read=_estimate, body=request, **options)


def cancel_proposal(
    deck_id: str, grader_id: str, **options: Unpack[CallOptions]
) -> Call[proposals.EditProposal | None]:
    """Have the latest proposal of a grader's edits ask nothing more; None for none.

    What is being asked may be paid. It is ``canceled`` once nothing of it is under way, for which
    ``wait_for_proposal`` waits; patches that were answered by then become edits.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
    """
    path = ("decks", deck_id, "graders", grader_id, "edits", "proposals", "cancel")
    return call("POST", *path, read=_proposal, **options)


def get_proposal(
    deck_id: str, grader_id: str, **options: Unpack[CallOptions]
) -> Call[proposals.EditProposal | None]:
    """Read the latest proposal of a grader's edits, which goes on with it; None for none.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
    """
    path = ("decks", deck_id, "graders", grader_id, "edits", "proposals")
    return call("GET", *path, read=_proposal, **options)


def wait_for_proposal(
    deck_id: str,
    grader_id: str,
    *,
    timeout: float | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[proposals.EditProposal | None]:
    """Wait until the latest proposal of a grader's edits has ended; waiting goes on with it.

    It is None where no model was asked.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.

    Raises:
        WaitTimeoutError: it was still under way after ``timeout``.
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
    """
    read = get_proposal(deck_id, grader_id, extra_headers=extra_headers)
    return waiting(
        read,
        lambda one: one is None or one.status not in {"coding", "merging", "patching"},
        f"the proposal of {grader_id} was still under way",
        timeout,
    )


def waiting(
    read: Call[ReadT], is_over: Callable[[ReadT], bool], said: str, timeout: float | None
) -> Plan[ReadT]:
    """Read something until it is over.

    Raises:
        WaitTimeoutError: it was not after ``timeout``; ``said`` is what is said of it.
    """

    def ask(session: Session) -> Course[ReadT]:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        gap = _FIRST_LOOK_AFTER_SECONDS
        while True:
            found = yield from session.course(read)
            if is_over(found):
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeoutError(f"{said} after {timeout:g} s")
            yield Pause(min(gap, left))
            gap = min(gap * GAP_GROWTH, _LONGEST_GAP_SECONDS)

    return ask
