"""``autotune explain`` of requests to language models, their batches and imports."""

import json
import re
from typing import get_args

import pytest

from autotune.cli import exit_codes
from autotune.cli.llm_explaining import _STAGES
from autotune.cli.llm_reasons import ENDED, IMPORT_ENDED, LIMITS, NOT_REASKED, WAITING
from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.llm_imports import LlmImportErrorCode
from autotune.protocol.llm_limits import JobLimitName
from autotune.protocol.llm_requests import LlmErrorCode, LlmReaskSkipped, LlmWaitingReason
from autotune_platform.ledger.models import BatchPhase
from tests.sdk.client.test_llm_gathering import add

NOW = "2026-11-23T00:00:00Z"


@pytest.fixture
def api(ledger, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    return ledger


@pytest.fixture
def told(run):
    """What is told of an id, each run of spaces as one, and times as ``TIME``."""

    def tell(id_):
        ran = run("explain", id_)
        assert ran.exit_code == exit_codes.OK, ran.stderr
        text = re.sub(r"\d{4}-\S+ \S+ UTC \(.*?\)", "TIME", ran.stdout)
        return re.sub(" +", " ", text)

    return tell


@pytest.fixture
def request_id(api):
    row_id = new_id("llm")
    add(api, row_id, api.new_connection())
    return row_id


def test_a_request_that_waits_says_for_what_and_what_to_do(api, told, request_id):
    row = api.rows[request_id]
    row |= {"waitingBecause": "connection_paused", "deckId": "d-1", "completeBy": NOW}
    connection_id = row["connectionId"]
    api.connections[connection_id] |= {"status": "paused", "pausedBecause": "no credit"}
    text = told(request_id)
    assert f"request {request_id} to a language model, for scoring, model m of openai" in text
    assert "deck d-1\n" in text
    assert "state queued since TIME, attempt 1\n" in text
    assert "waits connection_paused: its connection is paused" in text
    assert "what to do: mend what the connection says" in text
    assert "is paused: no credit\n" in text
    assert "deadline ends as expired at TIME" in text


def test_a_request_in_a_batch_shows_how_far_that_is(api, told, request_id):
    job = {"id": "batch_1", "stage": "polling", "rows": 1}
    progress = {"completed": 3, "failed": 1, "rows": 9, "at": NOW}
    batch_id = api.new_batch(request_id, mode="job", job=job, progress=progress)
    api.rows[request_id] |= {"status": "submitted", "batchId": batch_id}
    text = told(request_id)
    assert f"batch {batch_id} of 1 request, a job of the provider" in text
    assert "job batch_1: the provider works on its job\n" in text
    assert "progress 4 of 9 at the provider, seen TIME\n" in text


def test_a_request_that_ended_tells_its_attempts_its_error_and_its_verdict(
    api, run, told, request_id
):
    error = {"code": "rate_limited", "message": "slow down"}
    attempts = [{"number": 1, "at": NOW, "error": error, "costNanoUsd": 5}]
    api.end(request_id, "error", error=error, attempts=attempts)
    text = told(request_id)
    assert "attempt 1 at TIME: rate_limited: slow down, 0.000000005 USD\n" in text
    assert "error rate_limited: slow down\n" in text
    assert "what to do: `autotune llm retry` asks it once more" in text
    unread = {"code": "verdict_missing", "message": "no line begins so"}
    api.end(request_id, parseError=unread, reaskSkipped="output_cut", error=None)
    text = told(request_id)
    assert "state completed at TIME, finished by stop\n" in text
    assert "verdict verdict_missing: no line begins so\n" in text
    assert "not reasked output_cut: the answer ended at maxTokens\n" in text
    document = json.loads(run("explain", request_id, "--json").stdout)
    assert document["kind"] == "llmRequest"
    assert document["llmRequest"]["request"]["id"] == request_id


def test_a_batch_tells_what_it_waits_for_and_who_is_to_say_which_job_it_is(api, told):
    waiting = api.new_batch(waitingFor="openJobs", status="queued")
    text = told(waiting)
    assert "waits for the end of another job (openJobs)\n" in text
    job = {"stage": "unknown", "rows": 2, "candidates": ["b_1", "b_2"]}
    unclear = api.new_batch("a", "b", mode="job", job=job)
    text = told(unclear)
    assert "job without an id yet: whether its job was created is being found out" in text
    assert "it may be any of b_1, b_2\n" in text
    assert f"`autotune llm resolve-batch {unclear}`" in text


def test_a_batch_that_ended_tells_what_became_of_its_requests(api, told):
    counts = {"rows": 4, "completed": 1, "error": 1, "released": 2}
    error = {"code": "account", "message": "no credit"}
    ended = {"status": "error", "completedAt": NOW, "error": error, "counts": counts}
    text = told(api.new_batch("a", **ended, unclear=1, aboveBound=2))
    assert "state error, ended at TIME\n" in text
    assert "requests 1 completed, 1 error, 2 released\n" in text
    assert "released ones went back to their queue" in text
    assert "unclear 1 call may be paid without an answer\n" in text
    assert "charged 2 requests above what was reserved\n" in text
    assert "account: its connection was revoked, or a key, a bill or a model was refused\n" in text


def test_an_import_tells_its_lines_and_why_it_ended(api, run, told, tmp_path):
    (tmp_path / "rows.jsonl").write_text("{}\nbroken\n")
    options = ("--format", "openai", "--connection", api.new_connection(), "--purpose", "scoring")
    import_id = run("llm", "import", "rows.jsonl", *options).stdout.strip()
    text = told(import_id)
    assert f"import {import_id} of 10 bytes, openai, for scoring\n" in text
    assert "lines 2 read, 1 enqueued, 1 rejected\n" in text
    assert "rejected line 2: it is no JSON object\n" in text
    assert f"`autotune llm wait --import {import_id}`" in text
    api.imports[import_id] |= {"state": "failed", "errorCode": "lines_rejected"}
    assert "failed lines_rejected: a line is wrong, and onError is rejectAll" in told(import_id)
    api.imports[import_id] |= {"state": "waiting", "waitingBecause": "no room", "errorCode": None}
    assert "waits no room\n what to do: nothing, it goes on as others end" in told(import_id)
    assert "Signature" not in run("explain", import_id, "--json").stdout


def test_what_is_not_there_has_the_status_of_that(api, run):
    for kind in ("llm", "lbt"):
        assert run("explain", derived_id(kind, "none")).exit_code == exit_codes.NOT_FOUND
    ran = run("explain", "task_" + "0" * 26)
    assert (ran.exit_code, "nothing that is explained" in ran.stderr) == (
        exit_codes.NOT_FOUND,
        True,
    )


@pytest.mark.parametrize(
    ("table", "codes"),
    [
        (WAITING, LlmWaitingReason),
        (ENDED, LlmErrorCode),
        (NOT_REASKED, LlmReaskSkipped),
        (IMPORT_ENDED, LlmImportErrorCode),
        (LIMITS, JobLimitName),
    ],
    ids=["waiting", "ended", "reasked", "imports", "limits"],
)
def test_every_code_has_a_meaning(table, codes):
    assert set(table) == set(get_args(codes))


def test_every_stage_of_a_job_has_words():
    assert set(_STAGES) == set(get_args(BatchPhase)) - {"working"}
