"""Answers within a code fence, as models give them that are asked for JSON in words alone."""

from typing import Final

_FENCE: Final = "```"
_SPACE: Final = " \t\r\n"


def unfenced(text: str) -> str:
    """Return what stands within the one code fence that is all of a text; any other as it is.

    The fence opens with a line of three backticks, with ``json`` behind them or nothing, and closes
    with a line of three. Around it there may be spaces and empty lines. Whether there is another
    one inside, or what is no JSON, is for whoever reads it as JSON.
    """
    whole = text.strip(_SPACE)
    opening, _, rest = whole.partition("\n")
    named = opening[len(_FENCE) :].strip(_SPACE).lower()
    is_open = opening.startswith(_FENCE) and named in ("", "json")
    return rest[: -len(_FENCE)] if is_open and whole.endswith(f"\n{_FENCE}") else text
