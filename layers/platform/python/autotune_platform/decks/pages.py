"""Pages of what a deck has under keys that sort by age, newest first."""

from typing import TypeVar

from pydantic import BaseModel

from autotune_platform.decks.items import model_from, number
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.table import Table

ModelT = TypeVar("ModelT", bound=BaseModel)


def version_page(
    table: Table,
    deck_id: str,
    prefix: str,
    model: type[ModelT],
    *,
    limit: int,
    next_token: str | None,
    where: Filter | None = None,
) -> tuple[list[ModelT], str | None]:
    """Return a page of versions, newest first, and the token of the next page.

    A page is what one query reads: it holds a megabyte at most, however many are asked for.

    Args:
        prefix: what the sort keys start with, in front of the number.
        where: which of these versions are wanted; the others are read, and not returned.

    Raises:
        InvalidRequestError: ``next_token`` is not from this list.
    """
    after = None
    if next_token is not None:
        (last,) = decode_cursor(next_token, parts=1)
        if not last.isdecimal() or not last.isascii():
            raise invalid_cursor()
        after = {"pk": deck_id, "sk": prefix + number(int(last))}
    page = table.query(
        deck_id,
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
    token = encode_cursor(last_sk.removeprefix(prefix)) if last_sk else None
    return [model_from(item, model) for item in shown], token
