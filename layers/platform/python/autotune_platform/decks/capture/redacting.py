"""Taking out of captured calls what their organisation's patterns find, in linear time (RE2)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from autotune_platform.checks.patterns import check_pattern, compiled
from autotune_platform.runtime.errors import InvalidRequestError

REDACTED: Final = "[redacted]"
"""What stands in place of what a pattern found."""


def require_patterns(patterns: Sequence[str]) -> None:
    """Require patterns that RE2 runs, and that find no empty text.

    Raises:
        InvalidRequestError: one is none; it is named.
    """
    for place, pattern in enumerate(patterns):
        field = f"redactions[{place}]"
        check_pattern(pattern, field=field, with_groups=False)
        if compiled(pattern, with_groups=False).search("") is not None:
            raise InvalidRequestError.of_field(
                field, "a pattern that finds a character at least, and not the empty text"
            )


def redacted(value: Any, patterns: Sequence[str]) -> Any:
    """Return JSON whose texts, names of members included, are without what patterns find."""
    if isinstance(value, str):
        for pattern in patterns:
            value = compiled(pattern, with_groups=False).sub(REDACTED, value)
        return value
    if isinstance(value, Mapping):
        return {
            redacted(name, patterns): redacted(inner, patterns) for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(inner, patterns) for inner in value]
    return value
