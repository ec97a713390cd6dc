"""Where prompts are stored that no deck has: counted, with the texts of a few of their calls.

Each has a partition of its own, so that calls with one prompt wait for no calls with another. What
an organisation has of them is bounded. When the list is full, one call in sixteen with a further
prompt may take the place of what was seen once, or not for a week. So what comes again gets in, and
a flood of prompts that each come once costs little.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from autotune.protocol.ids import derived_id
from autotune.protocol.limits import MAX_UNMATCHED_EXAMPLES, MAX_UNMATCHED_PROMPTS, UNMATCHED_DAYS
from autotune_platform.decks.expiring import expiring, expiry_key
from autotune_platform.decks.items import COUNTS, item_of, model_from
from autotune_platform.decks.telemetry.examples import EXAMPLE, example_item, exchange_of
from autotune_platform.decks.telemetry.models import Exchange, Receipt, UnmatchedPrompt
from autotune_platform.decks.telemetry.receipts import receipt_item
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.packing import pack, unpack
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import PRESENT, Add, Condition, Delete, Put, Write

EXCERPT_CHARACTERS = 200
PROMPT, TEXT = "prompt", "text"
KEPT = timedelta(days=UNMATCHED_DAYS)
OF_UNMATCHED = "ump_"

_PROMPTS, _PASSED_OVER = "prompts", "passed_over"
_FULL = f"a prompt that a deck has, or one of the {MAX_UNMATCHED_PROMPTS} that are listed"
_NEW = Condition(exists=False)
_ATTEMPTS = 5
_ADMITTED_OF = 16
_SEEN_ONCE_FOR, _UNSEEN_FOR = timedelta(hours=1), timedelta(days=7)


def unmatched_of(organization_id: str) -> str:
    """Return the partition that lists an organisation's unmatched prompts."""
    return f"{organization_id}#unmatched"


