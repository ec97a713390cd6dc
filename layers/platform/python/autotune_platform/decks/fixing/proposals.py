"""Proposals of edits as the platform stores them: one at a time of a grader."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from autotune.protocol.deck_edit_proposals import EditProposalFailure, EditProposalStatus
from autotune.protocol.deck_edits import EditPattern
from autotune.protocol.deck_rubrics import DeckJudge
from autotune_platform.decks.figures import spent
from autotune_platform.decks.fixing.events import proposal_completed
from autotune_platform.decks.items import item_of, model_from
from autotune_platform.decks.runs.models import LOST_STEPS, MOST_KILLS
from autotune_platform.decks.runs.repository import packed_rows
from autotune_platform.ledger.models import Row
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.table import Table
from autotune_platform.storage.transactions import Condition, Put, Write
from autotune_platform.webhooks.outbox import outbox_put

FIXING = "fixing#"

MOST_KILLERS = 5
"""So many answers that kill their readers end a proposal."""


class Question(FrozenModel):
    """A row that is asked.

    Attributes:
        about: the sample that is coded, or the place of the pattern that is mended.
        most: what it may cost, in nano-USD.
    """

    row_id: str
    about: str
    most: int


class Cited(FrozenModel):
    """A pattern with the samples that it cites."""

    pattern: EditPattern
    sample_ids: Sequence[str]


class Refused(FrozenModel):
    """A patch that was refused."""

    pattern: str
    because: str


class Proposal(FrozenModel):
    """What a model is asked for a version of a grader, and what it has said.

    Attributes:
        questions: what is asked now.
        is_asked: whether their rows are enqueued; until then ``rows`` has them.
        codes: what each disagreement was named, by sample.
        erasing: rows whose texts are to go.
        reader: who goes on with it now, and ``reading_until`` when that function has ended.
        at_hand: the row that is read, or ``texts``; it is noted once readers were killed.
        lost_readers: how many were killed in a row, at what is not known.
        suspects: how often one was killed, by what was at hand.
        taken: rows that were read already, of those of a stage that are read one by one.
        unread: answers that are not read, because readers were killed at them.
    """

    organization_id: str
    deck_id: str
    grader_id: str
    number: int
    base_version: int
    proposer: DeckJudge
    status: EditProposalStatus = "coding"
    failed_because: EditProposalFailure | None = None
    shown: Sequence[str]
    questions: Sequence[Question] = ()
    rows: bytes | None = None
    is_asked: bool = False
    codes: Mapping[str, str] = {}
    patterns: Sequence[Cited] = ()
    edit_ids: Sequence[str] = ()
    refused: Sequence[Refused] = ()
    erasing: Sequence[str] = ()
    reader: str | None = None
    reading_until: datetime | None = None
    at_hand: str | None = None
    lost_readers: int = 0
    suspects: Mapping[str, int] = {}
    taken: Sequence[str] = ()
    unread: int = 0
    cap: int
    spent: int = 0
    cancel_requested_at: datetime | None = None
    ended_at: datetime | None = None
    revision: int = 1
    created_at: datetime
    created_by: str

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
        return self.status in {"coding", "merging", "patching"}

    @property
    def is_careful(self) -> bool:
        """Whether it is read answer by answer."""
        return self.lost_readers >= LOST_STEPS or any(
            kills < MOST_KILLS for kills in self.suspects.values()
        )

    def is_killer(self, key: str) -> bool:
        """Return whether something is not read any more, because readers were killed at it."""
        return self.suspects.get(key, 0) >= MOST_KILLS

    @property
    def killers(self) -> int:
        """How many answers of a stage are not read, because readers were killed at them."""
        return sum(self.is_killer(one.row_id) for one in self.questions)

    @property
    def ends_early(self) -> bool:
        """Whether nothing more is asked: a person said so, or too much of it kills its readers."""
        others = self.suspects.keys() - {one.row_id for one in self.questions}
        is_hopeless = self.unread + self.killers >= MOST_KILLERS
        is_canceled = self.cancel_requested_at is not None
        return is_canceled or is_hopeless or any(map(self.is_killer, others))

    @property
    def order_key(self) -> str:
        """The key under which what is asked now is enqueued."""
        return f"edits.{self.grader_id}.{self.number}.{self.status}"

    def asking(self, questions: Sequence[Question], rows: Sequence[Row]) -> dict[str, object]:
        """Return the changes that have it ask something next."""
        return {"questions": questions, "rows": packed_rows(rows), "is_asked": False}


class ProposalRepository:
    """The latest proposal of each grader, in the partition of its deck."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, deck_id: str, grader_id: str) -> Proposal | None:
        """Return the latest proposal of a grader's edits."""
        item = self._table.get(deck_id, FIXING + grader_id)
        return None if item is None else model_from(item, Proposal)

    def store(self, before: Proposal | None, after: Proposal) -> bool:
        """Store a proposal; return False where it is not as it was read.

        What it has paid since it was read is added to what its deck has, and the write that ends it
        stores its event.
        """
        as_read = (
            Condition(exists=False)
            if before is None
            else Condition(only_if={"number": before.number, "revision": before.revision})
        )
        item = item_of(
            after.model_copy(update={"rows": None}), pk=after.deck_id, sk=FIXING + after.grader_id
        )
        if after.rows is not None:
            item["rows"] = after.rows
        writes: list[Write] = [Put(item=item, condition=as_read)]
        is_same = before is not None and before.number == after.number
        if paid := after.spent - (before.spent if before is not None and is_same else 0):
            writes.append(spent(after.organization_id, after.deck_id, paid))
        if before is not None and before.is_open and not after.is_open:
            writes.append(outbox_put(proposal_completed(after), pk=after.deck_id))
        return not self._table.transact(writes)
