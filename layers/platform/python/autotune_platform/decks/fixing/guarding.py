"""What keeps a text from killing each reader of a proposal of edits (ADR 0074).

Whoever goes on with a proposal takes it before: a note says who, and by when that function has
ended. Meanwhile others leave it as it is, so that several at once are no kills. A note whose time
is over is of a reader that was killed. After three of them the next goes answer by answer, and
notes the one at hand before it reads it; one at which two were killed is not read again.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

from aws_lambda_powertools import Logger

from autotune_platform.decks.fixing.proposals import Proposal, ProposalRepository
from autotune_platform.decks.runs.models import LOST_STEPS
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import AutotuneError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

logger = Logger()

READING: Final = timedelta(seconds=150)
"""A function that took a proposal has ended by then: none of them has more than two minutes."""

RESERVED_SECONDS: Final = 90
"""A careful reader begins no answer in its last so many: a store that hangs is an error by then."""

TEXTS: Final = "texts"
"""What is at hand where samples and patterns are read, to be asked about."""

FREE: Final[Mapping[str, Any]] = {"reader": None, "reading_until": None, "at_hand": None}
"""What changes of a proposal that nobody reads any more."""

UNSUSPECTED: Final[Mapping[str, Any]] = {
    "at_hand": None,
    "lost_readers": 0,
    "suspects": {},
    "taken": (),
}
"""What changes of a proposal of which all was read."""

_ATTEMPTS = 8


class ChangedError(Exception):
    """The proposal is not any more as it was read: it is read again, and gone on with."""


def as_taken(proposal: Proposal, reader: str, now: datetime) -> dict[str, Any]:
    """Return what changes of a proposal with a reader that begins: where the one before was killed.

    One that went answer by answer and was killed at none says that no answer kills readers.
    """
    lost, suspects = proposal.lost_readers, dict(proposal.suspects)
    if proposal.at_hand is not None:
        suspects[proposal.at_hand] = suspects.get(proposal.at_hand, 0) + 1
        logger.warning("reader was killed", grader_id=proposal.grader_id, kills=suspects)
    elif proposal.reader is not None and proposal.is_careful:
        logger.warning("reader was killed at no answer", grader_id=proposal.grader_id)
        lost, suspects = 0, {key: n for key, n in suspects.items() if proposal.is_killer(key)}
    elif proposal.reader is not None:
        lost = min(lost + 1, LOST_STEPS)
    return {
        "reader": reader,
        "reading_until": now + READING,
        "at_hand": None,
        "lost_readers": lost,
        "suspects": suspects,
    }


@part
class ProposalGuard:
    """Stores proposals, with notes of who reads them and what is at hand."""

    proposals: ProposalRepository
    clock: Clock = SYSTEM_CLOCK

    def is_read_by_another(self, proposal: Proposal, reader: str) -> bool:
        """Return whether somebody else has a proposal who may not have been killed."""
        until = proposal.reading_until
        return proposal.reader != reader and until is not None and self.clock.now() < until

    def note(self, proposal: Proposal, key: str, changes: Mapping[str, Any]) -> Proposal:
        """Note, with other changes, that something is about to be read.

        Raises:
            ChangedError: the proposal is not any more as it was read.
        """
        return self.store(proposal, {**changes, "at_hand": key})

    def release(self, proposal: Proposal) -> Proposal:
        """Note that what was at hand is read: who is killed now is killed by something else.

        Raises:
            ChangedError: the proposal is not any more as it was read.
        """
        return self.store(proposal, {"at_hand": None})

    def store(self, proposal: Proposal, changes: Mapping[str, Any]) -> Proposal:
        """Store changes; one that has ended says when, and is read by nobody.

        Raises:
            ChangedError: the proposal is not any more as it was read.
        """
        after = Proposal.model_validate(
            {**proposal.model_dump(), **changes, "revision": proposal.revision + 1}
        )
        if not after.is_open and after.ended_at is None:
            after = after.model_copy(update={**FREE, **UNSUSPECTED, "ended_at": self.clock.now()})
        if not self.proposals.store(proposal, after):
            raise ChangedError
        return after

    @contextmanager
    def taking_back(self, proposal: Proposal, reader: str) -> Iterator[None]:
        """Take a reader's note back where it ends with a refusal of a store.

        Whoever is killed takes nothing back. A fault of what was read is a kill as well.
        """
        try:
            yield
        except (AutotuneError, *REFUSALS):
            self._take_back(proposal, reader)
            raise

    def _take_back(self, read: Proposal, reader: str) -> None:
        for _ in BUSY.attempts(_ATTEMPTS):
            try:
                proposal = self.proposals.get(read.deck_id, read.grader_id)
                if proposal is None or proposal.reader != reader:
                    return
                self.store(proposal, FREE)
            except ChangedError:
                continue
            except (AutotuneError, *REFUSALS):
                logger.warning("note not taken back", grader_id=read.grader_id, exc_info=True)
            else:
                return
