"""Where results are stored: what a version of a grader's judge says of a sample, once.

A result lies under its grader, by version and sample; a small item under the sample leads to it,
and the judge's words have an item of their own: whoever counts results reads neither. All three are
written together.

Ceiling: the results of one grader are one partition, which takes 1,000 writes a second.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autotune_platform.decks.items import item_of, model_from, number
from autotune_platform.decks.result_models import GraderResult, ResultWords
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import ANYTHING, Condition, Put

RESULT, REPEAT = "result#", "repeat#"
WORDS = "words#"
_NEW = Condition(exists=False)
_READ_AT_ONCE = 1_000

Place = tuple[str, int, str]
"""Of a result: grader, version and sample."""


class ResultRepository:
    """Results in the ``decks`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(
        self, result: GraderResult, words: ResultWords, *, before: GraderResult | None = None
    ) -> bool:
        """Store a result; return False where another was stored meanwhile.

        Args:
            before: the result that stands there, which failed or was canceled in another run.
        """
        sk = _key(result)
        condition = _NEW
        if before is not None:
            condition = Condition(only_if={"run_id": before.run_id, "status": before.status})
        item = item_of(result, pk=result.grader_id, sk=sk)
        lead = {
            "pk": result.sample_id,
            "sk": lead_key(result.grader_id, sk),
            "organization_id": result.organization_id,
            "grader_id": result.grader_id,
            "result_sk": sk,
        }
        said = {
            "pk": result.grader_id,
            "sk": WORDS + sk,
            "organization_id": result.organization_id,
            "words": zlib.compress(words.model_dump_json(exclude_none=True).encode()),
        }
        writes = [
            Put(item=item, condition=condition),
            Put(item=said, condition=ANYTHING),
            Put(item=lead, condition=ANYTHING),
        ]
        return not self._table.transact(writes)

    def standing(self, results: Iterable[GraderResult]) -> dict[str, GraderResult]:
        """Return what stands in the places of results, by their ids."""
        keys = [(one.grader_id, _key(one)) for one in results]
        found = (model_from(one, GraderResult) for one in self._table.get_many(keys).values())
        return {one.id: one for one in found}

    def first(self, places: Iterable[Place]) -> dict[Place, GraderResult]:
        """Return results by grader, version and sample, those of repeated judgements left out."""
        keys = [(grader_id, result_key(version, id_)) for grader_id, version, id_ in places]
        found = (model_from(one, GraderResult) for one in self._table.get_many(keys).values())
        return {(one.grader_id, one.version, one.sample_id): one for one in found}

    def again(self, places: Iterable[Place]) -> dict[Place, list[GraderResult]]:
        """Return repeated judgements by grader, version and sample: a query for each."""
        found: dict[Place, list[GraderResult]] = {}
        for place in places:
            grader_id, version, sample_id = place
            prefix = f"{results_of(version, repeated=True)}{sample_id}#"
            items = self._table.items(grader_id, starting=prefix)
            found[place] = [model_from(item, GraderResult) for item in items]
        return found

    def of_version(
        self, grader_id: str, version: int, *, repeated: bool = False
    ) -> Iterator[GraderResult]:
        """Yield all first results of a version, or all repeated ones, by sample, oldest first."""
        items = self._table.items(grader_id, starting=results_of(version, repeated=repeated))
        return (model_from(item, GraderResult) for item in items)

    def newest(self, grader_id: str, version: int, *, limit: int) -> list[GraderResult]:
        """Return the results of the newest samples, as many as one page holds at most."""
        page = self._table.query(
            grader_id, starting=results_of(version), newest_first=True, limit=limit
        )
        return [model_from(item, GraderResult) for item in page.items]

    def page(
        self,
        grader_id: str,
        version: int,
        *,
        repeated: bool,
        wanted: Mapping[str, Any],
        limit: int,
        next_token: str | None,
    ) -> tuple[list[GraderResult], str | None]:
        """Return a page of a version's results, those of the newest samples first.

        A page reads at most a thousand, so that it may have fewer than its limit.

        Args:
            wanted: values that attributes must have.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        prefix = results_of(version, repeated=repeated)
        after = None
        if next_token is not None:
            (last,) = decode_cursor(next_token, parts=1)
            if not last:
                raise invalid_cursor()
            after = {"pk": grader_id, "sk": prefix + last}
        page = self._table.query(
            grader_id,
            starting=prefix,
            newest_first=True,
            limit=_READ_AT_ONCE if wanted else limit,
            after=after,
            where=_filter(wanted) if wanted else None,
        )
        shown = page.items[:limit]
        last_sk = page.last_key["sk"] if page.last_key else None
        if len(page.items) > limit:
            last_sk = shown[-1]["sk"]
        token = encode_cursor(last_sk.removeprefix(prefix)) if last_sk else None
        return [model_from(item, GraderResult) for item in shown], token

    def of_sample(self, sample_id: str, *, limit: int) -> list[GraderResult]:
        """Return the results of a sample by grader and version, the latest first."""
        leads = self._table.query(sample_id, starting="result#", newest_first=True, limit=limit)
        keys = [(item["grader_id"], item["result_sk"]) for item in leads.items]
        found = self._table.get_many(keys)
        return [model_from(found[key], GraderResult) for key in keys if key in found]

    def words(self, results: Iterable[GraderResult]) -> dict[str, ResultWords]:
        """Return what judges say, by the id of the result."""
        by_key = {(one.grader_id, WORDS + _key(one)): one.id for one in results}
        found = self._table.get_many(by_key)
        return {by_key[key]: _words(item) for key, item in found.items()}

    def delete_of_sample(self, sample_id: str) -> None:
        """Delete all results of a sample, with their words; what leads to them goes last."""
        for lead in self._table.items(sample_id, starting="result#"):
            for sk in (WORDS + lead["result_sk"], lead["result_sk"]):
                self._table.delete(lead["grader_id"], sk)
            self._table.delete(sample_id, lead["sk"])


def lead_key(grader_id: str, sk: str) -> str:
    """Return the sort key of what leads from a sample to a result of a grader."""
    return f"result#{grader_id}#{sk}"


def results_of(version: int, *, repeated: bool = False) -> str:
    """Return what the sort keys of a version's results start with."""
    return f"{REPEAT if repeated else RESULT}{number(version)}#"


def result_key(version: int, sample_id: str) -> str:
    """Return the sort key of a result."""
    return results_of(version) + sample_id


def _key(result: GraderResult) -> str:
    if result.repeated:
        return f"{results_of(result.version, repeated=True)}{result.sample_id}#{result.run_id}"
    return result_key(result.version, result.sample_id)


def _words(item: Item) -> ResultWords:
    return ResultWords.model_validate_json(zlib.decompress(item["words"]))


def _filter(wanted: Mapping[str, Any]) -> Filter:
    names = {f"#w{place}": name for place, name in enumerate(wanted)}
    values = {f":w{place}": value for place, value in enumerate(wanted.values())}
    expression = " AND ".join(f"#w{place} = :w{place}" for place in range(len(names)))
    return Filter(expression, names, values)
