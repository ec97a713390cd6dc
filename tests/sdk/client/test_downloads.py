"""Downloads over real connections that break in every way."""

import asyncio
import dataclasses
import gzip
import json
import os
import resource
import threading
import time

import httpx
import pytest

from autotune import (
    AsyncAutotuneClient,
    AutotuneClient,
    ChecksumMismatchError,
    ConnectionFailedError,
    DownloadError,
    ExportManifest,
    ExportNotReadyError,
    InvalidInputError,
    LocalFileError,
)
from autotune.client.verified_file import VerifiedFile
from tests.support.http_faults import Fault
from tests.support.served_storage import Breakage

FIRST, SECOND = "part-00001.jsonl.gz", "part-00002.jsonl.gz"


@pytest.fixture
def hasty(client):
    """A client that does not let time pass between attempts."""
    client._session = dataclasses.replace(client.session, jitter=lambda low, high: 0.0)
    return client


@pytest.fixture
def export(api, client, monkeypatch):
    """Return a completed export of four parts."""
    monkeypatch.setattr("autotune_platform.exports.formats.MOST_RECORDS", 2)
    task_id = api.new_task()
    list(
        client.completions.submit_many(
            {"taskId": task_id, "modelId": "m", "prompt": f"p{n}", "response": "r" * 999}
            for n in range(8)
        )
    )
    return client.exports.create(format="jsonl", task_id=task_id).id


@pytest.fixture(params=["blocking", "asynchronous"])
def download(request, api, hasty, tmp_path):
    """Download with either client; parts one after the other unless told."""

    def blocking(export_id, folder=tmp_path / "out", **more):
        return hasty.exports.download(export_id, folder, **{"concurrency": 1, **more})

    def asynchronous(export_id, folder=tmp_path / "out", **more):
        async def use():
            async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
                client._session = hasty.session
                return await client.exports.download(
                    export_id, folder, **{"concurrency": 1, **more}
                )

        return asyncio.run(use())

    return blocking if request.param == "blocking" else asynchronous


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_parts_and_manifest_arrive_as_they_are_kept(api, export, download, tmp_path):
    progress = []
    there = download(export, on_progress=progress.append)
    manifest = ExportManifest.model_validate_json(there.manifest.read_bytes())
    assert [part.name for part in there.parts] == [part.name for part in manifest.parts]
    records = [
        json.loads(line)
        for part in there.parts
        for line in gzip.decompress(part.read_bytes()).decode().splitlines()
    ]
    assert len(records) == manifest.total_records == 8
    assert (there.folder, there.already_there) == (tmp_path / "out", 0)
    assert names(there.folder) == ["manifest.json", *(part.name for part in there.parts)]
    assert api.storage.names_asked()[-1] == "manifest.json"
    done = [one.bytes_done for one in progress]
    assert done == sorted(done)
    assert (progress[-1].files_done, progress[-1].files) == (5, 5)
    assert done[-1] == progress[-1].bytes == sum(p.stat().st_size for p in there.folder.iterdir())


def test_storage_sees_nothing_of_the_api(api, export, download):
    download(export)
    for asked in api.storage.asked:
        assert set(asked.headers) == {"host", "accept", "accept-encoding"}


def test_what_a_given_client_adds_by_itself_stays_away_from_storage(api, export, tmp_path):
    with httpx.Client(headers={"x-team": "rl"}, auth=("user", "password")) as http:
        http.cookies.set("session", "1", domain="127.0.0.1")
        client = AutotuneClient(base_url=api.base_url, api_key=api.api_key, http_client=http)
        client.exports.download(export, tmp_path)
    for asked in api.storage.asked:
        assert not {"x-team", "authorization", "cookie"} & set(asked.headers)


def test_several_parts_come_at_a_time(api, export, download):
    api.storage.break_next(*(Breakage(delay_seconds=0.2) for _ in range(4)))
    download(export, concurrency=3)
    assert api.storage.most_at_once == 3


