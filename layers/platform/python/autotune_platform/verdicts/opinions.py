"""Where the opinions of a panel's members are stored."""

from collections import defaultdict
from collections.abc import Iterable

from autotune_platform.storage.table import Key, Table
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import Panel
from autotune_platform.verdicts.stored_verdicts import opinion_key, verdict_attributes, verdict_from


class OpinionRepository:
    """Opinions in the ``completions`` table, beside the completion that they are about.

    An opinion is stored like a verdict, written once and followed by the stream, but not listed
    among the task's verdicts.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, opinion: Verdict) -> bool:
        """Store an opinion unless there is one; return whether this one was stored."""
        return self._table.put_new(
            {
                "pk": opinion.completion_id,
                "sk": opinion_key(opinion.grader_id, opinion.grader_version),
                **verdict_attributes(opinion),
            }
        )

    def of_completions(self, completions: Iterable[tuple[str, Panel]]) -> dict[str, list[Verdict]]:
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

    def of_member(self, completion_ids: Iterable[str], grader_id: str, version: str) -> set[str]:
        """Return the completions of which one member has an opinion."""
        sort_key = opinion_key(grader_id, version)
        return {pk for pk, _ in self._table.get_many((id_, sort_key) for id_ in completion_ids)}