class UnmatchedPrompts:
    """Unmatched prompts in the ``decks`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def count(
        self, exchange: Exchange, text: str, digest: str, *, tied: Sequence[str], now: datetime
    ) -> Receipt:
        """Count a call under its prompt, once, and keep its texts as an example now and then.

        Args:
            digest: the hash of the prompt.
            tied: decks that have it equally well.

        Raises:
            UnavailableError: the table is busy; handing the call over again is safe.
        """
        organization_id = exchange.organization_id
        unmatched_id = derived_id("ump", organization_id, digest)
        receipt = Receipt(organization_id=organization_id, unmatched_id=unmatched_id, done=True)
        claim = Put(item=receipt_item(receipt, exchange.source_id, now), condition=_NEW)
        new = UnmatchedPrompt(
            id=unmatched_id,
            organization_id=organization_id,
            prompt_hash=digest,
            excerpt=text[:EXCERPT_CHARACTERS],
            characters=len(text),
            tied=tied,
            first_seen_at=exchange.captured_at,
            last_seen_at=exchange.captured_at,
            keep_until=exchange.expires_at or exchange.captured_at + KEPT,
        )
        for _ in BUSY.attempts(_ATTEMPTS):
            before = self.get(organization_id, unmatched_id)
            if before is not None and before.deck_id is None:
                writes = [claim, *_again(before, new, exchange)]
            else:
                if not self._has_room(new, exchange):
                    return self._pass_over(receipt, exchange, now)
                writes = [claim, *_first(before, new, text, exchange)]
            refused = self._table.transact(writes)
            if 0 in refused or not refused:
                return receipt
        raise UnavailableError("the prompt is busy", retry_after_seconds=1)

    def get(self, organization_id: str, unmatched_id: str) -> UnmatchedPrompt | None:
        """Return an unmatched prompt of an organisation; None where it has none such."""
        item = self._table.get(unmatched_id, PROMPT)
        if item is None or item["organization_id"] != organization_id:
            return None
        return model_from(item, UnmatchedPrompt)

    def list(self, organization_id: str) -> list[UnmatchedPrompt]:
        """Return all unmatched prompts of an organisation, those with most calls first."""
        listed = self._table.items(unmatched_of(organization_id), starting=OF_UNMATCHED)
        items = self._table.get_many((one["sk"], PROMPT) for one in listed).values()
        found = (model_from(item, UnmatchedPrompt) for item in items)
        return sorted((one for one in found if one.is_listed), key=lambda one: (-one.count, one.id))

    def passed_over(self, organization_id: str) -> int:
        """Return how many calls had prompts for which the list had no room."""
        item = self._table.get(unmatched_of(organization_id), COUNTS)
        return 0 if item is None else int(item.get(_PASSED_OVER, 0))

    def text(self, unmatched_id: str) -> str | None:
        """Return the text of a prompt; None where it is gone."""
        item = self._table.get(unmatched_id, TEXT)
        return None if item is None else str(unpack(item["text"]))

    def examples(self, unmatched_id: str, now: datetime) -> Sequence[Exchange]:
        """Return the calls that are kept of a prompt, oldest first, those that expired left out."""
        items = self._table.items(unmatched_id, starting=EXAMPLE)
        found = [exchange_of(item) for item in items]
        return sorted(
            (one for one in found if one.expires_at is None or one.expires_at > now),
            key=lambda one: (one.captured_at, one.source_id),
        )

    def mark(self, prompt: UnmatchedPrompt, after: UnmatchedPrompt) -> bool:
        """Store that a deck is made of a prompt, or that it is dismissed.

        Returns:
            False where that happened in the meantime; then nothing is written.
        """
        changes = {
            name: value
            for name, value in item_of(after, pk="", sk="").items()
            if name in ("deck_id", "dismissed_at", "keep_until")
        }
        unmarked = {"deck_id": prompt.deck_id, "dismissed_at": None}
        return self._table.update(prompt.id, PROMPT, changes, only_if=unmarked) is not None

    def unlist(self, prompt: UnmatchedPrompt) -> None:
        """Take a prompt off the list, and erase its text and examples; again is fine."""
        for item in self._table.items(prompt.id, starting=EXAMPLE, attributes=("pk", "sk")):
            self._table.delete(item["pk"], item["sk"])
        self._table.delete(prompt.id, TEXT)
        self._table.transact(_unlisting(prompt))

    def erase(self, prompt: UnmatchedPrompt) -> bool:
        """Erase a prompt and all that is kept of it, at once.

        Returns:
            False where a call had it in the meantime, or it was erased; then nothing is written.
        """
        stored = item_of(prompt, pk=prompt.id, sk=PROMPT)
        unchanged = Condition(only_if={name: stored[name] for name in ("count", "keep_until")})
        examples = [f"{EXAMPLE}{place}" for place in range(MAX_UNMATCHED_EXAMPLES)]
        gone = [TEXT, expiry_key(prompt.id)[1], *examples]
        return not self._table.transact(
            [
                Delete(pk=prompt.id, sk=PROMPT, condition=unchanged),
                *(Delete(pk=prompt.id, sk=sk) for sk in gone),
                *(_unlisting(prompt) if prompt.is_listed else ()),
            ]
        )

    def _pass_over(self, receipt: Receipt, exchange: Exchange, now: datetime) -> Receipt:
        """Count a call that the list has no room for, once."""
        passed = receipt.model_copy(update={"unmatched_id": None, "fault": _FULL})
        if self._table.put_new(receipt_item(passed, exchange.source_id, now)):
            listed = unmatched_of(receipt.organization_id)
            self._table.count(listed, COUNTS, _PASSED_OVER, 1)
        return passed

    def _has_room(self, new: UnmatchedPrompt, exchange: Exchange) -> bool:
        """Return whether a further prompt may be listed; where the list is full, make room."""
        counts = self._table.get(unmatched_of(new.organization_id), COUNTS)
        if counts is None or int(counts.get(_PROMPTS, 0)) < MAX_UNMATCHED_PROMPTS:
            return True
        if _drawn(exchange, "admitted") % _ADMITTED_OF:
            return False
        last = _least(self.list(new.organization_id), exchange.captured_at)
        if last is None:
            return False
        return self.erase(last)


def _unlisting(prompt: UnmatchedPrompt) -> list[Write]:
    listed = unmatched_of(prompt.organization_id)
    return [
        Delete(pk=listed, sk=prompt.id, condition=PRESENT),
        Add(pk=listed, sk=COUNTS, name=_PROMPTS, by=-1, only_existing=True),
    ]


def _first(
    before: UnmatchedPrompt | None, new: UnmatchedPrompt, text: str, exchange: Exchange
) -> list[Write]:
    """Return what lists a prompt with its first call, in place of one that became a deck."""
    owner = {"organization_id": new.organization_id}
    listed = unmatched_of(new.organization_id)
    unchanged = _NEW if before is None else Condition(only_if={"deck_id": before.deck_id})
    writes: list[Write] = [
        Put(item=item_of(new, pk=new.id, sk=PROMPT), condition=unchanged),
        Put(item={**owner, "pk": new.id, "sk": TEXT, "text": pack(text)}),
        Put(item={**owner, "pk": listed, "sk": new.id}, condition=_NEW),
        Put(item=expiring(new.id, new.keep_until, owner)),
        Add(
            pk=listed,
            sk=COUNTS,
            name=_PROMPTS,
            by=1,
            below=MAX_UNMATCHED_PROMPTS,
            changes=owner,
        ),
    ]
    example = example_item(new.id, 0, exchange)
    return writes if example is None else [*writes, Put(item=example)]


def _again(before: UnmatchedPrompt, new: UnmatchedPrompt, exchange: Exchange) -> list[Write]:
    """Return what counts a further call with a prompt, and keeps it as an example where drawn.

    The calls that are kept are drawn from all of them alike (algorithm R; Vitter, 1985).
    """
    later = item_of(new, pk=new.id, sk=PROMPT)
    changes: Item = {}
    if new.last_seen_at > before.last_seen_at:
        changes["last_seen_at"] = later["last_seen_at"]
    if before.is_listed and new.keep_until > before.keep_until:
        changes["keep_until"] = later["keep_until"]
    if before.is_listed and list(new.tied) != list(before.tied):
        changes["tied"] = list(new.tied)
    # What is dismissed meanwhile, or a deck, is to get no further example.
    marks = ("deck_id", "dismissed_at") if before.is_listed else ()
    counted = Add(
        pk=new.id,
        sk=PROMPT,
        name="count",
        by=1,
        only_existing=True,
        changes=changes,
        without=marks,
    )
    place = before.count
    if place >= MAX_UNMATCHED_EXAMPLES:
        place = _drawn(exchange, "kept") % (before.count + 1)
    example = None
    if before.is_listed and place < MAX_UNMATCHED_EXAMPLES:
        example = example_item(new.id, place, exchange)
    return [counted] if example is None else [counted, Put(item=example)]


def _least(prompts: Iterable[UnmatchedPrompt], now: datetime) -> UnmatchedPrompt | None:
    """Return the prompt that makes room for another: seen once, or not for long."""
    gone = [
        one
        for one in prompts
        if now - one.last_seen_at > (_SEEN_ONCE_FOR if one.count == 1 else _UNSEEN_FOR)
    ]
    return min(gone, key=lambda one: (one.count, one.last_seen_at), default=None)


def _drawn(exchange: Exchange, what: str) -> int:
    """Return a number that always follows from a call, and is no matter of its content."""
    drawn = hashlib.sha256(f"{what} {exchange.organization_id} {exchange.source_id}".encode())
    return int.from_bytes(drawn.digest()[:8], "big")
