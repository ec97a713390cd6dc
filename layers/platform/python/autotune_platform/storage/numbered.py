"""Pages of items whose sort keys end in a number, newest first, such as versions of something."""

from collections.abc import Callable

from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.table import Item, Table

_MOST_DIGITS = 20


def numbered_page(
    table: Table,
    pk: str,
    prefix: str,
    key_of: Callable[[int], str],
    *,
    limit: int,
    next_token: str | None,
    where: Filter | None = None,
) -> tuple[list[Item], str | None]:
    """Return a page of items, newest first, and the token of the next page.

    A page is what one query reads: it holds a megabyte at most, however many are asked for.

    Args:
        prefix: what the sort keys start with, in front of the number.
        key_of: returns the whole sort key of a number.
        where: which of these items are wanted; the others are read, and not returned.

    Raises:
        InvalidRequestError: ``next_token`` is not from this list.
    """
    after = None
    if next_token is not None:
        (last,) = decode_cursor(next_token, parts=1)
        is_number = last.isascii() and last.isdecimal() and len(last) <= _MOST_DIGITS
        if not is_number or key_of(int(last)) != prefix + last:
            raise invalid_cursor()
        after = {"pk": pk, "sk": prefix + last}
    page = table.query(
        pk,
        starting=prefix,
        newest_first=True,
        limit=None if where else limit,  # the table counts what it reads, wanted or not
        after=after,
        where=where,
    )
    shown = page.items[:limit]
    last_sk = page.last_key["sk"] if page.last_key else None
    if len(page.items) > limit:
        last_sk = shown[-1]["sk"]
    return list(shown), encode_cursor(last_sk.removeprefix(prefix)) if last_sk else None
