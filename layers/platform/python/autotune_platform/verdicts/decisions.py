"""Decisions: what is counted of verdicts and opinions, and how a batch lists those that are new.

A batch's verdicts lie under the ids of their completions, so a stream scatters them over all of its
shards. A *decision list* in the batch's own partition brings what is counted of them to one shard,
in order. Verdicts and opinions of a batch of one lie in one partition already, and have no list.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from autotune.protocol.completions import DecidedBy, ReasonCode, VerdictState
from autotune.protocol.ids import is_id
from autotune_platform.runtime.grouping import groups
from autotune_platform.storage.changes import Change, ChangeKind
from autotune_platform.storage.item_format import Item
from autotune_platform.verdicts.models import Verdict, VerdictKey, completion_id_of
from autotune_platform.verdicts.stored_verdicts import (
    ALONE,
    OPINION_PREFIX,
    VERDICT_PREFIX,
    verdict_from,
)

LIST_DAYS = 7
"""How long a list is kept: its stream brings it within seconds, or not at all after a day."""

_PREFIX = "decided#"
# Of ten opinions each with versions of their own, a list stays far below the 400 KB of an item;
# where each has a model of its own, too, below it still.
_LONGEST = 500
_MICROSECOND = timedelta(microseconds=1)

NEW_DECISIONS = [
    ChangeKind("INSERT", _PREFIX),
    ChangeKind("INSERT", VERDICT_PREFIX, marked=ALONE),
    ChangeKind("INSERT", OPINION_PREFIX, marked=ALONE),
]
"""Changes that bring decisions: a list's, and those of the verdict and opinions of a batch of one.

None of these items is ever changed.
"""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What is counted of one verdict or opinion.

    Attributes:
        index: position of its completion in the batch.
        generation: of the completion, 0 at first.
        panel_id: the panel whose member's opinion it is; None of a verdict.
        answered_version: the version that the grader reported, else the one that was registered.
        task_id: None in a list that was written before lists had it, as ``model_id``.
        verdict: the whole verdict, where it is at hand.
    """

    organization_id: str
    batch_id: str
    index: int
    grader_id: str
    grader_version: str
    panel_id: str | None
    state: VerdictState
    value: float | None
    reason_code: ReasonCode | None
    answered_version: str
    grader_latency_ms: int | None
    decided_by: DecidedBy
    decided_at: datetime
    generation: int = 0
    task_id: str | None = None
    model_id: str | None = None
    verdict: Verdict | None = field(default=None, compare=False)

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Return what is counted of a verdict or an opinion."""
        return cls(
            organization_id=verdict.organization_id,
            batch_id=verdict.batch_id,
            index=verdict.index,
            grader_id=verdict.grader_id,
            grader_version=verdict.grader_version,
            panel_id=verdict.panel_id,
            state=verdict.state,
            value=verdict.value,
            reason_code=verdict.reason_code,
            answered_version=verdict.answered_version,
            grader_latency_ms=verdict.grader_latency_ms,
            decided_by=verdict.decided_by,
            decided_at=verdict.decided_at,
            generation=verdict.generation,
            task_id=verdict.task_id,
            model_id=verdict.model_id,
            verdict=verdict,
        )

    @property
    def completion_id(self) -> str:
        """The completion that is decided, which follows from batch and index."""
        return completion_id_of(self.batch_id, self.index)

    @property
    def key(self) -> VerdictKey:
        """What finds the verdict."""
        return VerdictKey(self.completion_id, self.grader_id, self.grader_version, self.generation)

    @property
    def is_opinion(self) -> bool:
        """Whether it is only a member's opinion in a panel."""
        return self.panel_id is not None

    @property
    def is_of_panel(self) -> bool:
        """Whether several graders, or a person, came to it together."""
        return is_id("pnl", self.grader_id)


class _Group(NamedTuple):
    """What decisions of one list have in common.

    It is stored as an object by these names, without those that are None. ``generation`` is None
    for the first. Another name may come beside them.
    """

    grader_id: str
    grader_version: str
    panel_id: str | None
    state: VerdictState
    reason_code: ReasonCode | None
    answered_version: str | None
    decided_by: DecidedBy | None
    generation: int | None
    task_id: str | None
    model_id: str | None


def list_items(decisions: Sequence[Decision]) -> Iterator[Item]:
    """Yield the items of the lists that hold a batch's decisions, nearly always one.

    An item's key follows from its content, so that the same list is stored once. Its attributes
    are ``organization_id``, ``since`` (the first decision's time), and ``decisions``: JSON of
    groups, each with rows of index, microseconds since then, latency in ms and value.

    Args:
        decisions: of one batch.
    """
    for some in groups(decisions, _LONGEST):
        since = min(one.decided_at for one in some)
        text = _packed(some, since)
        digest = hashlib.sha256(f"{since.isoformat()} {text}".encode()).hexdigest()
        yield {
            "pk": some[0].batch_id,
            "sk": _PREFIX + digest[:32],
            "organization_id": some[0].organization_id,
            "since": since.isoformat(),
            "decisions": text,
            "expires_at": int((since + timedelta(days=LIST_DAYS)).timestamp()),
        }


def _packed(decisions: Sequence[Decision], since: datetime) -> str:
    groups: dict[_Group, list[list[Any]]] = defaultdict(list)
    for one in sorted(decisions, key=lambda one: one.index):
        row = [one.index, (one.decided_at - since) // _MICROSECOND]
        groups[_group(one)].append([*row, one.grader_latency_ms, one.value])
    packed = [
        {name: value for name, value in group._asdict().items() if value is not None}
        | {"rows": rows}
        for group, rows in groups.items()
    ]
    return json.dumps(packed, separators=(",", ":"))


def _group(one: Decision) -> _Group:
    is_registered = one.answered_version == one.grader_version
    return _Group(
        grader_id=one.grader_id,
        grader_version=one.grader_version,
        panel_id=one.panel_id,
        state=one.state,
        reason_code=one.reason_code,
        answered_version=None if is_registered else one.answered_version,
        decided_by=None if one.decided_by == "grader" else one.decided_by,
        generation=one.generation or None,
        task_id=one.task_id,
        model_id=one.model_id,
    )


def decisions_in(change: Change) -> Iterator[Decision]:
    """Yield the decisions that a change brings."""
    if change.sk.startswith(_PREFIX):
        yield from _listed(change.new)
    else:
        yield Decision.of(verdict_from(change.new))


def _listed(item: Item) -> Iterator[Decision]:
    since = datetime.fromisoformat(item["since"])
    for group in json.loads(item["decisions"]):
        for index, elapsed, latency_ms, value in group["rows"]:
            yield Decision(
                organization_id=item["organization_id"],
                batch_id=item["pk"],
                index=index,
                grader_id=group["grader_id"],
                grader_version=group["grader_version"],
                panel_id=group.get("panel_id"),
                state=group["state"],
                value=value,
                reason_code=group.get("reason_code"),
                answered_version=group.get("answered_version", group["grader_version"]),
                grader_latency_ms=latency_ms,
                decided_by=group.get("decided_by", "grader"),
                decided_at=since + elapsed * _MICROSECOND,
                generation=group.get("generation", 0),
                task_id=group.get("task_id"),
                model_id=group.get("model_id"),
            )
