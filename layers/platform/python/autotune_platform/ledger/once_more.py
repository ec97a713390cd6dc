"""Asking once more what a row asked: in its place, once for ever, however often it is tried."""

from autotune.protocol.llm_requests import LlmReaskSkipped
from autotune_platform.ledger.claims import Amount, Claim
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.planning import PlannedRow
from autotune_platform.ledger.planning_again import reask_id
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part


@part
class OnceMore:
    """Enqueues what rows asked that ended without a verdict that can be read."""

    enqueuing: EnqueuingService

    def ask(
        self,
        row: Row,
        text: RowInput | None,
        connection: Connection | None,
        *,
        unless: LlmReaskSkipped | None,
        more_bytes: int = 0,
    ) -> LlmReaskSkipped | None:
        """Enqueue what a row asked, and note it on the row; doing it again changes nothing.

        What an attempt stored that was killed is gone on with, whatever has come since: it is
        asked, and paid, by now.

        Args:
            text: what the row asked; None where it was deleted.
            connection: the row's, of any status.
            unless: why it must not be asked, where it is not yet.
            more_bytes: by how much ``text`` is longer than what the row asked; the same each time.

        Returns:
            Why it is not asked; None where it is.

        Raises:
            UnavailableError: a store refused work, or somebody else is at the same row.
        """
        row = row.model_copy(update={"input_bytes": row.input_bytes + more_bytes})
        again_id = reask_id(row.id)
        claim = self.enqueuing.claims.get(row.organization_id, again_id)
        if claim is not None and claim.given_up is not None:
            return claim.given_up
        if claim is None or not claim.done:
            stored = self.enqueuing.rows.get(again_id) if claim else None
            reason = unless if stored is None else None
            planned = reason or self._planned(row, stored, text, connection)
            if isinstance(planned, PlannedRow):
                self.enqueuing.take_place(planned, of=row)
            elif stored is None:
                return self._given_up(claim, row, planned)
        self.enqueuing.rows.note_reask(row, {"reasked_as": again_id})
        return None

    def _planned(
        self,
        row: Row,
        stored: Row | None,
        text: RowInput | None,
        connection: Connection | None,
    ) -> PlannedRow | LlmReaskSkipped:
        """Return what is to be stored, or is in part, or why nothing is."""
        if stored is not None:
            text = self.enqueuing.texts.input_of(stored.id) or text
        if text is None:
            return "texts_deleted"
        if connection is None:
            return "connection_revoked"
        if stored is not None:
            return PlannedRow(stored, text, connection)
        try:
            planned = self.enqueuing.planning_again.reask(row, text, connection)
        except InvalidRequestError:
            return "model_unpriced"
        return PlannedRow(planned, text, connection) if isinstance(planned, Row) else planned

    def _given_up(self, claim: Claim | None, row: Row, reason: LlmReaskSkipped) -> LlmReaskSkipped:
        """Count off what was counted for an attempt that cannot be gone on with."""
        if claim is not None:
            taken = self.enqueuing.take_over(claim)
            self.enqueuing.claims.give_up(taken, reason, Amount.of([row]))
        return reason
