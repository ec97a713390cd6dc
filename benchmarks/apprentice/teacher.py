"""A paid model that is not there: it answers from labels, has prices, and keeps its own bill."""

import json
import math
from collections.abc import Iterable

from benchmarks.apprentice.streams import Query

MODEL = "paid-1"
PRICES = {MODEL: {"input_usd": "0.40", "output_usd": "1.60"}}
"""In US dollars for a million tokens, as a connection has them."""

_INPUT_NANO_USD, _OUTPUT_NANO_USD = 400, 1_600
"""Of one token: the bill is computed from these, apart from the ledger."""
_CHARACTERS_OF_A_TOKEN = 4
_TOKENS_OF_A_MESSAGE = 4


class Teacher:
    """Answers, and charges for it.

    Attributes:
        bill: in billionths of a US dollar.
        calls: how many it answered.
    """

    def __init__(self, queries: Iterable[Query]) -> None:
        self._taught = {query.text: query.taught for query in queries}
        self.bill = 0
        self.calls = 0

    def answer(self, system: str, user: str, text: str) -> tuple[str, int, int]:
        """Return an answer, and the tokens of question and answer.

        Args:
            text: what the user's prompt asks about.
        """
        said = answer_of(self._taught[text])
        read = tokens_of(system) + tokens_of(user) + 2 * _TOKENS_OF_A_MESSAGE
        wrote = tokens_of(said)
        self.bill += cost_of(read, wrote)
        self.calls += 1
        return said, read, wrote


def answer_of(intent: str) -> str:
    """Return an answer as the paid model writes it."""
    return json.dumps({"intent": intent})


def cost_of(read: int, wrote: int) -> int:
    """Return what the provider charges for a call, in billionths of a US dollar."""
    return read * _INPUT_NANO_USD + wrote * _OUTPUT_NANO_USD


def tokens_of(text: str) -> int:
    """Return how many tokens a text has."""
    return math.ceil(len(text) / _CHARACTERS_OF_A_TOKEN)
