"""What callers of addresses from outside read and write of HTTP in the same way."""

import email.utils
from datetime import UTC

import httpcore

from autotune_platform.runtime.clock import SYSTEM_CLOCK


def text_headers(response: httpcore.Response) -> dict[str, str]:
    """Return the headers of an answer, their names in lower case; the last of a name counts."""
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
    }


def retry_after_seconds(value: str, *, longest: int) -> int:
    """Return the seconds that ``Retry-After`` asks for (RFC 9110, 10.2.3), 0 if none.

    Args:
        value: seconds, or a date.
        longest: the most that is returned.
    """
    if value.isascii() and value.isdigit():
        return min(int(value[:6]), longest)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait = (moment - SYSTEM_CLOCK.now()).total_seconds()
    return int(min(max(wait, 0), longest))
