"""Rows as runs of rubric graders have them: ordered by key, looked at, asked again, erased."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.ledger.ordering import Ordered, RowOrders
from functions.scoring import grade_chunk
from tests.chaos_ledger.answers import verdict_in
from tests.chaos_ledger.storm import Storm

_NEXT_LOOK_SECONDS = 900


class Orders:
    """Does what a rubric grader's run does with its questions, one by one.

    Attributes:
        outputs: what was answered, by the id of a row; the ledger's own copy is erased.
        erased: rows whose texts were erased, those that were asked before the last one too.
    """

    def __init__(self, storm: Storm) -> None:
        self._storm = storm
        self.outputs: dict[str, str] = {}
        self.erased: set[str] = set()
        self._looks: dict[str, int] = {}

    def order(
        self,
        organization_id: str,
        key: str,
        request: Mapping[str, Any],
        accepted: Callable[[str], object],
    ) -> bool:
        """Order a row, and look for its end from then on."""
        orders = _orders()
        asked = EnqueueLlmRequest.model_validate(request)
        row_id = orders.order(orders.caller_for(organization_id), key, asked)
        accepted(row_id)
        self._look_later(row_id, 1)
        return True

    def _look_later(self, row_id: str, number: int) -> None:
        """Look again, once: looks that are doubled would else be doubled again, and so on."""
        if self._looks.get(row_id, 0) < number:
            self._looks[row_id] = number
            at = self._storm.now + _NEXT_LOOK_SECONDS
            self._storm.at(at, lambda: self._look(row_id, number))

    def _look(self, row_id: str, number: int) -> bool:
        """Read what came of a row; ask again what cannot be read, and erase what can."""
        if row_id in self.erased:
            return True
        orders = _orders()
        found = orders.look([row_id])[row_id]
        if not found.row.has_ended:
            self._look_later(row_id, number + 1)
            return True
        self._read(found)
        if self._is_unreadable(found) and orders.ask_again(found):
            self._look_later(row_id, number + 1)
            return True
        orders.erase(found.ids)
        self.erased.update(found.ids)
        return True

    def _read(self, found: Ordered) -> None:
        if found.answered is not None:
            before = self.outputs.setdefault(found.row.id, found.answered.raw_output)
            assert before == found.answered.raw_output, "an answer changed"

    def _is_unreadable(self, found: Ordered) -> bool:
        answered = self.outputs.get(found.row.id)
        return answered is not None and verdict_in(answered) is None

    def are_read(self, row_ids: Collection[str]) -> bool:
        """Return whether all of some rows were looked at when they had ended, and erased."""
        return self.erased.issuperset(row_ids)


def _orders() -> RowOrders:
    return grade_chunk.parts().row_orders
