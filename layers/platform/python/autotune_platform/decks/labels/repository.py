"""Where ratings, ground truths and leases are stored: in the partition of their grader."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from autotune.protocol.deck_feedback import Selection, TruthState
from autotune.protocol.deck_samples import Split
from autotune_platform.decks.items import item_of, model_from, number
from autotune_platform.decks.labels.models import Adjudication, Lease, Rating, Truth
from autotune_platform.decks.models import DeckGrader
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import Condition, Delete, Put, Write

_FEEDBACK = "feedback#"
_TRUTH = "truth#"
_LEASE = "lease#"
_SHOWN = "shown#"
_FRESH = "fresh#"
_ADJUDICATION = "adjudication#"
_SKIPPED = "skipped#"
_PROBABILITY = "probability"
_NEW = Condition(exists=False)
_RATED = ("sk", "raters", "state", "split", "selection")


class Rated(FrozenModel):
    """Who rated a sample, and what came of it, without what they said."""

    raters: frozenset[str]
    state: TruthState
    split: Split
    selection: Selection

    @property
    def is_undrawn(self) -> bool:
        """Whether it is held out, and only people rated it who chose it: no figure has it."""
        return self.split == "holdout" and self.selection != "random"


class LabelRepository:
    """Ratings, ground truths, leases, and to whom results were shown, in the table ``decks``."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def truth(self, grader_id: str, sample_id: str) -> Truth | None:
        """Return what counts as true of a sample to a grader, if anybody rated it."""
        item = self._table.get(grader_id, _TRUTH + sample_id)
        return model_from(item, Truth) if item else None

    def truths_of(self, grader_id: str, sample_ids: Iterable[str]) -> dict[str, Truth]:
        """Return the truths of those samples that somebody rated, by sample."""
        found = self._table.get_many((grader_id, _TRUTH + one) for one in sample_ids)
        truths = (model_from(item, Truth) for item in found.values())
        return {truth.sample_id: truth for truth in truths}

    def truths(
        self, grader_id: str, *, split: Split | None = None, rated_after: datetime | None = None
    ) -> Iterator[Truth]:
        """Yield every truth of a grader, or those of one half, a page in memory at a time.

        Args:
            rated_after: only those that were first rated after it, give or take a second.
        """
        wanted: dict[str, tuple[str, str]] = {"split": ("=", split)} if split else {}
        if rated_after is not None:
            # To the second before: fractions of one are left out of texts where they are 0.
            second = (rated_after - timedelta(seconds=1)).astimezone(UTC)
            wanted["first_at"] = (">", f"{second:%Y-%m-%dT%H:%M:%S}")
        where = Filter(
            " AND ".join(f"#{name} {how} :{name}" for name, (how, _) in wanted.items()),
            {f"#{name}": name for name in wanted},
            {f":{name}": value for name, (_, value) in wanted.items()},
        )
        for item in self._table.items(grader_id, starting=_TRUTH, where=where if wanted else None):
            yield model_from(item, Truth)

    def count_fresh(self, grader: DeckGrader, since: datetime) -> int:
        """Count one more label since a calibration was measured; return how many that makes."""
        sk = _FRESH + since.isoformat()
        while True:
            counted = self._table.update(grader.id, sk, {}, adding={"labels": 1})
            if counted is not None:
                return int(counted["labels"])
            first = {"organization_id": grader.organization_id, "labels": 1}
            if self._table.put_new({"pk": grader.id, "sk": sk, **first}):
                return 1

    def set_fresh(self, grader_id: str, since: datetime, labels: int) -> None:
        """Set how many labels there are that nobody has looked at."""
        self._table.update(grader_id, _FRESH + since.isoformat(), {"labels": labels})

    def truth_page(
        self, grader_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Truth], str | None]:
        """Return a page of a grader's truths, by sample.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        items, token = self._page(grader_id, _TRUTH, limit=limit, next_token=next_token)
        return [model_from(item, Truth) for item in items], token

    def truths_from(self, grader_id: str, *, after: str, limit: int) -> list[Truth]:
        """Return so many truths of a grader, by sample, behind one; from the first where empty."""
        items = self._table.items(
            grader_id,
            starting=_TRUTH,
            after={"pk": grader_id, "sk": _TRUTH + after} if after else None,
            limit=limit,
        )
        return [model_from(item, Truth) for item in islice(items, limit)]

    def rated(self, grader_id: str, *, state: TruthState | None = None) -> dict[str, Rated]:
        """Return which samples were rated for a grader, and by whom; in one state if named."""
        where = Filter("#state = :state", {"#state": "state"}, {":state": state}) if state else None
        items = self._table.items(grader_id, starting=_TRUTH, attributes=_RATED, where=where)
        return {item["sk"].removeprefix(_TRUTH): model_from(item, Rated) for item in items}

    def rated_of(self, grader_id: str, sample_ids: Iterable[str]) -> dict[str, Rated]:
        """Return which of some samples were rated for a grader, and by whom."""
        keys = [(grader_id, _TRUTH + one) for one in sample_ids]
        found = self._table.get_many(keys, attributes=_RATED[1:])
        return {sk.removeprefix(_TRUTH): model_from(one, Rated) for (_, sk), one in found.items()}

    def rating(self, grader_id: str, sample_id: str, rater: str, correction: int) -> Rating | None:
        """Return one rating."""
        item = self._table.get(grader_id, _feedback_key(sample_id, rater, correction))
        return model_from(item, Rating) if item else None

    def ratings(
        self, grader_id: str, *, sample_id: str | None, limit: int, next_token: str | None
    ) -> tuple[list[Rating], str | None]:
        """Return a page of ratings, by sample and rater; of one sample if it is named.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        prefix = _FEEDBACK + (f"{sample_id}#" if sample_id else "")
        items, token = self._page(grader_id, prefix, limit=limit, next_token=next_token)
        return [model_from(item, Rating) for item in items], token

    def ratings_by(
        self,
        rater: str,
        grader_id: str,
        *,
        sample_id: str | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[Rating], str | None]:
        """Return a page of one person's ratings, as ``ratings``; no token names another person.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        after = "" if next_token is None else decode_cursor(next_token, parts=1)[0]
        if after and not after.startswith(_FEEDBACK + (f"{sample_id}#" if sample_id else "")):
            raise invalid_cursor()
        begin = after.removeprefix(_FEEDBACK).partition("#")[0]
        rated = [sample_id] if sample_id else self._rated_by(rater, grader_id)
        ids = [one for one in rated if one >= begin]
        # Each has a rating: one more than fit fill the page behind those of the page before.
        some = ids[: limit + 1]
        truths = self.truths_of(grader_id, some)
        keys = [
            key
            for one in some
            if one in truths and (voice := truths[one].voices.get(rater)) is not None
            for correction in range(voice.corrections + 1)
            if (key := _feedback_key(one, rater, correction)) > after
        ]
        taken = keys[:limit]
        found = self._table.get_many((grader_id, key) for key in taken)
        ratings = [
            model_from(found[grader_id, key], Rating) for key in taken if (grader_id, key) in found
        ]
        is_more = len(keys) > limit or len(ids) > len(some)
        return ratings, encode_cursor(taken[-1]) if taken and is_more else None

    def _rated_by(self, rater: str, grader_id: str) -> list[str]:
        """Return the samples that a person rated, by id."""
        return sorted(id_ for id_, one in self.rated(grader_id).items() if rater in one.raters)

    def latest_ratings(
        self, grader_id: str, words: Iterable[tuple[str, str, int]]
    ) -> dict[tuple[str, str], Rating]:
        """Return ratings by sample and rater; each is named with its number of corrections."""
        found = self.ratings_of(grader_id, words)
        return {(rating.sample_id, rating.rater): rating for rating in found}

    def ratings_of(self, grader_id: str, words: Iterable[tuple[str, str, int]]) -> list[Rating]:
        """Return ratings, each named by sample, rater and number of corrections."""
        keys = ((grader_id, _feedback_key(*word)) for word in words)
        return [model_from(item, Rating) for item in self._table.get_many(keys).values()]

    def store(self, writes: Sequence[Write]) -> bool:
        """Do all of up to 100 writes, or none; return False where a condition did not hold.

        Raises:
            UnavailableError: the table is busy.
        """
        return not writes or not self._table.transact(writes)

    def leases(self, grader_id: str, *, now: int) -> list[Lease]:
        """Return the leases of a grader's samples that hold at a Unix second."""
        items = self._table.items(grader_id, starting=_LEASE)
        leases = (model_from(item, Lease) for item in items)
        return [lease for lease in leases if lease.until > now]

    def lease(self, grader_id: str, sample_id: str) -> Lease | None:
        """Return the last lease of a sample, which may have run out."""
        item = self._table.get(grader_id, _LEASE + sample_id)
        return model_from(item, Lease) if item else None

    def take(self, grader_id: str, lease: Lease, *, now: int) -> bool:
        """Lease a sample; return False where somebody holds it."""
        return self._table.put_new(_lease_item(grader_id, lease), or_expired_at=now)

    def extend(self, grader_id: str, lease: Lease, *, until: int) -> Lease | None:
        """Let a lease hold longer; return None where it is the holder's no more."""
        kept = self._table.update(
            grader_id,
            _LEASE + lease.sample_id,
            {"until": until, "expires_at": until},
            only_if={"holder": lease.holder, "task": lease.task},
        )
        return model_from(kept, Lease) if kept else None

    def note_skipped(
        self, organization_id: str, grader_id: str, halves: Mapping[str, Split]
    ) -> None:
        """Remember that people left samples to others; ``halves`` has each one's half."""
        self._table.put_many(
            {
                "pk": grader_id,
                "sk": _SKIPPED + sample_id,
                "organization_id": organization_id,
                "split": split,
            }
            for sample_id, split in halves.items()
        )

    def skipped(self, grader_id: str) -> set[str]:
        """Return the held-out samples that somebody left to others, rated by now or not."""
        items = self._table.items(grader_id, starting=_SKIPPED, attributes=("sk", "split"))
        return {item["sk"].removeprefix(_SKIPPED) for item in items if item["split"] == "holdout"}

    def drawn_with(self, organization_id: str, grader_id: str, probability: float) -> float:
        """Return with which probability samples of files were drawn: this one if it is the first.

        It is kept as text, because a table has no floats.
        """
        first = {"organization_id": organization_id, "probability": repr(probability)}
        if self._table.put_new({"pk": grader_id, "sk": _PROBABILITY, **first}):
            return probability
        item = self._table.get(grader_id, _PROBABILITY)
        return float(item["probability"]) if item else probability

    def note_shown(
        self, organization_id: str, grader_id: str, principal_id: str, sample_ids: Iterable[str]
    ) -> None:
        """Remember that a judge's results are shown to a person, before they are."""
        pairs = [(sample_id, principal_id) for sample_id in sample_ids]
        known = self.shown(grader_id, pairs)
        self._table.put_many(
            _shown_item(organization_id, grader_id, *pair) for pair in pairs if pair not in known
        )

    def shown(self, grader_id: str, pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Return those pairs of sample and person to whom the result was shown."""
        wanted = {_shown_key(*pair): pair for pair in pairs}
        found = self._table.get_many((grader_id, key) for key in wanted)
        return frozenset(wanted[sk] for _, sk in found)

    def erase(self, grader_ids: Iterable[str], sample_id: str) -> None:
        """Delete all that was said of a sample, and who was shown its results; again is fine."""
        for grader_id in grader_ids:
            for prefix in (_FEEDBACK, _ADJUDICATION, _SHOWN):
                said = self._table.items(
                    grader_id, starting=f"{prefix}{sample_id}#", attributes=("sk",)
                )
                for item in said:
                    self._table.delete(grader_id, item["sk"])
            self._table.delete(grader_id, _LEASE + sample_id)
            self._table.delete(grader_id, _SKIPPED + sample_id)
            self._table.delete(grader_id, _TRUTH + sample_id)

    def _page(
        self, grader_id: str, prefix: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Item], str | None]:
        after = None
        if next_token is not None:
            (last,) = decode_cursor(next_token, parts=1)
            if not last.startswith(prefix):
                raise invalid_cursor()
            after = {"pk": grader_id, "sk": last}
        page = self._table.query(grader_id, starting=prefix, limit=limit, after=after)
        return page.items, encode_cursor(page.last_key["sk"]) if page.last_key else None


def put_rating(rating: Rating) -> Write:
    """Return the write of a rating, which must be new."""
    key = _feedback_key(rating.sample_id, rating.rater, rating.correction)
    return Put(item=item_of(rating, pk=rating.grader_id, sk=key), condition=_NEW)


def put_truth(truth: Truth, *, revision: int) -> Write:
    """Return the write of a truth, where it still has the revision that was read; 0 for none."""
    item = item_of(truth, pk=truth.grader_id, sk=_TRUTH + truth.sample_id)
    raters: Mapping[str, Any] = {"raters": sorted(truth.voices)}
    condition = Condition(only_if={"revision": revision}) if revision else _NEW
    return Put(item={**item, **raters}, condition=condition)


def put_adjudication(truth: Truth, adjudication: Adjudication) -> Write:
    """Return the write of an adjudication on its own, which no later one overwrites."""
    key = f"{_ADJUDICATION}{truth.sample_id}#{number(truth.revision)}"
    item = item_of(adjudication, pk=truth.grader_id, sk=key)
    return Put(item={**item, "organization_id": truth.organization_id}, condition=_NEW)


def show_result(rating: Rating) -> Write:
    """Return the write that shows the judge's result to who rated; it must be the first time."""
    item = _shown_item(rating.organization_id, rating.grader_id, rating.sample_id, rating.rater)
    return Put(item=item, condition=_NEW)


def nothing_shown(grader_id: str, sample_id: str, principal_id: str) -> Write:
    """Return a check that the judge's result was not shown to a person."""
    return Delete(pk=grader_id, sk=_shown_key(sample_id, principal_id), condition=_NEW)


def give_back(grader_id: str, lease: Lease) -> Write:
    """Return the write that ends a lease."""
    return Delete(
        pk=grader_id,
        sk=_LEASE + lease.sample_id,
        condition=Condition(only_if={"holder": lease.holder}),
    )


def _feedback_key(sample_id: str, rater: str, correction: int) -> str:
    later = f"#{number(correction)}" if correction else ""
    return f"{_FEEDBACK}{sample_id}#{rater}{later}"


def _shown_key(sample_id: str, principal_id: str) -> str:
    return f"{_SHOWN}{sample_id}#{principal_id}"


def _shown_item(organization_id: str, grader_id: str, sample_id: str, principal_id: str) -> Item:
    sk = _shown_key(sample_id, principal_id)
    return {"pk": grader_id, "sk": sk, "organization_id": organization_id}


def _lease_item(grader_id: str, lease: Lease) -> Item:
    item = item_of(lease, pk=grader_id, sk=_LEASE + lease.sample_id)
    return {**item, "expires_at": lease.until}
