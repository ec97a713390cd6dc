"""Looks at the held-out labels of a grader: which were spent, and where that is stored.

A look is a version that was compared with these labels, or whose results on their samples were
shown. Who compares many versions finds one by chance that looks better: so looks are counted.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import Field

from autotune_platform.decks.items import EDIT, LOOKS, item_of, model_from
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.table import Table
from autotune_platform.storage.transactions import Condition, Put, Write


class Look(FrozenModel):
    """A look that was spent: it is never given back.

    Attributes:
        number: 0 for the first version of all, which the others are compared with.
        edit_id: the edit whose replay spent it; it sees labels from before ``at`` alone.
        is_read: whether agreement or results of the version were shown, as they may be again with
            labels that come later.
        others: how many looks of other graders at the same labels its number counts.
        measured: digest of what publishing measured at it, labels and judgements.
        is_again: whether it is one more of a version that has one: published by other labels.
    """

    at: datetime
    version: int
    number: int
    edit_id: str | None = None
    is_read: bool = False
    others: int = 0
    measured: str | None = None
    is_again: bool = False

    def chose(self, first_rated: datetime | None) -> bool:
        """Return whether a label is among those by which an edit was taken that made its version.

        Args:
            first_rated: when it was given; None where that is not known.
        """
        return self.edit_id is not None and (first_rated is None or first_rated <= self.at)


class Looks(FrozenModel):
    """All looks at the held-out labels of a grader, the oldest first.

    Attributes:
        others: those of other graders at the same labels, where they were asked for.
    """

    organization_id: str
    grader_id: str
    spent: Sequence[Look] = ()
    others: Sequence[Look] = Field(default=(), exclude=True)
    revision: int = 0

    def of(self, version: int) -> Look | None:
        """Return the look that a version has, whatever it was published by since."""
        own = (one for one in self.spent if one.version == version and not one.is_again)
        return next(own, None)

    def of_measurement(self, version: int, measured: str) -> Look | None:
        """Return the look at which a version was published by these labels and judgements."""
        known = (one for one in self.spent if (one.version, one.measured) == (version, measured))
        return next(known, None)

    @property
    def counted(self) -> int:
        """How many there are without the first, which costs nothing."""
        return sum(one.number > 0 for one in self.spent)

    def next_number(self, labels_since: datetime | None = None, *, base: int | None = None) -> int:
        """Return the number of the next look: one more than there are that saw its labels.

        Args:
            labels_since: labels from after this moment alone are looked at; a look whose version
                may be read again counts all the same.
            base: the version that the next one is compared with on fresh labels; its own look is
                the first at these.
        """
        if not (self.spent or self.others):
            return 0
        if labels_since is None:
            if not self.others:
                return self.counted + 1
            # The first of all has number 0, whichever grader it is of.
            return len(self.spent) + len(self.others)
        seen = [
            one
            for one in self.spent
            if one.number > 0 and one.version != base and (one.is_read or one.at > labels_since)
        ]
        fresh = [one for one in self.others if one.is_read or one.at > labels_since]
        return len(seen) + len(fresh) + 1

    def renumbered(self, look: Look) -> Look:
        """Return a look with a number that counts what others spent before it.

        Labels that came since may show that they are those of another grader.
        """
        before = sum(one.at < look.at for one in self.others)
        more = max(0, before - look.others)
        return look.model_copy(update={"number": look.number + more, "others": look.others + more})

    def after(self, look: Look) -> "Looks":
        """Return these with one more, or with one that has changed."""
        same = [_is_same(one, look) for one in self.spent]
        spent = [look if is_it else one for one, is_it in zip(self.spent, same, strict=True)]
        if not any(same):
            spent.append(look)
        return self.model_copy(update={"spent": spent, "revision": self.revision + 1})


def _is_same(one: Look, other: Look) -> bool:
    """Return whether two are the same look, one of them as it is by now."""
    if one.version != other.version or one.is_again != other.is_again:
        return False
    return not one.is_again or one.measured == other.measured


class LookRepository:
    """Looks in the table ``decks``, in the partition of their deck."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def looks(self, organization_id: str, deck_id: str, grader_id: str) -> Looks:
        """Return which looks at a grader's held-out labels were spent."""
        item = self._table.get(deck_id, LOOKS + grader_id)
        if item is None:
            return Looks(organization_id=organization_id, grader_id=grader_id)
        return model_from(item, Looks)

    def of_deck(self, deck_id: str) -> list[Looks]:
        """Return the looks of all graders of a deck."""
        items = self._table.items(deck_id, starting=LOOKS)
        return [model_from(item, Looks) for item in items]

    def measured(self, deck_id: str, grader_id: str, edit_ids: Iterable[str]) -> set[str]:
        """Return which edits have their figure, or were decided: nothing of them is secret."""
        keys = [(deck_id, edit_key(grader_id, one)) for one in edit_ids]
        found = self._table.get_many(keys, attributes=("id", "status", "effect")).values()
        return {
            item["id"]
            for item in found
            if "effect" in item or item["status"] in {"accepted", "rejected", "rolled_back"}
        }

    def store(self, writes: Sequence[Write]) -> bool:
        """Do all writes, or none; return False where something is not as it was read.

        Raises:
            UnavailableError: the table is busy.
        """
        return not self._table.transact(writes)

    @staticmethod
    def spent(deck_id: str, before: Looks, after: Looks) -> Write:
        """Return what stores looks, if there is none that was not read."""
        as_read = (
            Condition(only_if={"revision": before.revision})
            if before.revision
            else Condition(exists=False)
        )
        item = item_of(after, pk=deck_id, sk=LOOKS + after.grader_id)
        return Put(item=item, condition=as_read)


def edit_key(grader_id: str, edit_id: str) -> str:
    """Return the sort key of an edit."""
    return f"{EDIT}{grader_id}#{edit_id}"
