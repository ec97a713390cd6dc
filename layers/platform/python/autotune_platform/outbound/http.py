"""What callers of addresses from outside read and write of HTTP in the same way."""

import email.utils
from datetime import UTC
from urllib.parse import urlsplit

import httpcore

from autotune_platform.runtime.clock import SYSTEM_CLOCK


def whole_url(url: str) -> httpcore.URL:
    """Return a URL with all of its path: httpcore drops what follows a semicolon in a text."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return httpcore.URL(
        scheme=parts.scheme, host=parts.hostname or "", port=parts.port, target=target
    )


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
