"""An answer as a program gets it: JSON, or the events of a stream in one piece."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from autotune.protocol.compact_json import compact
from autotune_platform.ledger.compatible.chat_refusals import AnswerTooLargeToPassError
from autotune_platform.ledger.compatible.chunks import as_events

_MOST_ANSWER_BYTES: Final = 5_500_000
"""Lambda answers 6 MB; the JSON of an answer stands in a text of another JSON there."""


@dataclass(frozen=True)
class Passed:
    """What a program is answered.

    Attributes:
        content: JSON, or events of a stream.
        named_by: the header that says as what it is stored.
        stored_as: the id of that.
        is_replayed: whether it was answered before, and nothing was asked.
    """

    content: str
    media_type: str
    named_by: str
    stored_as: str
    is_replayed: bool = False


def passed(
    answer: Mapping[str, Any],
    *,
    is_streamed: bool,
    with_usage: bool,
    named_by: str,
    stored_as: str,
    stored_at: str,
    is_replayed: bool = False,
) -> Passed:
    """Return an answer in the form that is asked for.

    Args:
        named_by: see ``Passed``.
        stored_as: see ``Passed``.
        stored_at: the path below which who may read it finds it.

    Raises:
        AnswerTooLargeToPassError: it is only there.
    """
    if is_streamed:
        content, media_type = as_events(answer, with_usage=with_usage), "text/event-stream"
    else:
        content = compact(answer)
        media_type = "application/json"
    if len(json.dumps(content, ensure_ascii=False).encode()) > _MOST_ANSWER_BYTES:
        raise AnswerTooLargeToPassError(
            f"the answer has over {_MOST_ANSWER_BYTES} bytes; GET {stored_at}/{stored_as} has it"
        )
    return Passed(content, media_type, named_by, stored_as, is_replayed)
