"""What is particular to each provider but OpenAI, without its SDK."""

import json
import subprocess
import sys
from pathlib import Path

import boto3
import httpx
import pytest
from moto import mock_aws

from tests.unit.providers.conftest import ANTHROPIC, AWS, BEARER, GOOGLE, OpenAi, chat_body, jsonl
from tests.unit.providers.scenes import MESSAGE, RECORD, bedrock_job, openrouter

ROOT = Path(__file__).parents[3]


def anthropic_batch(http, ids=("a", "b"), **params):
    requests = [{"custom_id": one, "params": {**MESSAGE, **params}} for one in ids]
    return http.post("/v1/messages/batches", headers=ANTHROPIC, json={"requests": requests})


def gemini_batch(http, texts=("one", "two")):
    requests = [
        {"request": {"contents": [{"parts": [{"text": text}]}]}, "metadata": {"key": text}}
        for text in texts
    ]
    body = {"batch": {"displayName": "n", "inputConfig": {"requests": {"requests": requests}}}}
    path = "/v1beta/models/gemini-2.5-flash:batchGenerateContent"
    return http.post(path, headers=GOOGLE, json=body)


class TestAnthropic:
    def test_counts_are_processing_until_the_batch_has_ended(self, http, advance):
        batch = anthropic_batch(http).json()
        advance(31)
        url = f"/v1/messages/batches/{batch['id']}"
        counts = http.get(url, headers=ANTHROPIC).json()["request_counts"]
        assert (counts["processing"], counts["succeeded"]) == (2, 0)
        assert http.get("/_fake/bill").json()["executions"] == 1
        assert http.get(f"{url}/results", headers=ANTHROPIC).status_code == 404

    def test_an_id_of_65_characters_is_refused_and_counted(self, http, fired):
        assert anthropic_batch(http, ["x" * 64]).status_code == 200
        assert anthropic_batch(http, ["x" * 65]).status_code == 400
        assert fired() == {"custom_id_65": 1}

    def test_what_is_wrong_with_parameters_is_told_by_row(self, http, advance):
        batch = anthropic_batch(http, max_tokens=0).json()
        advance(120)
        url = f"/v1/messages/batches/{batch['id']}/results"
        lines = http.get(url, headers=ANTHROPIC).text.splitlines()
        errors = [json.loads(line)["result"]["error"] for line in lines]
        assert {one["error"]["type"] for one in errors} == {"invalid_request_error"}
        assert http.get("/_fake/bill").json()["executions"] == 0

    def test_a_batch_says_nothing_of_whoever_made_it(self, http):
        batch = anthropic_batch(http).json()
        assert not {"metadata", "name", "display_name"} & set(batch)


class TestGemini:
    @pytest.mark.parametrize("trap", ["expires_partial", "expires_empty"])
    def test_a_job_that_expires_has_no_results_and_costs_nothing(self, http, advance, arm, trap):
        arm(trap)
        name = gemini_batch(http).json()["name"]
        advance(120)
        job = http.get(f"/v1beta/{name}", headers=GOOGLE).json()
        assert (job["metadata"]["state"], "response" in job) == ("BATCH_STATE_EXPIRED", False)
        assert http.get("/_fake/bill").json()["executions"] == 0

    def test_inline_results_may_come_without_keys(self, http, advance, arm):
        found = []
        for trapped in (False, True):
            if trapped:
                arm("inline_without_keys")
            name = gemini_batch(http).json()["name"]
            advance(120)
            job = http.get(f"/v1beta/{name}", headers=GOOGLE).json()
            lines = job["response"]["inlinedResponses"]["inlinedResponses"]
            found.append([line.get("metadata") for line in lines])
        assert found == [[{"key": "one"}, {"key": "two"}], [None, None]]

    def test_the_hundred_and_first_job_is_refused(self, http):
        http.post("/_fake/limits", json={"provider": "gemini", "limits": {"jobs": 1}})
        assert [gemini_batch(http).status_code for _ in range(2)] == [200, 429]


class TestOpenRouter:
    def test_requests_before_the_model_are_refused(self, http):
        body = {"endpoint": "/v1/chat/completions", "requests": [], "model": "openai/gpt-5-mini"}
        refused = http.post("/api/v1/batches", headers=BEARER, json=body)
        assert (refused.status_code, "before requests" in refused.text) == (400, True)

    def test_a_poison_row_fails_the_batch_and_is_not_named(self, http, advance, arm):
        arm("poison_row", rows=[1])
        batch_id = openrouter(http)
        advance(120)
        batch = http.get(f"/api/v1/batches/{batch_id}", headers=BEARER).json()
        assert (batch["status"], set(batch["error"])) == ("failed", {"message"})
        assert "row-1" not in json.dumps(batch)

    def test_there_is_no_cancel(self, http):
        batch_id = openrouter(http)
        assert http.post(f"/api/v1/batches/{batch_id}/cancel", headers=BEARER).status_code == 404


