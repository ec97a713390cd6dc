"""``client.decks.capture``: which chat completions become samples of decks."""

from collections.abc import Sequence
from typing import ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, Method, Resource
from autotune.client.calls import Call, CallOptions, call, returning
from autotune.protocol import deck_capture as wire

_capture = returning(wire.DeckCaptureResponse, lambda answer: answer.capture)


def get_capture(**options: Unpack[CallOptions]) -> Call[wire.DeckCapture]:
    """Read which chat completions are captured; none are at first."""
    return call("GET", "deck-capture", read=_capture, **options)


def set_capture(
    *,
    enabled: bool,
    sampling_rate: float | None = None,
    retention_days: int | None = None,
    redactions: Sequence[str] | None = None,
    metadata_names: Sequence[str] | None = None,
    group_by: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckCapture]:
    """Set all of it: what is left out is as at first. It holds for calls a minute later.

    Args:
        sampling_rate: share of the calls, 0 to 1; all of them unless given.
        retention_days: when samples go that were captured; unless given, once they are deleted.
        redactions: up to 20 regular expressions of RE2. What they find is ``[redacted]``.
        metadata_names: up to 16 names of labels and metadata that samples keep.
        group_by: one of these names: calls with the same value are in one half of their deck.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: a pattern is none of RE2, too large, or finds the empty text; or
            ``group_by`` is none of ``metadata_names``.
    """
    request = request_of(
        wire.SetDeckCaptureRequest,
        enabled=enabled,
        sampling_rate=sampling_rate,
        retention_days=retention_days,
        redactions=redactions,
        metadata_names=metadata_names,
        group_by=group_by,
    )
    return call("PUT", "deck-capture", read=_capture, body=request, **options)


class DeckCaptureMethods:
    """Methods of capture."""

    _place: ClassVar = "decks.capture"

    get = Method(get_capture)
    set = Method(set_capture)


class DeckCaptures(DeckCaptureMethods, Resource):
    """Capture, blocking."""


class AsyncDeckCaptures(DeckCaptureMethods, AsyncResource):
    """Capture, for an event loop."""
