import gzip
import json
import os
import signal
import time

import pytest

from tests.support.http_faults import Fault
from tests.support.served_storage import Breakage

FIRST, SECOND = "part-00001.jsonl.gz", "part-00002.jsonl.gz"


@pytest.fixture
def submitted(run, task_id, write_jsonl, completions, monkeypatch):
    """A task with 13 verdicts, four of which are no scores; parts hold four records."""
    monkeypatch.setattr("autotune_platform.exports.formats.MOST_RECORDS", 4)
    lines = completions(13)
    for n, outcome in ((1, "failed"), (2, "abstained"), (3, "abstained"), (4, "canceled")):
        lines[n]["metadata"]["outcome"] = outcome
    lines[5]["response"] = "zehn — 十 \u2028"
    lines[5]["metadata"]["value"] = 0.25
    run("submit", write_jsonl(lines), "--task", task_id)
    return task_id


@pytest.fixture
def no_waiting(monkeypatch):
    monkeypatch.setattr("autotune.client.clients.time.sleep", lambda seconds: None)


def records_in(folder):
    return [
        json.loads(line)
        for part in sorted(folder.glob("part-*"))
        for line in gzip.decompress(part.read_bytes()).decode().split("\n")[:-1]
    ]


def only_export(api):
    """The id of the one export that there is."""
    (export,) = api.platform.call("GET", "/api/v1/exports").json["exports"]
    return export["id"]


def sent(api):
    """The body of the one export that was asked for."""
    (request,) = [one for one in api.received if one.method == "POST" and "exports" in one.path]
    return json.loads(request.body)


def test_scored_completions_become_training_records(api, run, submitted, tmp_path):
    out = tmp_path / "scores"
    ran = run("export", "--task", submitted, "-o", out)
    assert (ran.exit_code, ran.stdout) == (0, "")
    *_, counted, uncounted = ran.stderr.splitlines()
    assert counted == (
        f"9 records in 3 parts in {out}; left out: 2 abstained, 1 failed, 1 canceled"
    )
    assert uncounted.startswith("what was decided from 2")
    assert uncounted.endswith("Z on, or is pending, is not in it")
    records = records_in(out)
    assert len(records) == 9
    (record,) = [one for one in records if one["completionMetadata"]["n"] == 5]
    assert (record["response"], record["score"]) == ("zehn — 十 \u2028", 0.25)
    assert record["metadata"]["completionId"] in [one.id for one in api.stored()]


def test_what_is_reported_can_be_json(api, run, submitted, tmp_path):
    out = tmp_path / "scores"
    ran = run("export", "--task", submitted, "--out", out, "--json")
    (told,) = ran.json_lines
    export_id = only_export(api)
    assert told == {
        "exportId": export_id,
        "folder": str(out),
        "manifest": str(out / "manifest.json"),
        "parts": [str(out / f"part-{n:05}.jsonl.gz") for n in (1, 2, 3)],
        "alreadyThere": 0,
        "records": 9,
        "counts": {
            "scanned": 13,
            "scored": 9,
            "abstained": 2,
            "failed": 1,
            "canceled": 1,
            "textGone": 0,
            "skipped": {},
        },
    }


