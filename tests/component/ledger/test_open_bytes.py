"""Bytes of what is under way are limited by organisation, and counted where rows are counted."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune.protocol.limits import MAX_OPEN_LLM_BYTES, MIN_OPEN_LLM_BYTES
from tests.component.access.test_limits import limit
from tests.component.ledger import test_jobs
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import MODEL, PRICES, Ledger, later, row

PATH = "/api/v1/llm-requests"
# Of what a request has beside its texts: no parameters that the provider alone knows.
BESIDE = len("{}")


def place(ledger: Ledger) -> dict[str, Any]:
    return {"pk": f"open#{ledger.platform.me()['organizationId']}", "sk": "rows"}


def counted(ledger: Ledger) -> tuple[int, int]:
    """Rows and bytes that are under way, as the table counts them."""
    found = boto3.resource("dynamodb").Table("ledger").get_item(Key=place(ledger))["Item"]
    return int(found["rows"]), int(found["bytes"])


def fill(ledger: Ledger, number: int) -> None:
    """Have so many bytes under way, of nobody's."""
    boto3.resource("dynamodb").Table("ledger").update_item(
        Key=place(ledger),
        UpdateExpression="ADD #b :n",
        ExpressionAttributeNames={"#b": "bytes"},
        ExpressionAttributeValues={":n": number},
    )


def test_bytes_of_texts_with_variables_put_in_are_counted(ledger: Ledger) -> None:
    connection = ledger.connect(minRows=100)
    asked = {"system": "é", "user": "{{it}}{{it}}", "variables": {"it": "abc", "unused": "x" * 99}}
    ledger.enqueue(connection, "12345")
    ledger.enqueue(connection, "", input=asked)
    assert counted(ledger) == (2, 5 + 2 + 6 + 2 * BESIDE)


def test_what_would_be_over_the_limit_is_refused_with_what_is_there_and_what_to_do(
    ledger: Ledger,
) -> None:
    connection = ledger.connect(minRows=100)
    fill(ledger, MAX_OPEN_LLM_BYTES - 10 - BESIDE)
    two = {"requests": [row(connection, "12345"), row(connection, "6789")]}
    refused = ledger.platform.call("POST", f"{PATH}/batch", two)
    assert (refused.status, refused.json["code"]) == (429, "too_many_open_requests")
    assert refused.json["limit"] == {
        "name": "bytes of open requests",
        "maximum": MAX_OPEN_LLM_BYTES,
        "unit": "bytes",
        "actual": MAX_OPEN_LLM_BYTES - 10 - BESIDE,
    }
    assert "openLlmBytes" in refused.json["detail"]
    assert "cancel" in refused.json["detail"]
    assert int(refused.headers["retry-after"]) > 0
    assert ledger.platform.call("GET", PATH).json["requests"] == []
    # To the byte.
    assert ledger.platform.call("POST", PATH, row(connection, "1" * 11)).status == 429
    (fits,) = ledger.enqueue(connection, "1" * 10)
    assert counted(ledger)[1] == MAX_OPEN_LLM_BYTES
    ledger.platform.call("POST", f"{PATH}/{fits}/cancel")
    assert ledger.platform.call("POST", PATH, row(connection, "1" * 10)).status == 202


def test_operators_set_the_limit_and_a_request_above_it_never_fits(ledger: Ledger) -> None:
    limits = limit(ledger.platform, openLlmBytes=MIN_OPEN_LLM_BYTES)
    assert limits["openLlmBytes"] == MIN_OPEN_LLM_BYTES
    asked = {"user": "{{it}}" * 40, "variables": {"it": "x" * 100_000}}
    rows = {"requests": [row(ledger.connect(), input=asked)] * 26}
    refused = ledger.platform.call("POST", f"{PATH}/batch", rows)
    assert (refused.status, refused.json["limit"]["maximum"]) == (429, MIN_OPEN_LLM_BYTES)
    assert "send fewer at a time" in refused.json["detail"]


