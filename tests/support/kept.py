"""Everything that a platform stores: items of tables and objects of buckets, by their keys."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends

from autotune_platform.storage.data_holders import Holding
from tests.support.tables import items_of_tables
from tools.data_holders import holders

# The names of models' fields, and names that go on with something that is counted or listed.
_ATTRIBUTE = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*(#.+)?")
# No pattern of keys tells one id from another, and most keys differ in theirs alone.
_ID = re.compile("(?<=_)[0-9a-v]{26}")
_ANY_ID = 26 * "0"


class Kept(NamedTuple):
    """Something that is stored; the item as it is on the wire, None for an object."""

    place: str
    key: str
    item: dict[str, Any] | None

    @property
    def holdings(self) -> list[Holding]:
        """The kinds of data, of any domain, that it is of."""
        return _of_shape(self.place, _ID.sub(_ANY_ID, self.key))

    @property
    def is_as_described(self) -> bool:
        """Whether one domain says that it keeps this, and whether it goes by itself."""
        holdings = self.holdings
        if len(holdings) != 1:
            return False
        (holding,) = holdings
        if self.item is None:
            return True
        expiry = self.item.get("expires_at")
        # The time to live passes over texts: a review's own time is one.
        if expiry is not None and "N" in expiry:
            return bool(holding.days or holding.kept)
        return holding.days is None

    @property
    def misnamed(self) -> list[str]:
        """The item's attributes that are not named in snake_case."""
        return [name for name in self.item or () if not _ATTRIBUTE.fullmatch(name)]


def kept() -> Iterator[Kept]:
    """Yield everything that is stored now."""
    for name, items in items_of_tables().items():
        for item in items:
            yield Kept(f"table {name}", f"{item['pk']['S']} / {item['sk']['S']}", item)
    # Asked of what holds them: the same over the wire takes longer than many a test.
    for name, bucket in s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets.items():
        for key in sorted(bucket.keys):
            yield Kept(f"bucket {name}", key, None)


@lru_cache(10_000)
def _of_shape(place: str, key: str) -> list[Holding]:
    return [one for one in _holdings()[place] if one.includes(place, key)]


@cache
def _holdings() -> dict[str, list[Holding]]:
    by_place: defaultdict[str, list[Holding]] = defaultdict(list)
    for holder in holders().values():
        for holding in holder.holds:
            by_place[holding.place].append(holding)
    return by_place
