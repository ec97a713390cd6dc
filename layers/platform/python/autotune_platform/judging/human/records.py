"""Where reviews are stored, and the lists of those that are assigned to somebody."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from autotune.protocol.ids import is_id
from autotune.protocol.reviews import ReviewState
from autotune_platform.judging.human.models import Review, ReviewSummary
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.changes import Change, ChangeKind
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Item, Page, Table

_REVIEW = "review"
_BY_STATE = "reviewsByState"
_ATTEMPTS = 8
_PAGE = 100
# Of a page of one task's reviews; each look is a query.
_LOOKED_AT_ONCE, _MOST_LOOKS = 500, 4
# Reviews of others that one search for a free one passes over.
_MOST_PAGES = 40

REQUESTED_REVIEWS = [ChangeKind("INSERT", _REVIEW)]
"""Changes by which reviews are requested."""


def review_in(change: Change) -> Review:
    """Return the review that a change stores."""
    return _review(change.new)


class ReviewRecords:
    """Reviews in the ``completions`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, review_id: str) -> Review | None:
        """Return a review of any organisation."""
        item = self._table.get(review_id, _REVIEW) if is_id("rev", review_id) else None
        return _review(item) if item else None

    def find_many(self, review_ids: Iterable[str]) -> dict[str, Review]:
        """Return those reviews that exist, of any organisation, by id."""
        items = self._table.get_many((review_id, _REVIEW) for review_id in review_ids)
        return {pk: _review(item) for (pk, _), item in items.items()}

    def request(self, review: Review) -> Review:
        """Store a review unless it was asked for before; return the one that is stored.

        Raises:
            UnavailableError: it cannot be read; ask again.
        """
        if self._table.put_new(_item(review)):
            return review
        stored = self._as_stored(review.id)
        if stored is None:
            raise UnavailableError("a review is busy", retry_after_seconds=1)
        return stored

    def _as_stored(self, review_id: str) -> Review | None:
        # Who grades may read many reviews at once, and no single one.
        return self.find_many([review_id]).get(review_id)

    def change(self, before: Review, after: Review, *, counted: Sequence[Addition] = ()) -> bool:
        """Store a change; return False where another one came first.

        Args:
            counted: what it counts for, stored together with it or not at all; then False may also
                mean that others were counting the same.
        """
        if counted:
            return self._table.add_together([self._difference(before, after), *counted])
        return self._table.replace(
            before.id, _REVIEW, _item(after), only_if={"version": before.version}
        )

    def _difference(self, before: Review, after: Review) -> Addition:
        was, becomes = _item(before), _item(after)
        return Addition(
            table=self._table.name,
            pk=before.id,
            sk=_REVIEW,
            changes={name: one for name, one in becomes.items() if was.get(name) != one},
            remove=[name for name in was if name not in becomes],
            only_if={"version": before.version},
        )

    def seal(self, review: Review) -> Review:
        """Let nobody change an answer any more whose verdict is about to be written.

        Raises:
            UnavailableError: others kept changing it; do it again.
        """
        current: Review | None = review
        for _ in range(_ATTEMPTS):
            if current is None:
                break
            if current.correctable_until is None:
                return current
            after = current.after(correctable_until=None)
            if self.change(current, after):
                return after
            current = self._as_stored(review.id)
        raise UnavailableError("a review is busy", retry_after_seconds=1)

    def expire(self, review: Review) -> Review:
        """Close a review for good, unless somebody answered it; return what is stored then.

        Raises:
            UnavailableError: others kept changing it; do it again.
        """
        current: Review | None = review
        for _ in range(_ATTEMPTS):
            if current is None:
                break
            if current.state != "open":
                return current
            after = current.after(state="expired", lease=None)
            if self.change(current, after):
                return after
            current = self._as_stored(review.id)
        raise UnavailableError("a review is busy", retry_after_seconds=1)

    def erase_explanation(self, review_id: str) -> None:
        """Delete what a person wrote in an answer; the answer stays.

        Raises:
            UnavailableError: others kept changing the review; do it again.
        """
        for _ in range(_ATTEMPTS):
            review = self.find(review_id)
            if review is None or (after := review.without_explanation()) is review:
                return
            if self.change(review, after):
                return
        raise UnavailableError("a review is busy", retry_after_seconds=1)

    def of_organization(
        self,
        organization_id: str,
        *,
        state: ReviewState,
        task_id: str | None = None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[ReviewSummary], str | None]:
        """Return a page of an organisation's reviews in one state, the oldest first.

        Args:
            task_id: only those of this task. The index has state and time: tasks are compared, of
                2,000 reviews a page, which so may be short, even empty, with more to come.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        partition = _partition(organization_id, state)
        after = None if next_token is None else _position(partition, next_token)
        size, most = (limit, 1) if task_id is None else (_LOOKED_AT_ONCE, _MOST_LOOKS)
        found: list[ReviewSummary] = []
        last: Item | None = None
        for page in islice(self._pages(partition, limit=size, after=after), most):
            last = page.last_key
            for item in page.items:
                if task_id in {None, item["task_id"]}:
                    found.append(_summary(item))
                if len(found) == limit and item is not page.items[-1]:
                    return found, encode_cursor(state, item["review_time"], item["pk"])
            if len(found) == limit:
                break
        return found, encode_cursor(state, last["review_time"], last["pk"]) if last else None

    def open_of(self, organization_id: str) -> Iterator[ReviewSummary]:
        """Yield an organisation's open reviews, the oldest first, as the index has them."""
        pages = self._pages(_partition(organization_id, "open"), limit=_PAGE)
        for page in islice(pages, _MOST_PAGES):
            yield from map(_summary, page.items)

    def _pages(self, partition: str, *, limit: int, after: Item | None = None) -> Iterator[Page]:
        return self._table.pages(
            partition, partition_name="review_state", index=_BY_STATE, limit=limit, after=after
        )


class Declined:
    """Which reviews are not to be offered to whom again: hints beside the reviews, as assignments.

    Who cannot judge one, or gave the first opinion on it, is offered others. The hints go by
    themselves when their review expires.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def note(self, organization_id: str, reviewer_id: str, review_id: str, *, until: int) -> None:
        """Note that a person is not to be offered a review; noting it again changes nothing.

        Args:
            until: Unix seconds.
        """
        pk = _declined(organization_id, reviewer_id)
        self._table.put_new({"pk": pk, "sk": review_id, "expires_at": until})

    def by(self, organization_id: str, reviewer_id: str) -> set[str]:
        """Return ids of reviews that a person is not to be offered, some 10,000 at most."""
        page = self._table.query(_declined(organization_id, reviewer_id))
        return {item["sk"] for item in page.items}


class Assignments:
    """Which reviews were assigned to whom: hints beside the reviews, which alone decide.

    A person's hints are one partition of the ``completions`` table, so that what is theirs is found
    without reading what is everybody's. They go by themselves when their review expires.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def note(self, review: Review, assignee_id: str) -> None:
        """Note that a review is about to be assigned; noting it again changes nothing."""
        self._table.put_new(
            {
                "pk": _assigned(review.organization_id, assignee_id),
                "sk": _time(review),
                "expires_at": int(review.expires_at.timestamp()),
            }
        )

    def of(self, organization_id: str, assignee_id: str) -> list[str]:
        """Return ids of reviews that were assigned to a person, the oldest first."""
        page = self._table.query(_assigned(organization_id, assignee_id))
        return [item["sk"].partition("#")[2] for item in page.items]

    def forget(self, review: ReviewSummary, assignee_id: str) -> None:
        """Forget one; forgetting what is not noted is fine."""
        self._table.delete(_assigned(review.organization_id, assignee_id), _time(review))


def _assigned(organization_id: str, assignee_id: str) -> str:
    return f"{organization_id}#reviews#{assignee_id}"


def _declined(organization_id: str, reviewer_id: str) -> str:
    return f"{organization_id}#declined#{reviewer_id}"


def _partition(organization_id: str, state: ReviewState) -> str:
    return f"{organization_id}#{state}"


def _time(review: ReviewSummary) -> str:
    return f"{moment(review.created_at)}#{review.id}"


def _position(partition: str, token: str) -> Item:
    state, review_time, review_id = decode_cursor(token, parts=3)
    if (
        partition.rpartition("#")[2] != state
        or not is_id("rev", review_id)
        or not review_time.endswith(f"#{review_id}")
    ):
        raise invalid_cursor()
    return {"review_state": partition, "review_time": review_time, "pk": review_id, "sk": _REVIEW}


def _item(review: Review) -> Item:
    left_out = {"id"} if review.generation else {"id", "generation"}
    return {
        "pk": review.id,
        "sk": _REVIEW,
        **review.model_dump(mode="json", exclude_none=True, exclude=left_out),
        "review_state": _partition(review.organization_id, review.state),
        "review_time": _time(review),
    }


def _summary(item: Item) -> ReviewSummary:
    return ReviewSummary.model_validate({**item, "id": item["pk"]})


def _review(item: Item) -> Review:
    return Review.model_validate({**item, "id": item["pk"]})
