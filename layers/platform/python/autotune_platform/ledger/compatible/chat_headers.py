"""What programs say of a chat completion in headers of ours, beside OpenAI's JSON."""

import re
from collections.abc import Mapping
from typing import Final

from pydantic import TypeAdapter, ValidationError

from autotune.protocol.ids import ID_BODY
from autotune.protocol.limits import MAX_LLM_LABELS
from autotune.protocol.llm_requests import Labels
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.errors import MalformedRequestError
from autotune_platform.runtime.frozen_model import DEFERRED

DECK_HEADER: Final = "x-autotune-deck"
LABELS_HEADER: Final = "x-autotune-labels"

_DECK = re.compile(rf"dck_{ID_BODY}")
_MOST_VALUES = 4 * MAX_LLM_LABELS
_LABELS: TypeAdapter[dict[str, str]] = TypeAdapter(Labels, config=DEFERRED)


def deck_named_in(headers: Mapping[str, str]) -> str | None:
    """Return the deck whose prompt a call has; None where none is named.

    Raises:
        MalformedRequestError: it is no deck's id.
    """
    said = headers.get(DECK_HEADER)
    if said is not None and not _DECK.fullmatch(said):
        raise MalformedRequestError.of_field("X-Autotune-Deck", "the id of a deck, dck_…")
    return said


def labels_named_in(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels of a call, by which rows of the ledger are found.

    Raises:
        MalformedRequestError: they are no JSON object of texts, or too many or too long ones.
    """
    said = headers.get(LABELS_HEADER)
    if said is None:
        return {}
    try:
        return _LABELS.validate_python(parse_strictly(said.encode(), most_values=_MOST_VALUES))
    except (ValidationError, ValueError) as error:
        raise MalformedRequestError.of_field(
            "X-Autotune-Labels", f"a JSON object of up to {MAX_LLM_LABELS} short texts by name"
        ) from error
