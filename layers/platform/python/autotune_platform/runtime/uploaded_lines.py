"""Bodies of one JSON document a line: how many lines a request may have."""

from autotune.protocol.problems import LimitProblem
from autotune_platform.runtime.errors import InvalidRequestError, RequestTooLargeError


def require_few_lines(body: bytes, *, most: int, limit: str, line: str) -> None:
    """Require a body to have a line, and not more than it may; lines of spaces alone do not count.

    Args:
        limit: what that limit is called, such as ``bulkSamples``.
        line: what a line is, such as ``a sample``.

    Raises:
        InvalidRequestError: there is none.
        RequestTooLargeError: there are too many.
    """
    count = sum(1 for one in body.split(b"\n") if one.strip())
    if not count:
        raise InvalidRequestError.of_field("body", f"at least one line with {line}")
    if count > most:
        raise RequestTooLargeError(
            f"the body has {count} lines, and {most} is the limit",
            limit=LimitProblem(name=limit, maximum=most, unit="lines", actual=count),
        )
