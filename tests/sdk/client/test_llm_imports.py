"""Files of requests, uploaded and waited for by either flavour of the client."""

import asyncio
import logging

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError, LocalFileError, WaitTimeoutError
from autotune.client.errors import UploadError
from autotune.client.llm_uploading import _PIECE_BYTES
from tests.support.http_faults import Fault


@pytest.fixture
def api(ledger):
    """The ledger's API in place of the platform's."""
    return ledger


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\nbroken\n{"b": "' + b"x" * (2 * _PIECE_BYTES) + b'"}\n')
    return path


@pytest.fixture
def options(api):
    return {"format": "openai", "connection_id": api.new_connection(), "purpose": "scoring"}


def test_a_file_is_uploaded_started_and_waited_for(api, client, file, options, caplog):
    caplog.set_level(logging.INFO)
    uploaded, seen = [], []
    done = client.llm.import_file(
        file,
        **options,
        defaults={"labels": {"run": "7"}},
        on_upload=uploaded.append,
        on_progress=seen.append,
    )
    assert (done.state, done.counts.enqueued, done.counts.rejected) == ("completed", 2, 1)
    assert api.files[done.id] == file.read_bytes()
    assert uploaded[-1] == file.stat().st_size
    assert [one.state for one in seen] == ["running", "completed"]
    (put,) = [one for one in api.received if one.method == "PUT"]
    assert "x-autotune-signature" not in put.headers, "no key goes where files lie"
    assert put.headers["content-length"] == str(file.stat().st_size)
    assert "transfer-encoding" not in put.headers, "S3 takes none"
    errors = client.llm.import_errors(done.id)
    assert [(one.line, one.message) for one in errors] == [(2, "it is no JSON object")]
    assert "secret" not in caplog.text
    client.llm.delete_import(done.id)
    assert client.llm.get_import(done.id).state == "canceled"


def test_the_same_key_goes_on_and_uploads_once(api, client, file, options):
    api.misbehave(Fault(where="POST .*/start", status=400, code="invalid_request"))
    with pytest.raises(Exception, match="injected"):
        client.llm.import_file(file, **options, idempotency_key="k")
    first = client.llm.import_file(file, **options, idempotency_key="k")
    again = client.llm.import_file(file, **options, idempotency_key="k")
    assert first.id == again.id
    assert api.count("PUT") == 2
    assert api.count("start") == 2


def test_an_upload_that_fails_is_tried_again_from_its_beginning(api, client, file, options):
    api.misbehave(Fault(where="PUT", status=503, body=b"slow down", headers={"Retry-After": "0"}))
    done = client.llm.import_file(file, **options)
    assert api.files[done.id] == file.read_bytes()
    api.misbehave(Fault(where="PUT", status=403, body=b"<Code>AccessDenied</Code>"))
    with pytest.raises(UploadError, match="403"):
        client.llm.import_file(file, **options)


def test_who_waits_too_long_is_told_and_the_import_goes_on(api, client, file, options):
    api.looks = 100
    with pytest.raises(WaitTimeoutError, match="running"):
        client.llm.import_file(file, **options, idempotency_key="k", timeout=0)
    api.imports = {name: {**one, "looks": 1} for name, one in api.imports.items()}
    assert client.llm.import_file(file, **options, idempotency_key="k").state == "completed"
    assert api.count("PUT") == 1


def test_what_is_no_file_or_too_large_is_refused_before_anything_is_sent(
    api, client, tmp_path, options
):
    before = len(api.received)
    with pytest.raises(LocalFileError):
        client.llm.import_file(tmp_path / "none", **options)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(200_000_001)
    (tmp_path / "empty").touch()
    for name in ("large", "empty"):
        with pytest.raises(InvalidInputError, match="200000000 bytes"):
            client.llm.import_file(tmp_path / name, **options)
    assert len(api.received) == before


def test_an_event_loop_imports_as_well(api, file, options):
    async def run():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            done = await client.llm.import_file(file, **options)
            return done, await client.llm.import_errors(done.id)

    done, errors = asyncio.run(run())
    assert (done.state, api.files[done.id]) == ("completed", file.read_bytes())
    assert len(errors) == 1


def test_imports_are_walked_through_youngest_first_and_by_state(api, client, file, options):
    done = client.llm.import_file(file, **options, idempotency_key="first")
    other = client.llm.import_file(file, **options, idempotency_key="second")
    client.llm.delete_import(other.id)
    assert [one.id for one in client.llm.list_imports(page_size=1)] == [other.id, done.id]
    assert api.count("GET /api/v1/llm-imports$") == 2
    (completed,) = client.llm.list_imports(state="completed")
    assert (completed.id, completed.counts.enqueued, completed.report) == (done.id, 2, None)


def test_an_event_loop_walks_through_imports(api, file, options):
    async def run():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            done = await client.llm.import_file(file, **options)
            assert [one.id async for one in client.llm.list_imports()] == [done.id]

    asyncio.run(run())
