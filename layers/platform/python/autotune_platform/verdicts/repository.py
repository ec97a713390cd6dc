"""Where verdicts are stored, and the opinions of panels' members."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.table import Item, Key, Table
from autotune_platform.verdicts.models import OfGrader, Unlisted, Verdict, VerdictKey
from autotune_platform.verdicts.panels import Panel
from autotune_platform.verdicts.score_index import INDEX_KEY, index_key
from autotune_platform.verdicts.stored_verdicts import (
    OPINION_PREFIX,
    VERDICT_PREFIX,
    opinion_key,
    unlisted_from,
    verdict_attributes,
    verdict_from,
    verdict_key,
)

_CONCURRENT_WRITES = 8
# It sorts behind every id.
_END = "~"
# Twenty-one generations of ten opinions and a verdict each.
_LONGEST_STORY = 231


class VerdictRepository:
    """Verdicts and opinions in the ``completions`` table, beside the completion that they judge.

    An opinion is stored like a verdict, written once and followed by the stream, but not listed
    among the task's verdicts.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, verdict: Verdict) -> bool:
        """Store a verdict, or an opinion, unless there is one; return whether it was stored."""
        _, grader_id, version, generation = verdict.key
        if verdict.is_opinion:
            item: Item = {"sk": opinion_key(grader_id, version, generation)}
        else:
            item = {"sk": verdict_key(grader_id, version, generation), **index_key(verdict)}
        return self._table.put_new(
            {"pk": verdict.completion_id, **item, **verdict_attributes(verdict)}
        )

    def of_completion(self, key: VerdictKey) -> Verdict | None:
        """Return one grader's verdict on a completion."""
        item = self._table.get(*_stored(key))
        return verdict_from(item) if item else None

    def all_of(self, completion_id: str) -> list[Verdict]:
        """Return every verdict on a completion."""
        page = self._table.query(completion_id, starting=VERDICT_PREFIX)
        return [verdict_from(item) for item in page.items]

    def story_of(self, completion_id: str) -> list[Verdict]:
        """Return every verdict and opinion on a completion."""
        span = ("sk", OPINION_PREFIX, VERDICT_PREFIX + _END)
        items = self._table.items(completion_id, between=span)
        return [verdict_from(item) for item in islice(items, _LONGEST_STORY)]

    def erase_reasoning(self, completion_ids: Sequence[str]) -> None:
        """Delete what graders and people gave as their reasons; what they decided stays."""

        def erase(completion_id: str) -> None:
            span = ("sk", OPINION_PREFIX, VERDICT_PREFIX + _END)
            for item in self._table.items(completion_id, between=span):
                if "reasoning" in item:
                    self._table.update(completion_id, item["sk"], {}, remove=["reasoning"])

        if completion_ids:
            in_parallel(erase, completion_ids, at_most=_CONCURRENT_WRITES)

    def erase_opinions(self, completion_ids: Sequence[str], member: OfGrader) -> None:
        """Delete the reasons of one panel's member, where it gave any; no other item is read."""
        sort_key = opinion_key(member.grader_id, member.grader_version, member.generation)

        def erase(completion_id: str) -> None:
            self._table.update(
                completion_id, sort_key, {}, remove=["reasoning"], having="reasoning"
            )

        if completion_ids:
            in_parallel(erase, completion_ids, at_most=_CONCURRENT_WRITES)

    def unlisted_of(self, verdicts: Iterable[VerdictKey]) -> dict[VerdictKey, Unlisted]:
        """Return what lists of scores lack of verdicts, of those that are there."""
        asked = list(verdicts)
        keys = [_stored(one) for one in asked]
        items = self._table.get_many(keys, attributes=list(Unlisted.model_fields))
        return {
            one: unlisted_from(items[key])
            for one, key in zip(asked, keys, strict=True)
            if key in items
        }

    def of_keys(self, keys: Iterable[VerdictKey]) -> dict[VerdictKey, Verdict]:
        """Return the verdicts there are."""
        items = self._table.get_many(_stored(key) for key in keys)
        found = (verdict_from(item) for item in items.values())
        return {verdict.key: verdict for verdict in found}

    def leave_lists(self, keys: Sequence[VerdictKey]) -> None:
        """Take verdicts out of the index that a later generation replaces; they stay readable."""

        def leave(key: VerdictKey) -> None:
            self._table.update(*_stored(key), {}, remove=INDEX_KEY)

        if keys:
            in_parallel(leave, keys, at_most=_CONCURRENT_WRITES)

    def opinions_on(
        self, completions: Iterable[tuple[str, Panel]], generations: Mapping[str, int]
    ) -> dict[str, list[Verdict]]:
        """Return the opinions there are, strongly consistent, each list in the panel's order.

        Args:
            generations: of those completions that are not in their first.
        """
        keys: list[Key] = [
            (
                completion_id,
                opinion_key(
                    member.grader_id, member.grader_version, generations.get(completion_id, 0)
                ),
            )
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
        self, completion_ids: Iterable[str], member: OfGrader
    ) -> dict[str, Verdict]:
        """Return the opinions that one panel's member has, by completion."""
        sort_key = opinion_key(member.grader_id, member.grader_version, member.generation)
        items = self._table.get_many((id_, sort_key) for id_ in completion_ids)
        return {pk: verdict_from(item) for (pk, _), item in items.items()}


def _stored(key: VerdictKey) -> Key:
    return key.completion_id, verdict_key(key.grader_id, key.grader_version, key.generation)
