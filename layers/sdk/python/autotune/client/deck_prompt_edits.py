"""``client.decks.prompt_edits``: other system prompts, and what they do to responses."""

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from autotune.client.arguments import NotGiven, fields_of, not_given, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.deck_edit_proposals import waiting
from autotune.client.exchange import Plan
from autotune.protocol import deck_prompt_edits as wire
from autotune.protocol.deck_samples import Split

_edit = returning(wire.PromptEditResponse, lambda answer: answer.edit)
_estimate = returning(wire.PromptEditEstimateResponse, lambda answer: answer.estimate)
_edits = returning(wire.PromptEditList, lambda page: (page.edits, page.next_token))


def propose_prompt(
    deck_id: str,
    *,
    system_prompt: str,
    generator: wire.PromptGenerator | Mapping[str, Any],
    groups: int | None = None,
    split: Split | NotGiven | None = not_given,
    labels: int | None = None,
    base_version: int | None = None,
    note: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.PromptEdit]:
    """Propose a system prompt in place of a deck's current one; nothing is asked yet.

    Args:
        generator: the model that answers under both prompts: ``{"connectionId": "llc_…", "model":
            "…", "params": {"maxTokens": 500}}``.
        groups: how many groups of samples are drawn by chance; all of them unless given.
        split: ``holdout`` unless given, which alone can show an effect; None for both halves.
        labels: at how many labels of each version it is measured first, then at twice as many, and
            so on; 50 unless given. It is fixed now, because labels can be read while they come.
        base_version: the version that it is to replace, which has to be the current one still.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: the prompt is the current one, has other placeholders, or eight words
            in a row of a held-out sample.
        ConflictError: another version is the current one.
    """
    request = request_of(
        wire.CreatePromptEditRequest,
        system_prompt=system_prompt,
        generator=fields_of(generator),
        groups=groups,
        labels=labels,
        base_version=base_version,
        note=note,
    )
    if not isinstance(split, NotGiven):
        request = request.model_copy(update={"split": split})
    return call("POST", "decks", deck_id, "prompt-edits", read=_edit, body=request, **options)


def get_prompt_edit(
    deck_id: str, edit_id: str, **options: Unpack[CallOptions]
) -> Call[wire.PromptEdit]:
    """Read an edit of a system prompt, with what was measured last; it spends nothing.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
    """
    return call("GET", "decks", deck_id, "prompt-edits", edit_id, read=_edit, **options)


def list_prompt_edits(
    deck_id: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.PromptEdit]:
    """Walk through a deck's edits of its system prompt, newest first.

    Args:
        page_size: edits fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck in this organisation.
    """
    return listing("decks", deck_id, "prompt-edits", read=_edits, page_size=page_size, **options)


def estimate_prompt_edit(
    deck_id: str, edit_id: str, **options: Unpack[CallOptions]
) -> Call[wire.PromptEditEstimate]:
    """Read what the responses would cost, in billionths of a US dollar; nothing is asked.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
        InvalidRequestError: the model cannot be asked.
        ConflictError: the edit is decided, or no input can be answered.
    """
    path = ("decks", deck_id, "prompt-edits", edit_id, "estimate")
    return call("POST", *path, read=_estimate, **options)


def generate_responses(
    deck_id: str,
    edit_id: str,
    *,
    cap_nano_usd: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.PromptEdit]:
    """Have the inputs answered under both prompts; return before they are.

    ``client.decks.runs`` follows and cancels the run that the edit names. What is there already is
    not paid again.

    Args:
        cap_nano_usd: the most that it may cost; what it costs at most unless given.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
        ConflictError: the edit is decided, or no input can be answered.
    """
    request = request_of(wire.GenerateResponsesRequest, cap_nano_usd=cap_nano_usd)
    path = ("decks", deck_id, "prompt-edits", edit_id, "generate")
    return call("POST", *path, read=_edit, body=request, **options)


def wait_for_prompt_edit(
    deck_id: str,
    edit_id: str,
    *,
    timeout: float | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[wire.PromptEdit]:
    """Wait until an edit's responses are not being generated any more.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.

    Raises:
        WaitTimeoutError: they still were after ``timeout``.
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
    """
    read = get_prompt_edit(deck_id, edit_id, extra_headers=extra_headers)
    said = f"responses of {edit_id} were still being generated"
    return waiting(read, lambda one: one.status != "generating", said, timeout)


def measure_prompt_edit(
    deck_id: str, edit_id: str, **options: Unpack[CallOptions]
) -> Call[wire.PromptEdit]:
    """Compare the responses under both prompts by each active grader; each time spends a look.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
        ConflictError: its responses are not there, or it is decided.
    """
    path = ("decks", deck_id, "prompt-edits", edit_id, "measure")
    return call("POST", *path, read=_edit, **options)


def accept_prompt_edit(
    deck_id: str,
    edit_id: str,
    *,
    consent: bool | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.PromptEdit]:
    """Make the edited prompt the deck's current one.

    Args:
        consent: although no grader shows that responses are better, one that they are worse, or
            responses are missing.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
        ConflictError: it needs consent, or another version is the current one.
    """
    request = request_of(wire.AcceptPromptEditRequest, consent=consent)
    path = ("decks", deck_id, "prompt-edits", edit_id, "accept")
    return call("POST", *path, read=_edit, body=request, **options)


def reject_prompt_edit(
    deck_id: str,
    edit_id: str,
    *,
    reason: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.PromptEdit]:
    """Reject an edit that is not accepted; its responses stay as samples of its version.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
        ConflictError: it is accepted or taken back.
    """
    request = request_of(wire.DecidePromptEditRequest, reason=reason)
    path = ("decks", deck_id, "prompt-edits", edit_id, "reject")
    return call("POST", *path, read=_edit, body=request, **options)


def roll_back_prompt_edit(
    deck_id: str,
    edit_id: str,
    *,
    reason: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.PromptEdit]:
    """Make the prompt from before an accepted edit the current one again.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such edit of it.
        ConflictError: it is not accepted, or another version is the current one by now.
    """
    request = request_of(wire.DecidePromptEditRequest, reason=reason)
    path = ("decks", deck_id, "prompt-edits", edit_id, "rollback")
    return call("POST", *path, read=_edit, body=request, **options)


class PromptEditMethods:
    """Methods of edits of system prompts."""

    _place: ClassVar = "decks.prompt_edits"

    propose = Method(propose_prompt)
    get = Method(get_prompt_edit)
    list = ListMethod(list_prompt_edits)
    estimate = Method(estimate_prompt_edit)
    generate = Method(generate_responses)
    wait_for = Method(wait_for_prompt_edit)
    measure = Method(measure_prompt_edit)
    accept = Method(accept_prompt_edit)
    reject = Method(reject_prompt_edit)
    rollback = Method(roll_back_prompt_edit)


class PromptEdits(PromptEditMethods, Resource):
    """Edits of system prompts, blocking."""


class AsyncPromptEdits(PromptEditMethods, AsyncResource):
    """Edits of system prompts, for an event loop."""
