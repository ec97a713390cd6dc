"""``autotune decks samples``: files of samples, each line once, and none lost."""

import subprocess

import pytest

from autotune.cli import exit_codes
from tests.support.decks import PROMPT, new_deck_grader
from tests.support.http_faults import Fault


@pytest.fixture
def deck_id(api):
    body = {"name": "summaries", "systemPrompt": PROMPT}
    return api.platform.call("POST", "/api/v1/decks", body).json["deck"]["id"]


def pairs(count, **fields):
    return [{"input": f"question {n}", "output": f"answer {n}", **fields} for n in range(count)]


def test_samples_are_added_once_listed_shown_and_deleted(run, deck_id, write_jsonl):
    whole = {
        "request": {"model": "m-1", "messages": [{"role": "user", "content": "Hé?"}]},
        "response": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
    }
    file = write_jsonl([*pairs(3, model="small"), "", whole])
    added = run("decks", "samples", "add", deck_id, file)
    assert (added.exit_code, added.stderr.splitlines()[-1]) == (exit_codes.OK, "added 4")
    ids = added.stdout.splitlines()
    again = run("decks", "samples", "add", deck_id, file, "--json")
    assert again.json_lines == [{"accepted": 4, "sampleIds": ids, "rejectedLines": 0}]
    listed = run("decks", "samples", "list", deck_id).stdout.splitlines()
    assert [line.split()[0] for line in listed[1:]] == ids[::-1]
    assert "Hé?" in listed[1]
    named = run("decks", "samples", "list", deck_id, "--model", "small", "--limit", 2, "--json")
    assert [one["id"] for one in named.json_lines] == [ids[2], ids[1]]
    halves = [
        {
            one["id"]
            for one in run(
                "decks", "samples", "list", deck_id, "--split", half, "--json"
            ).json_lines
        }
        for half in ("development", "holdout")
    ]
    assert (halves[0] | halves[1], halves[0] & halves[1]) == (set(ids), set())
    shown = run("decks", "samples", "show", deck_id, ids[3])
    assert '"content": "Hé?"' in shown.stdout
    assert (
        run("decks", "samples", "show", deck_id, ids[3], "--json").json_lines[0]["request"]
        == whole["request"]
    )
    assert run("decks", "samples", "delete", deck_id, ids[0]).stderr == f"deleted {ids[0]}\n"
    assert run("decks", "samples", "show", deck_id, ids[0]).exit_code == exit_codes.NOT_FOUND
    once_more = run("decks", "samples", "add", deck_id, file, "--idempotency-key", "two", "--json")
    assert set(once_more.json_lines[0]["sampleIds"]) & set(ids) == set()


def test_a_line_that_is_wrong_is_told_before_anything_is_sent_or_put_aside(
    api, run, deck_id, write_jsonl, tmp_path
):
    lines = [
        {"input": "q", "output": "a"},
        "{",
        {"input": "q"},
        {"input": "q", "output": "a", "request": {}, "response": {}},
        {"input": "q", "output": "a", "extra": 1},
        {"request": {}, "response": {}},
        {"input": "r", "output": "b"},
    ]
    file = write_jsonl(lines, "samples.jsonl")
    api.received.clear()
    refused = run("decks", "samples", "add", deck_id, file)
    assert refused.exit_code == exit_codes.USAGE
    assert "line 2: expected one JSON object" in refused.stderr
    assert api.received == []
    skipped = run("decks", "samples", "add", deck_id, file, "--skip-invalid")
    assert skipped.exit_code == exit_codes.INCOMPLETE
    assert len(skipped.stdout.splitlines()) == 2
    for told in (
        "line 3: input: input and output, or request and response",
        "line 5: extra: ",
        "line 6: request.messages: ",
        "5 rejected lines are in",
    ):
        assert told in skipped.stderr
    rejected = (tmp_path / "samples.rejected.jsonl").read_text("utf-8").splitlines()
    assert len(rejected) == 5
    assert rejected[-1] == '{"request": {}, "response": {}}', "the server refused it"
    empty = run("decks", "samples", "add", deck_id, write_jsonl([], "empty.jsonl"))
    assert "nothing to add" in empty.stderr
    assert run("decks", "samples", "add", "dck_none", file, "--skip-invalid").exit_code == 4


def test_an_upload_in_parts_that_is_cut_short_goes_on(api, run, deck_id, write_jsonl, monkeypatch):
    monkeypatch.setattr("autotune.client.deck_samples.limits.MAX_BULK_SAMPLES", 10)
    lines = [*pairs(24), {"request": {}, "response": {}}, *pairs(1)]
    file = write_jsonl(lines)
    api.misbehave(Fault(where="bulk"), Fault(where="bulk", status=403, code="forbidden"))
    cut = run("decks", "samples", "add", deck_id, file)
    assert cut.exit_code == exit_codes.DENIED
    assert len(run("decks", "samples", "list", deck_id, "--json").json_lines) == 10
    done = run("decks", "samples", "add", deck_id, file, "--json", stdin=None)
    assert done.exit_code == exit_codes.INCOMPLETE
    assert done.json_lines[0]["accepted"] == 25
    assert "line 25: request.messages" in done.stderr
    assert len(run("decks", "samples", "list", deck_id, "--json").json_lines) == 25


def test_samples_may_come_from_stdin(start, deck_id):
    process = start("decks", "samples", "add", deck_id, "-", stdin=subprocess.PIPE)
    stdout, stderr = process.communicate('{"input": "q", "output": "a"}\n', timeout=60)
    assert (process.returncode, len(stdout.splitlines())) == (exit_codes.OK, 1), stderr


def test_lines_bring_labels_and_one_that_is_refused_is_told_by_line_and_field(
    api, run, deck_id, write_jsonl
):
    new_deck_grader(api.platform, deck_id, name="faithful")
    label = {"grader": "faithful", "score": 2, "rater": "anna"}
    first, second = pairs(2, externalId="row", labels=[label])
    second |= {"externalId": "other", "labels": [{**label, "score": "not_applicable"}]}
    file = write_jsonl([first, "", second])
    added = run("decks", "samples", "add", deck_id, file)
    assert added.exit_code == exit_codes.OK, added.stderr
    told = added.stderr.splitlines()
    assert told[-2] == "added 2"
    assert told[-1].startswith("labels added 2")

    drawn = {**first, "labels": [{**label, "score": 1, "selection": "random"}]}
    again = write_jsonl([second, "", "", drawn], "again.jsonl")
    refused = run("decks", "samples", "add", deck_id, again, "--json")
    assert refused.exit_code == exit_codes.INCOMPLETE
    assert "again.jsonl, line 4: labels[0].selection: " in refused.stderr
    (counts,) = refused.json_lines
    assert (counts["accepted"], counts["labels"]["repeated"]) == (2, 1)
    assert len(counts["labels"]["rejected"]) == 1
    found = run("decks", "samples", "list", deck_id, "--external-id", "other", "--json")
    assert [one["externalId"] for one in found.json_lines] == ["other"]