@pytest.mark.concurrent
def test_many_at_once_never_pass_the_limit_together(ledger: Ledger) -> None:
    connection = ledger.connect(minRows=100)
    fill(ledger, MAX_OPEN_LLM_BYTES - 3 * (100 + BESIDE))

    def enqueue(_: int) -> int:
        return ledger.platform.call("POST", PATH, row(connection, "x" * 100)).status

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(enqueue, range(12)))
    assert statuses.count(202) <= 3
    while statuses.count(202) < 3:  # a table that was busy said 503
        statuses.append(enqueue(0))
    assert enqueue(0) == 429
    assert counted(ledger) == (3, MAX_OPEN_LLM_BYTES)


@pytest.mark.parametrize("how", ["completed", "canceled", "expired", "revoked", "refused"])
def test_a_row_is_counted_off_once_however_it_ends(ledger: Ledger, how: str) -> None:
    waits = how in {"canceled", "expired", "revoked"}
    prices = {MODEL: PRICES[MODEL], "nobodys": PRICES[MODEL]}
    connection = ledger.connect(
        minRows=100 if waits else 1, maxWaitSeconds=60_000, prices=prices, batches="never"
    )
    fields = {"completeBy": "2035-01-01T00:00:00Z"} if how == "expired" else {}
    model = "nobodys" if how == "refused" else MODEL
    ids = ledger.enqueue(connection, "a", "bb", "ccc", model=model, **fields)
    assert counted(ledger) == (3, 6 + 3 * BESIDE)
    path = f"/api/v1/llm-connections/{connection}"
    if how == "canceled":
        ledger.platform.call("POST", f"{PATH}/cancel", {"filter": {}})
    elif how == "revoked":
        ledger.platform.call("DELETE", path)
    if how != "canceled":
        passed = timedelta(days=30_000 if how == "expired" else 0)
        with later(passed):
            ledger.step({"group": f"group#{connection}#calls#{model}"})
            ledger.run()
    ledger.run_jobs()
    ended = {"completed": "completed", "canceled": "canceled"}.get(how, "error")
    assert {ledger.read(one)["status"] for one in ids} == {ended}
    assert counted(ledger) == (0, 0)


def test_what_goes_back_to_its_queue_is_counted_on_and_once(ledger: Ledger) -> None:
    ids = test_jobs.enqueue(ledger, "openai", 3)
    ledger.fake.world.traps.arm(name="row_error", times=2, params={"status": 500})
    before = counted(ledger)
    ledger.run_jobs()
    found = [ledger.read(one) for one in ids]
    assert {one["status"] for one in found} == {"completed"}
    assert max(len(one["attempts"]) for one in found) > 1
    assert (before[0], counted(ledger)) == (3, (0, 0))


def test_an_import_waits_for_room_for_its_bytes(ledger: Ledger, imports: Imports) -> None:
    connection = ledger.connect(maxRows=100)
    fill(ledger, MAX_OPEN_LLM_BYTES)
    import_id = imports.start(connection, jsonl(openai_line("a")))
    assert not imports.step(import_id)["done"]
    found = imports.read(import_id)
    assert (found["state"], "openLlmBytes" in found["waitingBecause"]) == ("waiting", True)
    fill(ledger, -MAX_OPEN_LLM_BYTES)
    assert imports.step(import_id)["done"]
    assert imports.read(import_id)["state"] == "completed"


def test_rows_from_before_bytes_were_counted_leave_the_limit_right(ledger: Ledger) -> None:
    connection = ledger.connect(minRows=100)
    (old,) = ledger.enqueue(connection, "x" * 50)
    fill(ledger, -50 - BESIDE)
    ledger.platform.call("POST", f"{PATH}/{old}/cancel")
    assert counted(ledger) == (0, -50 - BESIDE)
    asked = {"user": "{{it}}" * 40, "variables": {"it": "x" * 100_000}}
    limit(ledger.platform, openLlmBytes=MIN_OPEN_LLM_BYTES)
    rows = {"requests": [row(connection, input=asked)] * 26}
    assert ledger.platform.call("POST", f"{PATH}/batch", rows).status == 429
