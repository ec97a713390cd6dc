"""Many batches from one that the product scored: the same items, with other ids, at other times.

A hundred thousand completions take an hour through the whole stack. What the product stored of one
batch is read from its table and written as often as is asked for, each time under ids that follow
from a number and some time earlier; what it counted of that batch over time is added up.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from autotune.protocol.ids import ID_BODY, derived_id
from autotune_platform.completions.batch_index import listing_of
from autotune_platform.completions.models import Batch
from autotune_platform.completions.stored_batches import batch_from
from autotune_platform.storage.item_format import item_from_wire
from autotune_platform.storage.table import Item, Table
from autotune_platform.verdicts.models import completion_id_of
from autotune_platform.verdicts.score_index import index_key
from autotune_platform.verdicts.stored_verdicts import VERDICT_PREFIX, verdict_from
from autotune_platform.windows.grains import OF_ORGANIZATION

APART = timedelta(minutes=40)
"""Between one batch and the next: a thousand are spread over four weeks."""

_LANES = 16
_GRAINS = {grain.name: grain for grain in OF_ORGANIZATION}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|\+00:00)")
_WINDOW = re.compile(r"window#(?P<grain>[a-z]+)#(?P<whose>.+)")
_ID = re.compile(rf"(?:bat|cmp|run)_{ID_BODY}")


@dataclass(frozen=True)
class ScoredBatch:
    """What a table holds of one batch, all of whose verdicts are counted.

    Attributes:
        batch: the batch itself.
        items: of it, its completions, their verdicts and its runs.
        windows: what was counted of it by time.
    """

    batch: Batch
    items: Sequence[Item]
    windows: Sequence[Item]

    @classmethod
    def among(cls, items: Iterable[Item], batch_id: str) -> "ScoredBatch":
        """Return what a table's items hold of a batch, the only one of its organisation."""
        every = list(items)
        (stored,) = [one for one in every if (one["pk"], one["sk"]) == (batch_id, "batch")]
        batch = batch_from(batch_id, stored)
        own = {batch_id, *batch.completion_ids}
        runs = {one["run_id"] for one in every if one["pk"] in own and "run_id" in one}
        windows = [one for one in every if _is_window_of(one, batch.organization_id)]
        return cls(batch, [one for one in every if one["pk"] in own | runs], windows)

    def copy(self, number: int) -> list[Item]:
        """Return what the product would hold of such a batch, so many times ``APART`` earlier."""
        batch_id = derived_id("bat", self.batch.id, str(number))
        names = {self.batch.id: batch_id}
        for index, completion_id in enumerate(self.batch.completion_ids):
            names[completion_id] = completion_id_of(batch_id, index)
        for item in self.items:
            if item["sk"] == "run":
                names[item["pk"]] = derived_id("run", batch_id, item["pk"])
        return [_filed(_renamed(item, names, number * APART)) for item in self.items]

    def counted(self, numbers: Iterable[int]) -> list[Item]:
        """Return the counts of those copies and of the batch itself, over all lanes."""
        sums: dict[tuple[str, str], Item] = {}
        for number in [0, *numbers]:
            for item in self.windows:
                added = _counted_at(item, self.batch.created_at - number * APART, number % _LANES)
                before = sums.setdefault((added["pk"], added["sk"]), added)
                if before is not added:
                    before.update(Counter(_counts(before)) + Counter(_counts(added)))
        return list(sums.values())


def store(table: Table, scored: ScoredBatch, numbers: range) -> None:
    """Write copies, and the counts of all copies up to the last of them."""
    table.put_many(item for number in numbers for item in scored.copy(number))
    # Those in the lanes of the batch itself are of the batch alone: they are counted anew.
    for item in scored.windows:
        table.delete(item["pk"], item["sk"])
    table.put_many(scored.counted(range(1, numbers.stop)))


def _is_window_of(item: Item, organization_id: str) -> bool:
    found = _WINDOW.fullmatch(item["pk"])
    return found is not None and found["whose"].startswith(organization_id)


def _renamed(value: Any, names: dict[str, str], earlier: timedelta) -> Any:
    """Return what an item holds with other ids, and with moments so much earlier."""
    if isinstance(value, str):
        return _MOMENT.sub(lambda found: _earlier(found[0], earlier), _with(value, names))
    if isinstance(value, list):
        return [_renamed(one, names, earlier) for one in value]
    if isinstance(value, dict):
        return {name: _renamed(one, names, earlier) for name, one in value.items()}
    return value


def _with(text: str, names: dict[str, str]) -> str:
    if "_" not in text:
        return text
    return _ID.sub(lambda found: names.get(found[0], found[0]), text)


def _earlier(text: str, by: timedelta) -> str:
    moment = datetime.fromisoformat(text) - by
    fraction = text.partition(".")[2].rstrip("Z").partition("+")[0]
    spec = "microseconds" if len(fraction) > 3 else "milliseconds" if fraction else "seconds"
    written = moment.isoformat(timespec=spec)
    return written.replace("+00:00", "Z") if text.endswith("Z") else written


def _filed(item: Item) -> Item:
    """Return an item in the partitions of indexes that its new ids belong to."""
    if item["sk"] == "batch":
        return {**item, **listing_of(batch_from(item["pk"], item))}
    if item["sk"].startswith(VERDICT_PREFIX):
        return {**item, **index_key(verdict_from(item))}
    return item


def _counted_at(item: Item, moment: datetime, lane: int) -> Item:
    found = _WINDOW.fullmatch(item["pk"])
    assert found is not None, item["pk"]
    grain = _GRAINS[found["grain"]]
    start = grain.bucket(moment)
    _, place, _ = item["sk"].split("#")
    key = f"{start.isoformat(timespec='minutes')}#{place}#{lane}"
    return {**item, "sk": key, "expires_at": int((start + grain.kept).timestamp())}


def _counts(item: Item) -> dict[str, int]:
    return {
        name: value
        for name, value in item.items()
        if isinstance(value, int) and name != "expires_at"
    }


def items_of(client: Any, table_name: str) -> Iterator[Item]:
    """Read a whole table: of a benchmark's own stack, and while there is little in it."""
    for page in client.get_paginator("scan").paginate(TableName=table_name, ConsistentRead=True):
        yield from map(item_from_wire, page["Items"])