@pytest.mark.parametrize(
    "breakage",
    [Breakage(of=SECOND, cut_after=40), Breakage(of=SECOND, status=503)],
    ids=["cut", "503"],
)
def test_a_part_that_breaks_is_fetched_again(api, export, download, breakage):
    api.storage.break_next(breakage, breakage)
    progress = []
    there = download(export, on_progress=progress.append)
    assert api.storage.names_asked().count(SECOND) == 3
    assert api.storage.names_asked().count(FIRST) == 1
    assert progress[-1].bytes_done == progress[-1].bytes
    assert there.parts[1].read_bytes() == api.storage.stored(SECOND)


def test_a_download_that_broke_off_goes_on_where_it_was(api, export, download, tmp_path):
    api.storage.break_next(*(Breakage(of=SECOND, cut_after=40) for _ in range(5)))
    with pytest.raises(ConnectionFailedError) as caught:
        download(export)
    assert f"while {SECOND} was fetched" in caught.value.__notes__
    # The manifest comes last, so that a folder with one is whole; nothing partial stays.
    assert names(tmp_path / "out") == [FIRST]
    api.storage.asked.clear()
    assert download(export).already_there == 1
    assert FIRST not in api.storage.names_asked()
    api.storage.asked.clear()
    assert download(export).already_there == 5
    assert api.storage.asked == []


def test_a_part_that_is_there_and_not_whole_is_replaced(api, export, download, tmp_path):
    there = download(export)
    there.manifest.unlink()
    stored = api.storage.stored(FIRST)
    for spoilt in (stored[:-1], stored[:-1] + b"x", b""):
        there.parts[0].write_bytes(spoilt)
        assert download(export).parts[0].read_bytes() == stored


@pytest.mark.parametrize(
    ("breakage", "told"),
    [
        (Breakage(of=SECOND, wrong_byte_at=100), "SHA-256"),
        (Breakage(of=SECOND, more=b"x"), "more than"),
    ],
    ids=["another-byte", "too-much"],
)
def test_wrong_bytes_are_named_and_not_left_behind(api, export, download, tmp_path, breakage, told):
    api.storage.break_next(breakage)
    with pytest.raises(ChecksumMismatchError, match=told) as caught:
        download(export)
    assert caught.value.file == SECOND
    assert str(caught.value).startswith(f"{SECOND}: ")
    assert names(tmp_path / "out") == [FIRST]
    assert download(export).already_there == 1


def test_a_manifest_with_wrong_bytes_is_not_left_behind(api, export, download, tmp_path):
    api.storage.break_next(Breakage(of="manifest.json", wrong_byte_at=3))
    with pytest.raises(ChecksumMismatchError, match=r"manifest\.json"):
        download(export)
    assert "manifest.json" not in names(tmp_path / "out")


def test_links_that_expired_are_asked_for_anew(api, export, download):
    expired = []

    def expire_after_the_first(progress):
        if progress.files_done == 1 and not expired:
            expired.append(True)
            api.storage.expire_links()

    there = download(export, on_progress=expire_after_the_first)
    assert len(there.parts) == 4
    assert api.storage.names_asked().count(SECOND) == 2
    # Once at the beginning, and once for all that is left.
    assert api.count(f"GET .*/exports/{export}") == 2


def test_links_that_never_hold_end_the_download(api, export, download, tmp_path):
    api.storage.break_next(*(Breakage(of=FIRST, status=403) for _ in range(3)))
    with pytest.raises(DownloadError, match=r"part-00001.*127\.0\.0\.1 answered 403 Forbidden"):
        download(export)
    assert names(tmp_path / "out") == []


def test_an_export_that_is_deleted_meanwhile_is_told(export, client, download, tmp_path):
    def delete(progress):
        if progress.files_done == 1:
            client.exports.delete(export)

    with pytest.raises(ExportNotReadyError, match="is canceled"):
        download(export, on_progress=delete)
    assert names(tmp_path / "out") == [FIRST]


