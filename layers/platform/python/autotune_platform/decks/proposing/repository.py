"""Where proposals are stored while they are made: beside their run, and gone with its end."""

from collections.abc import Sequence

from autotune_platform.decks.proposing.models import Proposing
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import PROPOSAL, RunRepository, expiry
from autotune_platform.storage.packing import pack, unpack
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import ANYTHING, Condition, Delete, Put, Write


class ProposalRepository:
    """Proposals in the ``decks`` table; all changes are conditional on what was read."""

    def __init__(self, table: Table, runs: RunRepository) -> None:
        self._table = table
        self._runs = runs

    def get(self, run: Run) -> Proposing | None:
        """Return how far the proposal of a run is; None before anything of it is planned."""
        item = self._table.get(run.id, PROPOSAL)
        if item is None:
            return None
        document = unpack(item["body"])
        return Proposing.model_validate({**document, "rows": item.get("rows")})

    def change(
        self,
        before: Run,
        after: Run,
        proposing: Proposing | None = None,
        others: Sequence[Write] = (),
    ) -> bool:
        """Store a changed run, with its proposal as it stands after the one that was read.

        Args:
            proposing: with the revision after that of the one that was read.

        Returns:
            False where one of them is not as it was read; then nothing is written.
        """
        writes = list(others) if proposing is None else [self.put(after, proposing), *others]
        return self._runs.change(before, after, writes)

    def change_alone(self, run: Run, proposing: Proposing) -> bool:
        """Store a changed proposal alone; return False where it is not as it was read."""
        return not self._table.transact([self.put(run, proposing)])

    @staticmethod
    def put(run: Run, proposing: Proposing) -> Write:
        """Return what stores a proposal that has the revision after the one that was read."""
        before = proposing.revision - 1
        as_read = Condition(only_if={"revision": before}) if before else Condition(exists=False)
        return Put(item=_item(run, proposing), condition=as_read)

    @staticmethod
    def deleted(run: Run) -> Write:
        """Return what deletes the proposal of a run, to be written with the run's end."""
        return Delete(pk=run.id, sk=PROPOSAL, condition=ANYTHING)


def _item(run: Run, proposing: Proposing) -> Item:
    document = proposing.model_dump(mode="json", by_alias=False, exclude={"rows"})
    rows = {} if proposing.rows is None else {"rows": proposing.rows}
    return {
        "pk": run.id,
        "sk": PROPOSAL,
        "organization_id": run.organization_id,
        "revision": proposing.revision,
        "body": pack(document),
        **rows,
        **expiry(run),
    }
