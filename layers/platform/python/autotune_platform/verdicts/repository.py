"""Where verdicts are stored, and the opinions of panels' members."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from pydantic import TypeAdapter

from autotune.protocol.grading import ScoreDimension
from autotune_platform.storage.table import Item, Key, Table
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import Panel
from autotune_platform.verdicts.score_index import index_key
from autotune_platform.verdicts.stored_verdicts import (
    VERDICT_PREFIX,
    opinion_key,
    verdict_attributes,
    verdict_from,
    verdict_key,
)


@cache
def _dimensions() -> TypeAdapter[list[ScoreDimension]]:
    return TypeAdapter(list[ScoreDimension])


class VerdictRepository:
    """Verdicts and opinions in the ``completions`` table, beside the completion that they judge.

    An opinion is stored like a verdict, written once and followed by the stream, but not listed
    among the task's verdicts.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, verdict: Verdict) -> bool:
        """Store a verdict, or an opinion, unless there is one; return whether it was stored."""
        grader_id, version = verdict.grader_id, verdict.grader_version
        if verdict.is_opinion:
            item: Item = {"sk": opinion_key(grader_id, version)}
        else:
            item = {"sk": verdict_key(grader_id, version), **index_key(verdict)}
        return self._table.put_new(
            {"pk": verdict.completion_id, **item, **verdict_attributes(verdict)}
        )

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
        keys = [(id_, verdict_key(grader_id, version)) for id_, grader_id, version in asked]
        items = self._table.get_many(keys, attributes=["dimensions"])
        return {
            one: _dimensions().validate_json(items[key]["dimensions"])
            for one, key in zip(asked, keys, strict=True)
            if "dimensions" in items.get(key, {})
        }

    def of_completions(self, completions: Iterable[tuple[str, str, str]]) -> dict[str, Verdict]:
        """Return the verdicts there are, by completion.

        Args:
            completions: completion id, grader id and grader version of each.
        """
        keys = [(id_, verdict_key(grader_id, version)) for id_, grader_id, version in completions]
        return {pk: verdict_from(item) for (pk, _), item in self._table.get_many(keys).items()}

    def opinions_on(self, completions: Iterable[tuple[str, Panel]]) -> dict[str, list[Verdict]]:
        """Return the opinions there are, strongly consistent, each list in the panel's order."""
        keys: list[Key] = [
            (completion_id, opinion_key(member.grader_id, member.grader_version))
            for completion_id, panel in completions
            for member in panel.members
        ]
        items = self._table.get_many(keys)
        found: dict[str, list[Verdict]] = defaultdict(list)
        for key in keys:
            if key in items:
                found[key[0]].append(verdict_from(items[key]))
        return found

    def opinions_of_member(
        self, completion_ids: Iterable[str], grader_id: str, version: str
    ) -> dict[str, Verdict]:
        """Return the opinions that one panel's member has, by completion."""
        sort_key = opinion_key(grader_id, version)
        items = self._table.get_many((id_, sort_key) for id_ in completion_ids)
        return {pk: verdict_from(item) for (pk, _), item in items.items()}