def test_every_filter_and_option_is_sent(api, run, task_id):
    grader_id = api.grader_id
    ran = run(
        *("export", "--no-wait", "--format", "parquet", "--shape", "preference"),
        *("--task", task_id, "--model", "m1", "--grader", grader_id),
        *("--min-score", 0.1, "--max-score", 0.9),
        *("--since", "2026-11-01T00:00:00+0000", "--until", "2026-11-21T12:00:00+0000"),
        *("--min-score-delta", 0.2, "--sample-size", 1000, "--seed", 7),
        *("--pairing", "all_pairs", "--min-confidence", 0.5, "--json"),
    )
    assert ran.exit_code == 0
    assert sent(api) == {
        "format": "parquet",
        "shape": "preference",
        "filters": {
            "taskId": task_id,
            "modelId": "m1",
            "graderId": grader_id,
            "minScore": 0.1,
            "maxScore": 0.9,
            "startDate": "2026-11-01T00:00:00Z",
            "endDate": "2026-11-21T12:00:00Z",
        },
        "preference": {
            "minScoreDelta": 0.2,
            "sampleSize": 1000,
            "seed": 7,
            "pairing": "all_pairs",
            "minConfidence": 0.5,
        },
    }
    (created,) = ran.json_lines
    assert created["id"].startswith("exp_")


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (("--shape", "unpaired", "--threshold", "0.7"), "unpaired", {"threshold": 0.7}),
        (
            ("--shape", "stepwise", "--threshold", "0", "--separator", "\n\n"),
            "stepwise",
            {"threshold": 0, "separator": "\n\n"},
        ),
    ],
)
def test_options_go_with_their_shape(api, run, options, field, value):
    assert run("export", "--no-wait", *options).exit_code == 0
    assert sent(api)[field] == value


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--out"),
        (("--no-wait", "-o", "x"), "--out and --timeout are about waiting"),
        (("--no-wait", "--timeout", "5"), "--out and --timeout are about waiting"),
        (("-o", "x", "--format", "csv"), "--format"),
        (("-o", "x", "--shape", "pairs"), "--shape"),
        (("-o", "x", "--min-score", "1.5"), "--min-score"),
        (("-o", "x", "--min-score", "0.5", "--max-score", "0.4"), "--max-score"),
        (("-o", "x", "--since", "yesterday"), "--since"),
        (("-o", "x", "--since", "2026-11-02", "--until", "2026-11-01"), "--until"),
        (("-o", "x", "--seed", "1"), "--seed: goes with --shape preference, not scores"),
        (("-o", "x", "--shape", "unpaired", "--separator", "x"), "--shape stepwise, not unpaired"),
        (("-o", "x", "--threshold", "1"), "--shape unpaired or --shape stepwise"),
        (("-o", "x", "--shape", "preference", "--min-score-delta", "0"), "--min-score-delta"),
        (("-o", "x", "--shape", "preference", "--sample-size", "0"), "--sample-size"),
        (("-o", "x", "--shape", "stepwise", "--separator", ""), "--separator"),
        (("-o", "x", "--timeout", "0"), "--timeout"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_sent(api, run, arguments, told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    ran = run("export", *arguments)
    assert ran.exit_code == 2
    assert told in " ".join(ran.stderr.replace("│", " ").split())
    assert api.received == []


@pytest.mark.parametrize("option", [("--task", "arithmetic"), ("--grader", "task_1")])
def test_what_is_no_id_is_not_found(api, run, option):
    ran = run("export", "-o", "x", *option)
    assert ran.exit_code == 4
    assert f"no {option[0][2:]} {option[1]}" in ran.stderr
    assert api.received == []


def test_a_panel_is_a_grader(run):
    assert run("export", "--no-wait", "--grader", "pnl_" + "0" * 26).exit_code == 0


def test_nothing_that_matches_is_an_export_of_no_parts(run, task_id, tmp_path):
    ran = run("export", "--task", task_id, "-o", tmp_path / "none", "--json")
    assert ran.exit_code == 0
    assert (ran.json_lines[0]["records"], ran.json_lines[0]["parts"]) == (0, [])
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["manifest.json"]


def test_an_export_that_fails_is_told_with_its_reason(run, submitted, tmp_path, monkeypatch):
    monkeypatch.setattr("autotune_platform.exports.segments.MAX_EXPORT_CANDIDATES", 1)
    ran = run("export", "--shape", "preference", "-o", tmp_path / "out")
    assert ran.exit_code == 1
    assert "failed (too_large): it would have more than 1 completions;" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_after_its_time_it_ends_and_says_how_to_go_on(api, run, tmp_path, submitted):
    api.export_seconds = 1.5
    out = tmp_path / "two words"
    ran = run("export", "-o", out, "--timeout", 1)
    assert ran.exit_code == 1
    export_id = only_export(api)
    assert f"{export_id} was still running after 1 s" in ran.stderr
    assert f"`autotune exports download {export_id} --out '{out}'` goes on" in ran.stderr
    assert run("exports", "download", export_id, "--out", out).exit_code == 0
    assert len(records_in(out)) == 9


def test_ctrl_c_says_how_to_go_on(api, start, tmp_path):
    api.export_seconds = None
    process = start("export", "--out", tmp_path / "out")
    while not api.count("GET .*/exports/"):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    export_id = only_export(api)
    assert f"autotune exports download {export_id}" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("breakages", "code", "told"),
    [
        ([Breakage(of=SECOND, wrong_byte_at=9)], 5, f"autotune: {SECOND}: its "),
        ([Breakage(of=SECOND, cut_after=9)] * 5, 5, f"while {SECOND} was fetched"),
        ([Breakage(of=SECOND, status=403)] * 3, 5, f"{SECOND}: 127.0.0.1 answered 403"),
    ],
    ids=["wrong-bytes", "cut", "403"],
)
def test_a_broken_download_is_told_and_goes_on(
    api, run, submitted, tmp_path, no_waiting, breakages, code, told
):
    api.storage.break_next(*breakages)
    ran = run("export", "--task", submitted, "-o", tmp_path / "out")
    assert ran.exit_code == code
    assert told in ran.stderr
    assert "goes on from here" in ran.stderr
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert not left & {SECOND, "manifest.json"}
    assert not [name for name in left if name.endswith(".partial")]
    export_id = only_export(api)
    again = run("exports", "download", export_id, "-o", tmp_path / "out", "--json")
    assert again.exit_code == 0
    assert again.json_lines[0]["alreadyThere"] == len(left)
    assert len(records_in(tmp_path / "out")) == 9


def test_links_that_expired_meanwhile_are_no_error(api, run, submitted, tmp_path):
    api.storage.break_next(Breakage(of=SECOND, status=403))
    assert run("export", "--task", submitted, "-o", tmp_path / "out").exit_code == 0


def test_a_place_that_cannot_be_written_is_told(run, submitted, tmp_path):
    (tmp_path / "file").write_text("mine")
    ran = run("export", "--task", submitted, "-o", tmp_path / "file" / "below")
    assert ran.exit_code == 2
    assert f"{tmp_path / 'file' / 'below'}: Not a directory" in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_told(run, submitted, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    ran = run("export", "--task", submitted, "-o", tmp_path / "closed")
    assert ran.exit_code == 2
    assert "Permission denied" in ran.stderr


def test_a_folder_of_another_export_is_left_alone(run, submitted, tmp_path):
    out = tmp_path / "out"
    run("export", "--task", submitted, "-o", out)
    before = {path: path.read_bytes() for path in out.iterdir()}
    ran = run("export", "--task", submitted, "--min-score", "0.5", "-o", out)
    assert ran.exit_code == 2
    assert f"{out}: holds another export" in ran.stderr
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_exports_are_listed_shown_and_deleted(api, run, submitted):
    ids = [run("export", "--no-wait", "--json").json_lines[0]["id"] for _ in range(3)]
    assert [one["id"] for one in run("exports", "list", "--json").json_lines] == ids
    listed = run("exports", "list", "--limit", 2).stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["ID", *ids[:2]]
    (shown,) = run("exports", "get", ids[0], "--json").json_lines
    assert len(shown["downloads"]["parts"]) == 3
    told = run("exports", "get", ids[0]).stdout
    assert "completed" in told
    assert "Signature" not in told
    assert run("exports", "delete", ids[0], "--json").json_lines == [
        {"id": ids[0], "deleted": True}
    ]
    assert f"deleted {ids[1]}" in run("exports", "delete", ids[1]).stderr
    assert run("exports", "get", ids[0], "--json").json_lines[0]["state"] == "canceled"
    gone = run("exports", "download", ids[1], "-o", "x")
    assert gone.exit_code == 1
    assert f"{ids[1]} was deleted" in gone.stderr
    assert run("exports", "get", "exp_" + "0" * 26).exit_code == 4
    assert run("exports", "download", "exp_" + "0" * 26, "-o", "x").exit_code == 4


def test_a_key_whose_role_does_not_allow_it_is_told(api, run):
    api.misbehave(Fault(where="POST .*/exports", status=403, code="forbidden"))
    assert run("export", "--no-wait").exit_code == 3
