"""Counts of what reviewers did, and of how far they agree, in the ``completions`` table.

Each count is written in one transaction with the change of the review that it is about, so that it
is counted once. Reading takes a query and at most two reads of many items, however much there is.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from autotune.protocol.review_figures import ReviewCounts, ReviewerProgress
from autotune_platform.judging.human.models import Review
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.item_format import Item
from autotune_platform.storage.table import Table

LEVELS = 11
"""Scores are counted in tenths: 0, 0.1 … 1."""

TOLERANCE = 0.1
"""Two scores that differ by no more count as the same."""

MILLIONTHS = 1_000_000
"""Differences are added up as whole numbers, which no order of additions changes."""

_ROUNDING = 1e-9
_KEPT = timedelta(days=400)
_ALL = "all#"
_COUNTED = tuple(ReviewCounts.model_fields)


class ReviewFigures:
    """What is counted of an organisation's reviews."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def done(self, review: Review, reviewer_id: str, at: datetime, *, what: str) -> list[Addition]:
        """Return what a person's step counts for.

        Args:
            what: a field of ``ReviewCounts``; a second opinion that is answered counts as both.
        """
        numbers = {what: 1}
        if what == "answered" and review.first is not None:
            numbers["second_opinions"] = 1
        return [
            self._addition(_people(review.organization_id), sort, numbers, at)
            for sort in (f"{_ALL}{reviewer_id}", _today(at, reviewer_id))
        ]

    def agreed(self, before: Review, after: Review, at: datetime) -> list[Addition]:
        """Return what an answer counts for beside other answers to the same.

        A second opinion counts beside the first. A first one counts beside each grader's, unless
        the person had looked at these: who knows them leans towards them. A correction takes back
        what was counted before.
        """
        if after.answer is None:
            return []
        sums: dict[str | None, dict[str, int]] = {}
        for review, by in ((before, -1), (after, 1)):
            for subject, other, own in _pairs(review):
                _add(sums.setdefault(subject, {}), other, own, by=by)
        # A correction counts on the day of the answer, or a pair would be on no day in whole.
        day = after.answer.answered_at.astimezone(UTC).date().isoformat()
        return [
            self._addition(_agreement(after.organization_id, subject), day, numbers, at)
            for subject, numbers in sums.items()
        ]

    def agreement(
        self, organization_id: str, subject: str | None, *, first_day: date, last_day: date
    ) -> dict[str, int]:
        """Return the sums of counts of some days, at most 90, by the name of the count.

        Args:
            subject: a task, whose second opinions count, or a grader, which counts beside people;
                None for all second opinions.
        """
        days = ("sk", first_day.isoformat(), last_day.isoformat())
        page = self._table.query(_agreement(organization_id, subject), between=days)
        sums: dict[str, int] = {}
        for item in page.items:
            for name, number in item.items():
                if name not in ("pk", "sk", "expires_at"):
                    sums[name] = sums.get(name, 0) + number
        return sums

    def of_one(self, organization_id: str, reviewer_id: str, at: datetime) -> ReviewerProgress:
        """Return what one person did; nothing yet counts as nothing."""
        return self._progress(organization_id, [{"sk": f"{_ALL}{reviewer_id}"}], at)[0]

    def of_all(
        self, organization_id: str, at: datetime, *, limit: int, next_token: str | None
    ) -> tuple[list[ReviewerProgress], str | None]:
        """Return a page of what everybody did, by name.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        pk, after = _people(organization_id), None
        if next_token is not None:
            (last,) = decode_cursor(next_token, parts=1)
            if not last.startswith(_ALL):
                raise invalid_cursor()
            after = {"pk": pk, "sk": last}
        page = self._table.query(pk, starting=_ALL, limit=limit, after=after)
        token = encode_cursor(page.last_key["sk"]) if page.last_key else None
        return self._progress(organization_id, page.items, at), token

    def _progress(
        self, organization_id: str, people: Sequence[Item], at: datetime
    ) -> list[ReviewerProgress]:
        pk = _people(organization_id)
        names = [item["sk"].removeprefix(_ALL) for item in people]
        keys = [(pk, sort) for name in names for sort in (f"{_ALL}{name}", _today(at, name))]
        found = self._table.get_many(keys)
        return [
            ReviewerProgress(
                reviewer_id=name,
                total=_counts(found.get((pk, f"{_ALL}{name}"))),
                today=_counts(found.get((pk, _today(at, name)))),
            )
            for name in names
        ]

    def _addition(self, pk: str, sk: str, numbers: Mapping[str, int], at: datetime) -> Addition:
        return Addition(
            table=self._table.name,
            pk=pk,
            sk=sk,
            numbers=numbers,
            changes={"expires_at": int((at + _KEPT).timestamp())},
        )


def level_of(value: float) -> int:
    """Return the level of a score: its tenths, halves going up."""
    return int(value * (LEVELS - 1) + 0.5 + _ROUNDING)


def pair_name(first: int, second: int) -> str:
    """Return under which name pairs of two levels are counted."""
    return f"c{first}_{second}"


def _pairs(review: Review) -> Iterator[tuple[str | None, float, float]]:
    """Yield what a review's answer stands beside: under which subject, the other's value, its own.

    There is one pair of a subject at most.
    """
    answer = review.answer
    if answer is None:
        return
    if review.first is not None:
        for subject in (None, review.task_id):
            yield subject, review.first.value, answer.value
    elif review.preliminary is not None and not answer.saw_preliminary:
        for opinion in review.preliminary.opinions:
            if opinion.value is not None:
                yield opinion.grader_id, opinion.value, answer.value


def _add(numbers: dict[str, int], first: float, second: float, *, by: int) -> None:
    difference = abs(first - second)
    counts = {
        "pairs": 1,
        "within": int(difference <= TOLERANCE + _ROUNDING),
        "difference": round(difference * MILLIONTHS),
        pair_name(level_of(first), level_of(second)): 1,
    }
    for name, number in counts.items():
        numbers[name] = numbers.get(name, 0) + by * number


def _counts(item: Item | None) -> ReviewCounts:
    return ReviewCounts(**{name: (item or {}).get(name, 0) for name in _COUNTED})


def _people(organization_id: str) -> str:
    return f"{organization_id}#reviewers"


def _agreement(organization_id: str, subject: str | None) -> str:
    return f"{organization_id}#agreement" + (f"#{subject}" if subject else "")


def _today(at: datetime, reviewer_id: str) -> str:
    return f"day#{at.astimezone(UTC).date().isoformat()}#{reviewer_id}"
