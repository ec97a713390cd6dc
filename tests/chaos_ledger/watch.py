"""What must hold at every moment: looked at in raw tables while a round is under way."""

from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any

from autotune_platform.budgets.scopes import kind_of, settled_names
from autotune_platform.storage.item_format import Item, item_from_wire
from tests.chaos_ledger.counts import check_counts
from tests.chaos_ledger.load import Load
from tests.chaos_ledger.storm import Storm

STATUSES = frozenset(["queued", "submitted", "completed", "error", "canceled"])
ENDED = STATUSES - {"queued", "submitted"}
_EVERY_SECONDS = 1800
_BUSY_SECONDS = 5 * 3600
# A lease is longer, and clocks differ by less than the rest.
_LEASED = 900


class Tables:
    """Full scans of what is stored."""

    def __init__(self, storm: Storm) -> None:
        self.ledger = [item_from_wire(one) for one in storm.store.items("ledger")]
        self.budgets = [item_from_wire(one) for one in storm.store.items("budgets")]
        self.today = datetime.fromtimestamp(storm.fake.world.clock.now(), UTC).date()
        states = [one for one in self.ledger if one["sk"] == "state"]
        self.rows: dict[str, Item] = {
            one["pk"]: one for one in states if one["pk"].startswith("llm_")
        }
        self.batches: dict[str, Item] = {
            one["pk"]: one for one in states if one["pk"].startswith("lbt_")
        }

    def of(self, kind: str) -> list[Item]:
        return [one for one in self.ledger if one["pk"].startswith(kind)]

    def money(self) -> tuple[dict[tuple[str, str], Item], dict[str, Item]]:
        """Return what each period has used, by organisation and period, and the limits."""
        own = {one["pk"]: one for one in self.budgets if one["pk"].startswith("money#")}
        used: dict[tuple[str, str], Item] = defaultdict(dict)
        for pk, item in own.items():
            for attribute, value in item.items():
                kind, _, name = attribute.partition("#")
                # Others are as they were when the last of it was settled.
                if kind in ("committed", "spent") and settled_names([name], self.today):
                    used[pk, name][kind] = value
        return used, own


class Watch:
    """Counts what was checked, and keeps what was violated, by invariant."""

    def __init__(self, storm: Storm, load: Load) -> None:
        self._storm, self._load = storm, load
        self.checked: Counter[str] = Counter()
        self.violations: dict[str, list[str]] = defaultdict(list)
        self._ended: dict[str, tuple[Any, ...]] = {}
        self._creating: dict[str, dict[str, float]] = {}
        self.ends: Counter[str] = Counter()
        storm.every(_EVERY_SECONDS, self._look)
        storm.written = self._note

    def check(self, invariant: str, holds: bool, what: str) -> None:
        self.checked[invariant] += 1
        if not holds:
            self.violations[invariant].append(f"at {self._storm.now:.0f} s: {what}")

    def _note(self, key: str, before: Item, after: Item) -> None:
        """See each write of a row as it comes: an end is written once, and stays."""
        if after.get("sk") != "state":
            return
        if key.startswith("lbt_"):
            self._see_creation(key, after)
        if not key.startswith("llm_"):
            return
        was, now = before.get("status"), after.get("status")
        if now in ENDED and was not in ENDED:
            self.ends[key] += 1
        if was in ENDED:
            names = ("status", "cost_nano_usd", "attempt", "batch_id", "updated_at")
            alike = all(before.get(name) == after.get(name) for name in names)
            self.check("each row ends once", alike, f"{key} was {was} and became {now}")

    def _see_creation(self, key: str, after: Item) -> None:
        """See whether a job is asked for while another is, which only a lease keeps from it."""
        asked = self._creating.setdefault(after["connection_id"], {})
        begun = (after.get("job") or {}).get("begun_at")
        if begun is None or after["phase"] != "creating":
            asked.pop(key, None)
            return
        if key in asked:
            return
        asked[key] = self._storm.now
        others = [one for one, at in asked.items() if self._storm.now - at < _LEASED and one != key]
        text = f"{key} and {others} of {after['provider']}"
        self.check("one creation of a connection at a time", not others, text)

    def _look(self) -> None:
        """Scan everything, less often once most of it is over."""
        if self._storm.now < _BUSY_SECONDS or self._storm.now % 14_400 < _EVERY_SECONDS:
            self.look()

    def look(self) -> Tables:
        """Scan everything once."""
        tables = Tables(self._storm)
        sent = [row for row in tables.rows.values() if "reask_of" not in row]
        counts = Counter(row["status"] for row in sent)
        lost = [one for one in self._load.ids if one not in tables.rows]
        name = "enqueued is the sum over statuses"
        self.check(name, not lost, f"{len(lost)} accepted rows are gone, such as {lost[:1]}")
        known = sum(counts[one] for one in STATUSES)
        most, least = len(self._load.sent), len(self._load.ids)
        fits = known == len(sent) and least <= known <= most
        self.check(name, fits, f"{least} accepted, {most} sent, {dict(counts)}")
        self._money(tables)
        self._jobs(tables)
        check_counts(tables.ledger, tables.rows, tables.batches, self.check)
        return tables

    def _money(self, tables: Tables) -> None:
        used, limits = tables.money()
        set_aside: Counter[tuple[str, str]] = Counter()
        for batch in tables.batches.values():
            if batch["phase"] != "settled":
                for period in batch.get("periods", ()):
                    set_aside[f"money#{batch['organization_id']}", period] += batch[
                        "reserved_nano_usd"
                    ]
        for key, item in used.items():
            spent = item.get("spent", 0)
            reserved = item["committed"] - spent
            limit = limits[key[0]].get(kind_of(key[1]))
            fits = limit is None or spent + reserved <= limit
            text = f"{key}: {spent} + {reserved} of {limit}"
            self.check("spent and reserved stay within the budget", fits, text)
            name = "what is reserved is what open batches have set aside"
            self.check(name, reserved == set_aside[key], f"{text}, batches have {set_aside[key]}")

    def _jobs(self, tables: Tables) -> None:
        live: dict[str, str] = {}
        for batch in self._storm.fake.world.batches.values():
            if batch.over:
                continue
            for row in batch.rows:
                row_id = row.custom_id.partition("x")[0]
                other = live.setdefault(row_id, batch.id)
                text = f"{row_id} is in {other} and {batch.id}"
                self.check("no row is in two live batches", other == batch.id, text)
