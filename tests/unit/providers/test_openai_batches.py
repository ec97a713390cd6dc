"""OpenAI's batches at the fake: states, files, what is paid and what is refused."""

import json
import re

import pytest

from tests.unit.providers.conftest import BEARER, OpenAi, chat_body, jsonl

TOKEN = re.compile(r"tok-[0-9a-f]{20}")


def tokens_in(lines):
    return [TOKEN.search(json.dumps(line))[0] for line in lines]


def test_a_batch_runs_through_its_states_and_is_paid_row_by_row(openai, advance, http):
    batch_id = openai.start(10)
    assert openai.get(batch_id).json()["status"] == "validating"
    advance(31)
    halfway = openai.get(batch_id).json()
    assert (halfway["status"], halfway["request_counts"]["completed"]) == ("in_progress", 5)
    assert http.get("/_fake/bill").json()["executions"] == 5
    advance(60)
    batch, output, errors = openai.results(batch_id)
    assert (batch["status"], len(output), errors) == ("completed", 10, [])
    assert batch["request_counts"] == {"total": 10, "completed": 10, "failed": 0}


def test_the_bill_is_the_sum_of_the_executions_and_tokens_are_unique(openai, http):
    batch, output, _ = openai.run(20)
    http.post("/v1/chat/completions", headers=BEARER, json=chat_body()).raise_for_status()
    executions = http.get("/_fake/executions").json()["executions"]
    bill = http.get("/_fake/bill").json()
    assert bill["total_nano_usd"] == sum(one["cost_nano_usd"] for one in executions) > 0
    assert len({one["token"] for one in executions}) == 21
    in_batch = [one for one in executions if one["batch_id"] == batch["id"]]
    assert sorted(tokens_in(output)) == sorted(one["token"] for one in in_batch)
    # 0.125 and 1 USD for a million tokens are half of the standard price.
    assert bill["by_batch"][batch["id"]] == sum(
        one["input_tokens"] * 125 + one["output_tokens"] * 1000 for one in in_batch
    )
    usage = batch["usage"]
    assert usage["input_tokens"] == sum(one["input_tokens"] for one in in_batch)
    assert usage["output_tokens"] == sum(one["output_tokens"] for one in in_batch)


def test_the_same_seed_answers_the_same_but_for_the_token(openai):
    texts = [
        [
            TOKEN.sub("", line["response"]["body"]["choices"][0]["message"]["content"])
            for line in out
        ]
        for _, out, _ in (openai.run(3), openai.run(3))
    ]
    assert texts[0] == texts[1]
    assert all(text.splitlines()[-1].startswith("VERDICT: ") for text in texts[0])


def test_what_is_canceled_keeps_what_was_paid(openai, advance, http):
    batch_id = openai.start(10)
    advance(31)
    canceled = http.post(f"/v1/batches/{batch_id}/cancel", headers=BEARER).json()
    assert canceled["status"] == "cancelling"
    advance(30)
    batch, output, errors = openai.results(batch_id)
    assert (batch["status"], len(output), len(errors)) == ("cancelled", 5, 5)
    assert {line["error"]["code"] for line in errors} == {"batch_cancelled"}
    assert http.get("/_fake/bill").json()["executions"] == 5
    again = http.post(f"/v1/batches/{batch_id}/cancel", headers=BEARER)
    assert again.status_code == 409


def test_lists_come_in_pages_newest_first(openai, http):
    made = [openai.start(1) for _ in range(5)]
    found, after = [], {}
    while True:
        page = http.get("/v1/batches", headers=BEARER, params={"limit": 2, **after}).json()
        found += [one["id"] for one in page["data"]]
        if not page["has_more"]:
            break
        after = {"after": page["last_id"]}
    assert found == made[::-1]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (jsonl(1) + b"{broken\n", "invalid_json_line", 2),
        (jsonl(1) + jsonl(1), "duplicate_custom_id", 2),
        (b"", "empty_file", None),
        (jsonl(1).replace(b'"POST"', b'"GET"'), "invalid_request", 1),
    ],
)
def test_an_input_that_is_wrong_fails_after_validation_and_costs_nothing(
    openai, advance, http, content, code, line
):
    file_id = openai.upload(content).json()["id"]
    batch = openai.create(file_id).json()
    assert batch["status"] == "validating"
    advance(5)
    failed = openai.get(batch["id"]).json()
    assert failed["status"] == "failed"
    assert (failed["errors"]["data"][0]["code"], failed["errors"]["data"][0]["line"]) == (
        code,
        line,
    )
    assert http.get("/_fake/bill").json()["executions"] == 0


def test_a_row_with_a_field_that_nobody_documents_is_an_error_of_that_row(openai):
    _, output, errors = openai.run(2, no_such_field=1)
    assert output == []
    assert [line["error"] for line in errors] == [None, None]
    assert errors[0]["response"]["status_code"] == 400
    assert "no_such_field" in errors[0]["response"]["body"]["error"]["message"]


def test_a_file_of_another_workspace_is_not_there(openai, http):
    http.post("/_fake/keys", json={"provider": "openai", "add": {"other": "elsewhere"}})
    file_id = openai.upload(jsonl(1)).json()["id"]
    stranger = OpenAi(http, {"authorization": "Bearer other"})
    assert stranger.content(file_id).status_code == 404
    assert stranger.create(file_id).status_code == 400


def test_limits_are_kept_and_what_went_beyond_is_remembered(openai, advance, http):
    http.post("/_fake/limits", json={"provider": "openai", "limits": {"rows": 2}})
    batch_id = openai.start(3)
    advance(5)
    assert openai.get(batch_id).json()["errors"]["data"][0]["code"] == "too_many_tasks"
    assert http.get("/_fake/requests").json()["broken_limits"][0]["given"] == 3


def test_an_unknown_field_of_a_creation_is_refused_in_openais_shape(openai):
    file_id = openai.upload(jsonl(1)).json()["id"]
    refused = openai.create(file_id, nonce="x")
    assert refused.status_code == 400
    assert refused.json()["error"] == {
        "message": "Unrecognized request argument: nonce",
        "type": "invalid_request_error",
        "param": "nonce",
        "code": None,
    }


@pytest.mark.parametrize(("name", "status"), [("upload", 200), ("in.jsonl", 200), ("in.txt", 400)])
def test_a_file_without_an_extension_is_taken_as_the_sdk_sends_bytes(openai, http, name, status):
    form = {"data": {"purpose": "batch"}, "files": {"file": (name, jsonl(1))}}
    assert http.post("/v1/files", headers=BEARER, **form).status_code == status
