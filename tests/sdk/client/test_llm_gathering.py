import asyncio
import threading

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError, NotFoundError, WaitTimeoutError


@pytest.fixture
def api(ledger):
    return ledger


@pytest.fixture
def imported(api, client, tmp_path):
    """An import that has ended, and the ids of three requests that came with it."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n{}\n{}\n")
    connection_id = api.new_connection()
    made = client.llm.import_file(
        path, format="openai", connection_id=connection_id, purpose="scoring"
    )
    ids = [f"llm_{number}" for number in range(3)]
    for row_id in ids:
        add(api, row_id, connection_id, importId=made.id)
    add(api, "llm_other", connection_id)
    return made.id, ids


def add(api, row_id, connection_id="llc_x", **fields):
    asked = {"connectionId": connection_id, "purpose": "scoring", "model": "m"}
    api._add(row_id, {**asked, "params": {"maxTokens": 8}, "priority": "normal", **fields})


def test_all_requests_of_an_import_are_waited_for(api, client, imported):
    import_id, ids = imported
    for number, row_id in enumerate(ids):
        api.end_later(row_id, 0.05 * number)
    found = client.llm.wait(import_id=import_id, timeout=20)
    assert sorted(one.id for one in found) == ids
    assert {one.status for one in found} == {"completed"}
    assert {one.id for one in client.llm.results(import_id=import_id)} == set(ids)


def test_an_import_under_way_is_waited_for_first(api, client, imported):
    import_id, ids = imported
    for row_id in ids:
        api.end(row_id)
    api.imports[import_id]["state"] = "waiting"
    with pytest.raises(WaitTimeoutError, match="was waiting after 0"):
        client.llm.wait(import_id=import_id, timeout=0.1)

    def end():
        add(api, "llm_late", importId=import_id)
        api.end("llm_late")
        api.imports[import_id]["state"] = "completed"

    threading.Timer(0.2, end).start()
    found = client.llm.request_ids(import_id=import_id, timeout=20)
    assert sorted(found) == [*ids, "llm_late"]


def test_of_a_line_that_was_retried_or_asked_again_the_last_is_meant(api, client, imported):
    import_id, ids = imported
    add(api, "llm_retry", importId=import_id, retryOf=ids[0])
    add(api, "llm_reask", importId=import_id, reaskOf=ids[1], firstRequestId=ids[1])
    add(api, "llm_reask_2", importId=import_id, reaskOf=ids[2], firstRequestId=ids[2])
    add(api, "llm_retry_2", importId=import_id, retryOf="llm_reask_2")
    api.end(ids[0], "error", error={"code": "rejected", "message": "no"})
    api.end(ids[1], reaskedAs="llm_reask")
    api.end(ids[2], reaskedAs="llm_reask_2")
    for row_id in ("llm_retry", "llm_reask", "llm_reask_2", "llm_retry_2"):
        api.end(row_id)
    last = {"llm_retry", "llm_reask", "llm_retry_2"}
    assert {one.id for one in client.llm.results(import_id=import_id)} == last
    every = client.llm.request_ids(import_id=import_id, follow_reasks=False)
    assert set(every) == {*ids, "llm_retry", "llm_reask", "llm_reask_2", "llm_retry_2"}


def test_all_that_a_batch_was_made_for_is_waited_for_page_by_page(api, client):
    ids = [f"llm_{number}" for number in range(205)]
    for row_id in ids:
        add(api, row_id)
        api.end(row_id)
    batch_id = api.new_batch(*ids)
    assert client.llm.request_ids(batch_id=batch_id) == ids
    assert len(client.llm.wait(batch_id=batch_id)) == 205


def test_an_asynchronous_client_does_the_same(api, imported):
    import_id, ids = imported
    for row_id in ids:
        api.end(row_id)

    async def run():
        async with AsyncAutotuneClient(api_key=api.api_key, base_url=api.base_url) as client:
            found = [one.id async for one in client.llm.results(import_id=import_id)]
            assert sorted(found) == ids
            assert len(await client.llm.wait(import_id=import_id)) == 3

    asyncio.run(run())


def test_just_one_of_ids_import_and_batch_is_given(api, client, imported):
    import_id, ids = imported
    for given in ({}, {"import_id": import_id, "batch_id": "lbt_x"}):
        with pytest.raises(InvalidInputError, match="either ids, or import_id, or batch_id"):
            client.llm.wait(**given)
        with pytest.raises(InvalidInputError, match="either ids, or import_id, or batch_id"):
            next(client.llm.results(**given))
    with pytest.raises(InvalidInputError, match="either ids"):
        client.llm.wait(ids, import_id=import_id)
    with pytest.raises(NotFoundError):
        client.llm.wait(batch_id="lbt_none")
    api.imports[import_id]["state"] = "awaiting_upload"
    with pytest.raises(InvalidInputError, match="an import that was started"):
        client.llm.wait(import_id=import_id)
