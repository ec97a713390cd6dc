"""What springs each trap of the providers, and what it then does."""

import json

import httpx
import pytest

from tests.unit.providers.conftest import ANTHROPIC, AWS, BEARER, GOOGLE, OpenAi, chat_body, jsonl

LOST = (httpx.RemoteProtocolError, httpx.ReadError)


class Scenes:
    """For each trap that is not of all requests, what a client sees of it."""

    def __init__(self, openai, arm, advance, http):
        self.openai, self.arm, self.advance, self.http = openai, arm, advance, http

    def finished(self, count=10, **fields):
        return self.openai.run(count, **fields)

    def ids(self, lines):
        return [line["custom_id"] for line in lines]

    def output_text(self):
        batch, *_ = self.finished()
        return batch["output_file_id"]

    def upload_not_visible(self):
        self.arm("upload_not_visible")
        file_id = self.openai.upload(jsonl(1)).json()["id"]
        assert [self.openai.create(file_id).status_code for _ in range(3)] == [400, 400, 200]

    def get_404_after_create(self):
        self.arm("get_404_after_create")
        batch_id = self.openai.start(1)
        assert [self.openai.get(batch_id).status_code for _ in range(3)] == [404, 404, 200]

    def list_lags(self):
        self.arm("list_lags", params={"looks": 0, "seconds": 30})
        self.openai.start(1)
        for seconds, expected in ((0, 0), (31, 1)):
            self.advance(seconds)
            page = self.http.get("/v1/batches", headers=BEARER).json()
            assert len(page["data"]) == expected

    def list_pages(self):
        self.openai.start(1)
        self.openai.start(1)
        self.arm("list_pages")
        page = self.http.get("/v1/batches", headers=BEARER, params={"limit": 10}).json()
        assert (len(page["data"]), page["has_more"]) == (1, True)

    def list_ignores_filters(self):
        openrouter(self.http)
        self.arm("list_ignores_filters")
        wanted = {"status": "completed"}
        found = [
            len(self.http.get("/api/v1/batches", headers=BEARER, params=wanted).json()["data"])
            for _ in range(2)
        ]
        assert found == [1, 0]

    def row_error(self):
        for row, status in enumerate((400, 500, 0)):
            self.arm("row_error", rows=[row], params={"status": status})
        _, output, errors = self.finished(5)
        assert [line["error"] for line in errors] == [None] * 3
        assert [line["response"]["status_code"] for line in errors] == [400, 500, 0]
        assert len(output) == 2
        assert self.http.get("/_fake/bill").json()["executions"] == 2

    def completed_without_output(self):
        self.arm("completed_without_output")
        batch, output, errors = self.finished()
        assert (batch["status"], output, errors) == ("completed", [], [])
        assert batch["request_counts"]["completed"] == 10
        assert self.http.get("/_fake/bill").json()["executions"] == 10

    def output_id_later(self):
        self.arm("output_id_later", params={"seconds": 600})
        batch, *_ = self.finished()
        assert (batch["status"], batch["output_file_id"]) == ("completed", None)
        self.advance(600)
        assert len(self.openai.results(batch["id"])[1]) == 10

    def output_id_empty(self):
        self.arm("output_id_empty")
        batch, output, _ = self.finished()
        assert (batch["error_file_id"], len(output)) == ("", 10)

    def counts_zero(self):
        self.arm("counts_zero")
        batch, output, _ = self.finished()
        assert set(batch["request_counts"].values()) == {0}
        assert len(output) == 10

    def counts_absent(self):
        self.arm("counts_absent")
        assert self.finished()[0]["request_counts"] is None

    def expires_partial(self):
        self.arm("expires_partial")
        batch, output, errors = self.finished()
        assert (batch["status"], len(output), len(errors)) == ("expired", 5, 5)
        assert {line["error"]["code"] for line in errors} == {"batch_expired"}
        assert self.http.get("/_fake/bill").json()["executions"] == 5

    def expires_empty(self):
        self.arm("expires_empty")
        batch, output, _ = self.finished()
        assert (batch["status"], output) == ("expired", [])
        assert self.http.get("/_fake/bill").json()["executions"] == 0

    def rows_shuffled(self):
        self.arm("rows_shuffled")
        _, output, _ = self.finished()
        assert self.ids(output) != sorted(self.ids(output))
        assert len(set(self.ids(output))) == 10

    def rows_doubled_alike(self):
        self.arm("rows_doubled_alike", params={"count": 2})
        _, output, _ = self.finished()
        texts = [json.dumps(line) for line in output]
        assert (len(texts), len(set(texts))) == (12, 10)

    def rows_doubled_conflicting(self):
        self.arm("rows_doubled_conflicting")
        _, output, _ = self.finished()
        texts = {json.dumps(line) for line in output}
        assert (len(texts), len(set(self.ids(output)))) == (11, 10)

    def rows_unknown_id(self):
        self.arm("rows_unknown_id")
        assert "nobody-0" in self.ids(self.finished()[1])

    def rows_foreign_id(self):
        self.openai.create(self.openai.upload(jsonl(1).replace(b"row-0", b"theirs")).json()["id"])
        self.arm("rows_foreign_id")
        assert "theirs" in self.ids(self.finished()[1])

    def rows_missing(self):
        self.arm("rows_missing", rows=[3])
        _, output, errors = self.finished()
        assert "row-3" not in self.ids(output + errors)
        assert self.http.get("/_fake/bill").json()["executions"] == 10
        (firing,) = self.http.get("/_fake/traps").json()["firings"]
        assert (firing["custom_ids"], firing["excuses"]) == (["row-3"], True)

    def inline_without_keys(self):
        self.arm("inline_without_keys")
        batch_id = openrouter(self.http)
        self.advance(120)
        batch = self.http.get(f"/api/v1/batches/{batch_id}", headers=BEARER).json()
        assert {line["custom_id"] for line in batch["results"]} == {""}

    def jsonl_cut(self):
        file_id = self.output_text()
        whole = self.openai.content(file_id).content
        self.arm("jsonl_cut")
        cut = self.openai.content(file_id).content
        assert whole.startswith(cut)
        assert not cut.endswith(b"\n")
        assert self.openai.content(file_id).content == whole

    def jsonl_bad_utf8(self):
        file_id = self.output_text()
        self.arm("jsonl_bad_utf8")
        with pytest.raises(UnicodeDecodeError):
            self.openai.content(file_id).content.decode()

    def jsonl_empty_lines(self):
        file_id = self.output_text()
        self.arm("jsonl_empty_lines")
        assert self.openai.content(file_id).text.count("\n\r\n") == 10

    def jsonl_long_line(self):
        file_id = self.output_text()
        self.arm("jsonl_long_line")
        lines = self.openai.content(file_id).content.splitlines()
        assert max(map(len, lines)) > 10_000_000

    def download_cut(self):
        file_id = self.output_text()
        self.arm("download_cut")
        with pytest.raises(LOST):
            self.openai.content(file_id)

    def download_stalls(self):
        file_id = self.output_text()
        self.arm("download_stalls", params={"stall_seconds": 1})
        with pytest.raises(httpx.ReadTimeout):
            self.http.get(f"/v1/files/{file_id}/content", headers=BEARER, timeout=0.3)

    def download_502(self):
        file_id = self.output_text()
        self.arm("download_502")
        statuses = [self.openai.content(file_id).status_code for _ in range(2)]
        assert statuses == [502, 200]

    def custom_id_65(self):
        self.arm("custom_id_65")
        content = jsonl(1).replace(b"row-0", b"x" * 65)
        batch = self.openai.create(self.openai.upload(content).json()["id"]).json()
        self.advance(5)
        assert self.openai.get(batch["id"]).json()["status"] == "failed"

    def old_key_only(self):
        self.arm("old_key_only")
        batch_id = self.openai.start(1)
        newer = OpenAi(self.http, {"authorization": "Bearer fake-key-2"})
        assert (newer.get(batch_id).status_code, self.openai.get(batch_id).status_code) == (
            404,
            200,
        )

    def succeeds_late(self):
        self.arm("succeeds_late")
        batch_id = self.openai.start(2)
        self.advance(87_000)
        late = self.openai.get(batch_id).json()
        assert (late["status"], late["expires_at"] - late["created_at"]) == ("in_progress", 86_400)
        self.advance(4_000)
        assert self.openai.get(batch_id).json()["status"] == "completed"

    def token_limit(self):
        self.arm("token_limit")
        batch_id = self.openai.start(2)
        self.advance(5)
        failed = self.openai.get(batch_id).json()
        assert failed["errors"]["data"][0]["code"] == "token_limit_exceeded"

    def poison_row(self):
        self.arm("poison_row", contains="Question 1")
        batch_id = self.openai.start(3)
        self.advance(5)
        failed = self.openai.get(batch_id).json()
        assert (failed["status"], failed["errors"]["data"][0]["line"]) == ("failed", 2)

    def credit_ends(self):
        self.arm("credit_ends", params={"share": 0.2})
        _, output, errors = self.finished()
        assert (len(output), len(errors)) == (2, 8)
        codes = {line["response"]["body"]["error"]["code"] for line in errors}
        assert codes == {"insufficient_quota"}

    def account_refused(self):
        self.arm("account_refused", provider="anthropic")
        refused = self.http.post("/v1/messages", headers=ANTHROPIC, json=MESSAGE)
        assert refused.status_code == 400
        assert refused.json()["error"]["type"] == "invalid_request_error"
        assert "credit balance" in refused.json()["error"]["message"]

    def answer(self, name, **params):
        self.arm(name, params=params)
        answered = self.http.post("/v1/chat/completions", headers=BEARER, json=chat_body())
        return answered.json()

    def finish_length(self):
        assert self.answer("finish_length")["choices"][0]["finish_reason"] == "length"

    def finish_refusal(self):
        self.arm("finish_refusal", provider="gemini")
        body = {"contents": [{"parts": [{"text": "Right?"}]}]}
        answered = self.http.post(
            "/v1beta/models/gemini-2.5-flash:generateContent", headers=GOOGLE, json=body
        )
        assert answered.json()["candidates"][0]["finishReason"] == "SAFETY"

    def cached_tokens(self):
        usage = self.answer("cached_tokens")["usage"]
        assert usage["prompt_tokens_details"]["cached_tokens"] > 0
        (paid,) = self.http.get("/_fake/executions").json()["executions"]
        fresh = paid["input_tokens"] - paid["cached_tokens"]
        cost = fresh * 250 + paid["cached_tokens"] * 25 + paid["output_tokens"] * 2000
        assert paid["cost_nano_usd"] == cost

    def other_model(self):
        assert self.answer("other_model", model="gpt-5-nano")["model"] == "gpt-5-nano"

    def no_usage(self):
        assert "usage" not in self.answer("no_usage")
        assert self.http.get("/_fake/bill").json()["total_nano_usd"] > 0

    def dearer_tier(self):
        def served(**body):
            self.arm("dearer_tier", params=params)
            asked = {**chat_body(), **body}
            answered = self.http.post("/v1/chat/completions", headers=BEARER, json=asked)
            paid = self.http.get("/_fake/executions").json()["executions"][-1]
            fresh = paid["input_tokens"] * 250 + paid["output_tokens"] * 2000
            return answered.json()["service_tier"], paid["cost_nano_usd"] / fresh

        params = {"times": 3}
        assert served() == served(service_tier="auto") == ("priority", 3)
        assert served(service_tier="default") == ("default", 1)
        params = {"insists": 1}
        assert served(service_tier="default") == ("priority", 2)

    def cancel_completes(self):
        self.arm("cancel_completes")
        batch_id = self.openai.start(4)
        self.advance(31)
        self.http.post(f"/v1/batches/{batch_id}/cancel", headers=BEARER).raise_for_status()
        self.advance(31)
        batch, output, _ = self.openai.results(batch_id)
        assert (batch["status"], len(output)) == ("completed", 4)

    def bedrock_token_replayed(self):
        arns = {bedrock_job(self.http, "token1").json()["jobArn"] for _ in range(2)}
        assert len(arns) == 1

    def bedrock_partially_completed(self):
        self.arm("bedrock_partially_completed")
        job = self.finished_job()
        assert (job["status"], job["successRecordCount"]) == ("PartiallyCompleted", 1)

    def bedrock_several_outputs(self):
        self.arm("bedrock_several_outputs", params={"files": 2})
        self.finished_job()
        listed = self.http.get("/_s3/out-bucket").text
        assert listed.count(".jsonl.out</Key>") == 2

    def finished_job(self):
        arn = bedrock_job(self.http, "token1").json()["jobArn"]
        self.advance(120)
        path = f"/model-invocation-job/{arn.replace('/', '%2F')}"
        return self.http.get(path, headers=AWS).raise_for_status().json()