def test_a_folder_of_another_export_is_left_alone(api, client, export, download, tmp_path):
    download(export)
    other = client.exports.create(format="jsonl", min_score=0.5).id
    with pytest.raises(LocalFileError, match="holds another export"):
        download(other)
    (tmp_path / "out" / "manifest.json").unlink()
    (tmp_path / "out" / "part-00009.parquet").write_bytes(b"")
    with pytest.raises(LocalFileError, match=r"holds part-00009\.parquet, which is not of this"):
        download(export)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(export, download, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(LocalFileError, match="Permission denied"):
        download(export, tmp_path / "closed")


def test_a_place_that_is_no_folder_is_named(export, download, tmp_path):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(LocalFileError, match=str(place)):
            download(export, place)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_is_told_and_leaves_nothing_partial(api, export, download, tmp_path):
    # As `ulimit -f`: a file that grows beyond it fails to be written, as on a full disk.
    download(export, tmp_path / "whole")
    largest = (tmp_path / "whole" / FIRST).stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest // 2, before[1]))
    try:
        with pytest.raises(LocalFileError, match=f"{FIRST}: File too large"):
            download(export)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(tmp_path / "out") == []


def test_one_failure_stops_the_parts_that_are_under_way(api, export, download, tmp_path):
    api.storage.break_next(
        Breakage(of=FIRST, wrong_byte_at=5), Breakage(of=SECOND, delay_seconds=0.3)
    )
    with pytest.raises(ChecksumMismatchError):
        download(export, concurrency=2)
    assert names(tmp_path / "out") == []


def test_a_part_that_is_just_begun_when_another_fails_leaves_nothing(
    api, export, download, tmp_path, monkeypatch
):
    begin = VerifiedFile.begin

    def begin_late(self):
        time.sleep(0.3 if self.path.name == SECOND else 0)
        begin(self)

    monkeypatch.setattr(VerifiedFile, "begin", begin_late)
    api.storage.break_next(Breakage(of=FIRST, wrong_byte_at=5))
    with pytest.raises(ChecksumMismatchError):
        download(export, concurrency=2)
    assert names(tmp_path / "out") == []


def test_partial_files_of_a_killed_process_are_removed_in_time(export, download, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    old, fresh = (folder / f".{FIRST}.{age}.partial" for age in ("old", "fresh"))
    for left in (old, fresh):
        left.write_bytes(b"half")
    os.utime(old, (time.time() - 7_200,) * 2)
    download(export)
    assert fresh.exists()  # somebody may be at it
    assert not old.exists()


def test_two_downloads_into_one_folder_do_not_disturb_each_other(api, export, client, tmp_path):
    api.storage.break_next(*(Breakage(delay_seconds=0.05) for _ in range(10)))
    both = [
        threading.Thread(target=client.exports.download, args=(export, tmp_path)) for _ in range(2)
    ]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(names(tmp_path)) == 5
    assert client.exports.download(export, tmp_path).already_there == 5


def test_a_name_that_leads_elsewhere_is_refused(api, export, client, download, tmp_path):
    told = client.exports.get(export).model_dump_json(by_alias=True)
    misnamed = f'{{"export": {told}}}'.replace(f'"name":"{FIRST}"', f'"name":"../{FIRST}"')
    where, content_type = f"GET .*/exports/{export}", "application/json"
    api.misbehave(Fault(where=where, status=200, body=misnamed.encode(), content_type=content_type))
    with pytest.raises(DownloadError, match="not the name of a part"):
        download(export)
    assert list(tmp_path.iterdir()) == []


def test_no_concurrency_is_refused(api, download):
    with pytest.raises(InvalidInputError, match="concurrency"):
        download("exp_1", concurrency=0)
    assert api.received == []


def test_links_are_logged_without_what_permits_to_follow_them(api, download, export, caplog):
    caplog.set_level("INFO", logger="httpx")
    download(export)
    fetched = [line for line in caplog.messages if f"{api.storage.address}/" in line]
    assert len(fetched) == 5
    assert not any("X-Amz" in line for line in caplog.messages)