class TestAzure:
    @pytest.fixture
    def azure(self, http):
        client = OpenAi(http, {"api-key": "fake-key"})
        paths = {"params": {"api-version": "2025-04-01-preview"}}

        def call(method, path, **fields):
            return http.request(method, f"/openai{path}", headers=client.headers, **paths, **fields)

        return call

    def test_a_file_is_pending_before_it_can_be_used(self, azure, arm):
        arm("upload_not_visible", params={"looks": 1})
        form = {"data": {"purpose": "batch"}, "files": {"file": ("in.jsonl", jsonl(1))}}
        uploaded = azure("POST", "/files", **form).json()
        assert uploaded["status"] == "pending"
        body = {
            "input_file_id": uploaded["id"],
            "endpoint": "/chat/completions",
            "completion_window": "24h",
        }
        assert [azure("POST", "/batches", json=body).status_code for _ in range(2)] == [400, 200]

    def test_the_file_after_the_last_is_refused(self, azure, http):
        http.post("/_fake/limits", json={"provider": "azure", "limits": {"files": 1}})
        form = {"data": {"purpose": "batch"}, "files": {"file": ("in.jsonl", jsonl(1))}}
        assert [azure("POST", "/files", **form).status_code for _ in range(2)] == [200, 400]

    def test_a_deployment_that_is_not_there(self, azure):
        missing = azure("POST", "/deployments/none/chat/completions", json={"messages": [MSG]})
        assert missing.json()["error"]["code"] == "DeploymentNotFound"

    def test_no_version_no_answer(self, http):
        headers = {"api-key": "fake-key"}
        assert http.get("/openai/batches", headers=headers).status_code == 404


MSG = {"role": "user", "content": "Right?"}


class TestCompatible:
    def test_any_other_path_is_a_server_of_ones_own_that_costs_nothing(self, http):
        body = {**chat_body(), "model": "local-model", "top_k": 5}
        answered = http.post("/ollama/v1/chat/completions", json=body)
        assert answered.json()["choices"][0]["finish_reason"] == "stop"
        bill = http.get("/_fake/bill").json()
        assert (bill["executions"], bill["total_nano_usd"]) == (1, 0)


class TestControl:
    def test_a_model_of_ones_own_at_a_price_of_ones_own(self, http):
        model = {"provider": "openai", "name": "mine", "usd_per_million": [2, 1, 4]}
        http.post("/_fake/models", json=model).raise_for_status()
        body = {**chat_body(), "model": "mine"}
        usage = http.post("/v1/chat/completions", headers=BEARER, json=body).json()["usage"]
        cost = usage["prompt_tokens"] * 2000 + usage["completion_tokens"] * 4000
        assert http.get("/_fake/bill").json()["total_nano_usd"] == cost

    def test_answers_by_rule_and_by_function(self, http, world):
        def text(question):
            asked = http.post("/v1/chat/completions", headers=BEARER, json=chat_body(question))
            return asked.json()["choices"][0]["message"]["content"].partition("] ")[2]

        rules = [{"contains": "sky", "text": "Blue.\nVERDICT: yes"}]
        http.post("/_fake/answers", json={"labels": ["good"], "rules": rules}).raise_for_status()
        assert text("Is the sky blue?") == "Blue.\nVERDICT: yes"
        assert text("Other").endswith("VERDICT: good")
        world.answers.answerer = lambda ask: f"{ask.model} says {ask.texts[-1]}"
        assert text("Other") == "gpt-5-mini says Other"

    def test_a_revoked_key_sees_nothing_and_its_successor_all(self, openai, http):
        batch_id = openai.start(1)
        http.post("/_fake/keys", json={"revoke": ["fake-key"]})
        assert openai.get(batch_id).status_code == 401
        newer = OpenAi(http, {"authorization": "Bearer fake-key-2"})
        assert newer.get(batch_id).status_code == 200

    def test_rows_executed_twice_are_seen_by_their_fingerprint(self, openai, http):
        for _ in range(2):
            openai.run(1)
        executions = http.get("/_fake/executions").json()["executions"]
        assert len({one["fingerprint"] for one in executions}) == 1
        assert len({one["token"] for one in executions}) == 2


class TestBedrock:
    def test_a_token_that_comes_again_is_the_same_job_or_a_conflict(self, http):
        first, again = (bedrock_job(http, "token1") for _ in range(2))
        assert first.json() == again.json()
        refused = bedrock_job(http, "token1", jobName="another")
        assert refused.headers["x-amzn-errortype"] == "ConflictException"
        assert len(http.get("/_fake/batches").json()["batches"]) == 1

    def test_files_lie_in_the_s3_that_the_test_names(self, http, advance, monkeypatch):
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        with mock_aws():
            s3 = boto3.client("s3")
            for name in ("in-bucket", "out-bucket"):
                s3.create_bucket(Bucket=name)
            lines = [json.dumps({"recordId": f"r{n}", "modelInput": RECORD}) for n in range(3)]
            s3.put_object(Bucket="in-bucket", Key="in.jsonl", Body="\n".join(lines).encode())
            # No address: AWS itself, which moto stands for.
            http.post("/_fake/s3", json={"endpoint": ""}).raise_for_status()
            arn = bedrock_job(http, "token1").json()["jobArn"]
            advance(120)
            path = f"/model-invocation-job/{arn.replace('/', '%2F')}"
            assert http.get(path, headers=AWS).json()["successRecordCount"] == 3
            key = f"{arn.rpartition('/')[2]}/in.jsonl.out"
            output = s3.get_object(Bucket="out-bucket", Key=key)["Body"].read()
        assert len(output.splitlines()) == 3

    def test_tools_and_structured_output_are_no_part_of_batches(self, http, advance):
        bedrock_job(http, "token1", {**RECORD, "toolConfig": {"tools": []}})
        advance(120)
        (job,) = http.get("/_fake/batches").json()["batches"]
        assert (job["status"], job["counts"]) == ("completed", {"errored": 2})


def test_the_fake_is_a_process_of_its_own():
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.providers", "--seed", "5", "--start", "1795000000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        base_url = process.stdout.readline().split()[1]
        health = httpx.get(f"{base_url}/_fake/health").json()
        assert health == {"seed": 5, "now": 1795000000.0, "bugs": []}
    finally:
        process.terminate()
        process.communicate(timeout=10)
    assert process.returncode == 0
