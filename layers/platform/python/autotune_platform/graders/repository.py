"""Where graders are stored."""

from autotune_platform.graders.models import Grader
from autotune_platform.registry import (
    RECORD,
    collection,
    entity_attributes,
    entity_item,
    find_entity,
    list_collection,
)
from autotune_platform.table import Table


class GraderRepository:
    """Graders in the ``registry`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, grader: Grader) -> None:
        """Store a new grader."""
        self._table.put_new(
            entity_item(
                grader, pk=grader.id, in_collection=collection(grader.organization_id, "grader")
            )
        )

    def get(self, grader_id: str) -> Grader | None:
        """Return a grader of any organisation."""
        return find_entity(self._table, "grd", grader_id, Grader)

    def list(
        self, organization_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Grader], str | None]:
        """Return a page of an organisation's graders."""
        name = collection(organization_id, "grader")
        return list_collection(self._table, name, Grader, limit=limit, next_token=next_token)

    def replace(self, before: Grader, after: Grader) -> bool:
        """Store a changed grader; return False where it changed or went in the meantime."""
        return self._table.replace(
            before.id,
            RECORD,
            entity_item(
                after, pk=after.id, in_collection=collection(after.organization_id, "grader")
            ),
            only_if={"updated_at": entity_attributes(before)["updated_at"]},
        )

    def count_late_answers(self, grader_id: str, version: str, count: int) -> None:
        """Add to the statistics of a grader's version, in a lane that no transaction writes to."""
        self._table.count(grader_id, f"statistics#{version}#late", "lateAnswers", count)

    def delete(self, grader: Grader) -> None:
        """Delete a grader; its verdicts stay."""
        self._table.delete(grader.id, RECORD)