MESSAGE = {
    "model": "claude-haiku-4-5",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "Right?"}],
}


RECORD = {"messages": [{"role": "user", "content": [{"text": "Right?"}]}]}


def openrouter(http):
    """Creates a batch of two rows; returns its id."""
    body = {
        "endpoint": "/v1/chat/completions",
        "model": "openai/gpt-5-mini",
        "requests": [
            {"custom_id": f"row-{index}", "body": {"messages": chat_body()["messages"]}}
            for index in range(2)
        ],
    }
    return http.post("/api/v1/batches", headers=BEARER, json=body).raise_for_status().json()["id"]


def bedrock_job(http, token, record=RECORD, **fields):
    """Asks for a job of two records; returns the answer."""
    http.post("/_fake/limits", json={"provider": "bedrock", "limits": {"least_rows": 1}})
    lines = [json.dumps({"recordId": f"r{index}", "modelInput": record}) for index in range(2)]
    http.put("/_s3/in-bucket/in.jsonl", content="\n".join(lines).encode())
    body = {
        "clientRequestToken": token,
        "jobName": "job",
        "roleArn": "arn:aws:iam::123456789012:role/batch",
        "modelId": "amazon.nova-lite-v1:0",
        "modelInvocationType": "Converse",
        "inputDataConfig": {"s3InputDataConfig": {"s3Uri": "s3://in-bucket/in.jsonl"}},
        "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": "s3://out-bucket/"}},
        **fields,
    }
    return http.post("/model-invocation-job", headers=AWS, json=body)
