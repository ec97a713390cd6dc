"""Lists by filters that no index has: how much a page reads, and how many pages there are."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.component.ledger.test_filters import change, listed
from tests.support.ledger import Ledger
from tests.support.row_reads import counted_row_reads

LISTS = "autotune_platform.ledger.row_lists"
PARTITIONS = 5 * 4
"""A list is in one partition for each status and shard."""


def pages(ledger: Ledger, **query: Any) -> tuple[list[str], list[Counter[str]]]:
    """Go through a list; return the ids, and what each page read."""
    found: list[str] = []
    read = []
    while True:
        with counted_row_reads() as counts:
            answer = ledger.platform.call("GET", "/api/v1/llm-requests", query=query)
        assert answer.status == 200, answer.text
        found += [one["id"] for one in answer.json["requests"]]
        read.append(counts)
        if (token := answer.json.get("nextToken")) is None:
            return found, read
        query["nextToken"] = token


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page looks at 40 requests, 20 at a time."""
    monkeypatch.setattr(f"{LISTS}.MOST_LOOKED_AT", 40)
    monkeypatch.setattr(f"{LISTS}._AT_A_TIME", 20)


def test_one_page_looks_at_many_requests_for_the_few_that_match(ledger: Ledger, few: None) -> None:
    patient = ledger.connect(minRows=200)
    wanted = ledger.enqueue(patient, *"abc", deckId="d-1")
    ledger.enqueue(patient, *map(str, range(117)), deckId="d-2")
    found, read = pages(ledger, deckId="d-1", limit="2")
    assert sorted(found) == sorted(wanted)
    assert [one["rows"] for one in read] == [40, 40, 40, 1]
    assert all(one["queries"] <= PARTITIONS for one in read)


def test_a_page_ends_when_its_time_is_over(
    ledger: Ledger, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{LISTS}.MOST_SECONDS", 0)
    patient = ledger.connect(minRows=200)
    wanted = ledger.enqueue(patient, "a", completionId="c-1")
    ledger.enqueue(patient, *map(str, range(49)))
    found, read = pages(ledger, completionId="c-1")
    assert found == wanted
    assert [one["rows"] for one in read] == [20, 20, 10]


def test_a_page_without_such_a_filter_reads_what_it_shows(ledger: Ledger) -> None:
    ids = ledger.enqueue(ledger.connect(minRows=200), *map(str, range(12)))
    found, read = pages(ledger, limit="6")
    assert sorted(found) == sorted(ids)
    assert [one["rows"] for one in read] == [6, 6]
    assert [one["queries"] for one in read] == [PARTITIONS] * 2
    _, (one,) = pages(ledger, status="queued")
    assert (one["rows"], one["queries"]) == (12, PARTITIONS // 5)


def test_what_is_outside_of_the_times_is_not_read(ledger: Ledger) -> None:
    patient = ledger.connect(minRows=200)
    ledger.enqueue(patient, *"abcdef", deckId="d")
    between = datetime.now(UTC).isoformat()
    young = ledger.enqueue(patient, *"gh", deckId="d")
    found, (read,) = pages(ledger, deckId="d", createdAfter=between)
    assert sorted(found) == sorted(young)
    assert read["rows"] == 2


def test_requests_of_a_completion_or_a_deck_are_found_and_canceled(ledger: Ledger) -> None:
    patient = ledger.connect(minRows=100)
    of_both = ledger.enqueue(patient, "a", "b", completionId="cmp-1", deckId="d-1")
    of_deck = ledger.enqueue(patient, "c", deckId="d-1")
    ledger.enqueue(patient, "d", completionId="cmp-2")
    assert listed(ledger, completionId="cmp-1") == set(of_both)
    assert listed(ledger, deckId="d-1") == {*of_both, *of_deck}
    assert listed(ledger, completionId="cmp-2", deckId="d-1") == set()
    canceled, _ = change(ledger, "cancel", completionId="cmp-1", deckId="d-1")
    assert sorted(canceled) == sorted(of_both)
    again, _ = change(ledger, "retry", deckId="d-1")
    assert listed(ledger, deckId="d-1", status="queued") == {*again, *of_deck}


def test_requests_of_a_name_of_their_caller_are_found_and_canceled(ledger: Ledger) -> None:
    patient = ledger.connect(minRows=100)
    named = ledger.enqueue(patient, "a", "b", customId="zeile 7 ü")
    ledger.enqueue(patient, "c", customId="zeile 8")
    ledger.enqueue(patient, "d")
    assert listed(ledger, customId="zeile 7 ü") == set(named)
    canceled, _ = change(ledger, "cancel", customId="zeile 7 ü")
    assert sorted(canceled) == sorted(named)
    assert listed(ledger, customId="none") == set()


def test_another_organisations_ids_find_nothing(ledger: Ledger) -> None:
    ledger.enqueue(ledger.connect(minRows=100), "a", deckId="d-1")
    other = ledger.platform.new_organization("second")
    answer = ledger.platform.call(
        "GET", "/api/v1/llm-requests", query={"deckId": "d-1"}, api_key=other
    )
    assert answer.json["requests"] == []
