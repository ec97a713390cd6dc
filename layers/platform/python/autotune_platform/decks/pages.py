"""Pages of what a deck has under keys that sort by age, newest first."""

from typing import TypeVar

from pydantic import BaseModel

from autotune_platform.decks.items import model_from, number
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.numbered import numbered_page
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
    items, token = numbered_page(
        table,
        deck_id,
        prefix,
        lambda place: prefix + number(place),
        limit=limit,
        next_token=next_token,
        where=where,
    )
    return [model_from(item, model) for item in items], token
