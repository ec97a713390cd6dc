"""What the fake answers: JSON that takes nearly all tokens that it may take."""

import json

_BYTES_OF_A_TOKEN = 4
# Of the mark that the fake puts into each of its answers, and of the JSON around the words.
_TOKENS_LEFT = 32


def answer_of(max_tokens: int, *, intent: str = "card_lost") -> str:
    """Return an answer for so many tokens; the fake counts one for each four bytes."""
    size = (max_tokens - _TOKENS_LEFT) * _BYTES_OF_A_TOKEN
    words = ("word " * (size // 5 + 1))[: size - len(intent)]
    return json.dumps({"intent": intent, "reason": words})
