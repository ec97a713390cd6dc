"""Changes of a table's items, and which handler follows which of them.

A table's stream delivers each change at least once, and in order for each partition key. Handlers
work on a ``Change``; nothing else reads the stream's records.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from autotune_platform.storage.item_format import Item, item_from_wire

EventName = Literal["INSERT", "MODIFY", "REMOVE"]

# How DynamoDB names itself where its time to live removed the item.
_TIME_TO_LIVE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of one item.

    Attributes:
        new: the item after the change; empty where it was removed.
        old: the item before the change; empty where the table's stream has no old images.
        by_time_to_live: whether the item was removed because its time was over.
    """

    event: EventName
    pk: str
    sk: str
    new: Item = field(default_factory=dict)
    old: Item = field(default_factory=dict)
    by_time_to_live: bool = False

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the change that a record of DynamoDB Streams describes, as Lambda delivers it.

        https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
        """
        described = record["dynamodb"]
        user = record.get("userIdentity") or {}
        return cls(
            event=record["eventName"],
            pk=described["Keys"]["pk"]["S"],
            sk=described["Keys"]["sk"]["S"],
            new=item_from_wire(described.get("NewImage", {})),
            old=item_from_wire(described.get("OldImage", {})),
            by_time_to_live=all(user.get(name) == value for name, value in _TIME_TO_LIVE.items()),
        )


@dataclass(frozen=True)
class ChangeKind:
    """Changes of one event to items whose sort key starts with a prefix.

    Attributes:
        marked: only items of which this attribute is true.
        among: only items of which the attribute of this name is one of these texts.
    """

    event: EventName
    prefix: str
    marked: str | None = None
    among: tuple[str, Sequence[str]] | None = None

    def includes(self, change: Change) -> bool:
        """Return whether a change is of this kind."""
        is_marked = self.marked is None or change.new.get(self.marked) is True
        is_among = self.among is None or change.new.get(self.among[0]) in self.among[1]
        is_here = change.event == self.event and change.sk.startswith(self.prefix)
        return is_here and is_marked and is_among


class ChangeHandler(Protocol):
    """What acts upon changes."""

    def follow(self, changes: Sequence[Change], /) -> None:
        """Act upon changes, in the stream's order; the same ones again do no harm."""


@dataclass(frozen=True)
class Route:
    """The kinds of changes that a handler follows.

    Attributes:
        handler: returns it; called when there is a change for it.
    """

    kinds: Sequence[ChangeKind]
    handler: Callable[[], ChangeHandler]

    def includes(self, change: Change) -> bool:
        """Return whether a change is of any of the kinds."""
        return any(kind.includes(change) for kind in self.kinds)


class Router:
    """Hands each change to the handlers that follow its kind."""

    def __init__(self, *routes: Route) -> None:
        self._routes = routes

    @property
    def kinds(self) -> list[ChangeKind]:
        """What any handler follows, which is what the stream has to deliver."""
        return [kind for route in self._routes for kind in route.kinds]

    def route(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Call each handler once, with those changes of a batch that are its own.

        A handler without any is not called. One that fails does not keep the others from their
        work: its error is raised when all have been called. Where several fail, the last error is
        raised, with the others as its context.
        """
        _follow(self._routes, [Change.from_record(record) for record in records])


def _follow(routes: Sequence[Route], changes: Sequence[Change]) -> None:
    if not routes:
        return
    first, *others = routes
    try:
        if own := [change for change in changes if first.includes(change)]:
            first.handler().follow(own)
    finally:
        _follow(others, changes)
