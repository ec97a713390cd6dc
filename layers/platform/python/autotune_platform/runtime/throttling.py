"""Naming throttling by AWS alike, whatever service and call it came from."""

from collections.abc import Iterator
from contextlib import contextmanager

from autotune_platform.runtime.clients import REFUSALS, is_throttled
from autotune_platform.runtime.errors import UnavailableError


@contextmanager
def throttling_is_named() -> Iterator[None]:
    """Raise what AWS was too busy for as ``UnavailableError``, which state machines outlast.

    A service's own errors have many names, most of them ``ClientError``, which says nothing.

    Raises:
        UnavailableError: a call was throttled.
    """
    try:
        yield
    except REFUSALS as error:
        if is_throttled(error):
            raise UnavailableError("AWS is busy", retry_after_seconds=1) from error
        raise
