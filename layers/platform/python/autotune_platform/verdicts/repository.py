"""Where verdicts are stored."""

from collections.abc import Iterable

from pydantic import TypeAdapter

from autotune.protocol.grading import ScoreDimension
from autotune_platform.storage.table import Item, Key, Table
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.score_index import index_key
from autotune_platform.verdicts.stored_verdicts import (
    VERDICT_PREFIX,
    verdict_attributes,
    verdict_from,
    verdict_key,
)

_DIMENSIONS = TypeAdapter(list[ScoreDimension])


class VerdictRepository:
    """Verdicts in the ``completions`` table, beside the completion that they judge."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, verdict: Verdict) -> bool:
        """Store a verdict unless there is one; return whether this one was stored."""
        return self._table.put_new(_item(verdict))

    def of_completion(self, completion_id: str, grader_id: str, version: str) -> Verdict | None:
        """Return one grader's verdict on a completion."""
        item = self._table.get(completion_id, verdict_key(grader_id, version))
        return verdict_from(item) if item else None

    def all_of(self, completion_id: str) -> list[Verdict]:
        """Return every verdict on a completion."""
        page = self._table.query(completion_id, starting=VERDICT_PREFIX)
        return [verdict_from(item) for item in page.items]

    def dimensions_of(
        self, verdicts: Iterable[tuple[str, str, str]]
    ) -> dict[tuple[str, str, str], list[ScoreDimension]]:
        """Return the dimensions of those verdicts that have any.

        Args:
            verdicts: completion id, grader id and grader version of each.
        """
        asked = list(verdicts)
        keys: list[Key] = [
            (id_, verdict_key(grader_id, version)) for id_, grader_id, version in asked
        ]
        items = self._table.get_many(keys, attributes=["dimensions"])
        return {
            one: _DIMENSIONS.validate_json(items[key]["dimensions"])
            for one, key in zip(asked, keys, strict=True)
            if "dimensions" in items.get(key, {})
        }

    def of_completions(self, completions: Iterable[tuple[str, str, str]]) -> dict[str, Verdict]:
        """Return the verdicts there are, by completion.

        Args:
            completions: completion id, grader id and grader version of each.
        """
        keys: list[Key] = [
            (completion_id, verdict_key(grader_id, version))
            for completion_id, grader_id, version in completions
        ]
        return {pk: verdict_from(item) for (pk, _), item in self._table.get_many(keys).items()}


def _item(verdict: Verdict) -> Item:
    return {
        "pk": verdict.completion_id,
        "sk": verdict_key(verdict.grader_id, verdict.grader_version),
        **index_key(verdict),
        **verdict_attributes(verdict),
    }
