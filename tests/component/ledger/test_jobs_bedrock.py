"""Bedrock through the whole core: roles, buckets, jobs of a hundred rows, and what is too few."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from autotune.protocol.llm_bedrock import BedrockSettings
from autotune_platform.ledger.bedrock_access import BedrockAccess
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.job_sizes import JOB_SIZES
from autotune_platform.ledger.jobs.bedrock import BedrockJobs
from autotune_platform.ledger.jobs.bedrock_bucket import BedrockBucket
from autotune_platform.ledger.jobs.contract import Body, Created, Job, Unclear
from autotune_platform.ledger.jobs.session import Session
from autotune_platform.ledger.providers.bedrock import BedrockFormat
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.outbound.connections import connection_pool
from tests.support import bedrock
from tests.support.bedrock import BUCKET, MODEL, PREFIX, PRICES, ROLE, settings
from tests.support.ledger import Ledger, row
from tests.unit.ledger.asking import connection, question

FEW = 6


@pytest.fixture
def lab(ledger: Ledger) -> Iterator[Ledger]:
    """A ledger, and a role that demands the external id which a first connection showed."""
    world = ledger.fake.world
    with bedrock.token_service(ledger.fake.base_url):
        first = connect(ledger)
        world.roles[ROLE] = connection_of(ledger, first)["bedrock"]["externalId"]
        ledger.platform.call("DELETE", f"/api/v1/llm-connections/{first}")
        yield ledger


@pytest.fixture
def small_jobs(lab: Ledger, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The same, where six rows are enough for a job."""
    monkeypatch.setitem(JOB_SIZES, "bedrock", replace(JOB_SIZES["bedrock"], rows_at_least=FEW))
    lab.fake.world.limits["bedrock"] = {"least_rows": FEW}
    return lab


def connect(lab: Ledger, **fields: Any) -> str:
    changed = {
        "provider": "bedrock",
        "baseUrl": lab.fake.base_url,
        "apiKey": None,
        "prices": PRICES,
        "bedrock": settings(),
        "maxWaitSeconds": 0,
        **fields,
    }
    return lab.connect(**changed)


def enqueue(lab: Ledger, count: int = FEW, **fields: Any) -> list[str]:
    users = [f"question {number}" for number in range(count)]
    ids: list[str] = lab.enqueue(connect(lab, **fields), *users, model=MODEL)
    return ids


def trap(lab: Ledger, name: str, *, times: int | None = 1, **params: Any) -> None:
    lab.fake.world.traps.arm(name=name, times=times, params=params)


def read_all(lab: Ledger, ids: list[str]) -> list[dict[str, Any]]:
    return [lab.read(one) for one in ids]


def assert_all_completed(lab: Ledger, ids: list[str]) -> None:
    found = read_all(lab, ids)
    refusals = (lab.fake.world.refusals, [one.get("error") for one in found])
    assert {one["status"] for one in found} == {"completed"}, refusals


def assert_paid_once(lab: Ledger, ids: list[str]) -> None:
    bill = lab.fake.world.bill()["total_nano_usd"]
    assert bill > 0
    assert sum(lab.read(one)["costNanoUsd"] or 0 for one in ids) == bill
    # A job may end on the second day after it was paid for, in which that day is settled no more.
    assert lab.spent_and_reserved("week") == (bill, 0)
    ran = Counter(one.custom_id for one in lab.fake.world.executions if one.custom_id)
    assert set(ran.values()) <= {1}
    assert lab.fake.world.bugs == []
    assert lab.fake.world.broken_limits == []


def connection_of(lab: Ledger, connection_id: str) -> dict[str, Any]:
    found: dict[str, Any] = lab.platform.call(
        "GET", f"/api/v1/llm-connections/{connection_id}"
    ).json["connection"]
    return found


def test_a_hundred_rows_are_one_job_and_nothing_is_left_in_the_bucket(lab: Ledger) -> None:
    lab.fake.world.objects[BUCKET, "theirs.txt"] = b"not ours"
    ids = enqueue(lab, 100)
    lab.run_jobs()
    assert_all_completed(lab, ids)
    (job,) = lab.fake.world.batches.values()
    assert len(job.rows) == 100
    assert job.extra["body"]["roleArn"] == bedrock.BATCH_ROLE
    assert job.extra["body"]["modelInvocationType"] == "Converse"
    assert job.name == f"autotune-{job.extra['token']}"
    assert_paid_once(lab, ids)
    assert list(lab.fake.world.objects) == [(BUCKET, "theirs.txt")]


def test_fewer_rows_are_asked_one_by_one_at_the_standard_price(lab: Ledger) -> None:
    ids = enqueue(lab, 5)
    lab.run_jobs()
    assert_all_completed(lab, ids)
    assert lab.fake.world.batches == {}
    assert {one["mode"] for one in lab.batches()} == {"calls"}
    assert_paid_once(lab, ids)


def test_rows_that_are_canceled_before_a_job_is_written_leave_too_few(small_jobs: Ledger) -> None:
    ids = enqueue(small_jobs, FEW)
    small_jobs.sweep()
    state, *_ = small_jobs.started()
    # Taken into a batch, and canceled before its input is written.
    for one in ids[:2]:
        small_jobs.platform.call("POST", f"/api/v1/llm-requests/{one}/cancel")
    small_jobs.step(state)
    small_jobs.run_jobs()
    found = Counter(one["status"] for one in read_all(small_jobs, ids))
    assert found == {"completed": FEW - 2, "canceled": 2}
    assert small_jobs.fake.world.batches == {}
    assert_paid_once(small_jobs, ids)


CALM = [
    ("create_answer_lost", {}),
    ("create_429", {}),
    ("create_500", {}),
    ("upload_429", {}),
    ("upload_500", {}),
    ("upload_answer_lost", {}),
    ("get_429", {}),
    ("get_500", {}),
    ("get_404_after_create", {"looks": 3}),
    ("list_lags", {"looks": 3}),
    ("list_pages", {}),
    ("list_ignores_filters", {}),
    ("download_500", {}),
    ("download_answer_lost", {}),
    ("output_id_later", {"seconds": 900}),
    ("counts_zero", {}),
    ("counts_absent", {}),
    ("expires_partial", {}),
    ("expires_empty", {}),
    ("succeeds_late", {}),
    ("token_limit", {}),
    ("cached_tokens", {}),
    ("row_error", {"status": 500}),
    ("row_error", {"status": 429}),
    ("bedrock_partially_completed", {}),
    ("bedrock_several_outputs", {"files": 3}),
]
"""Traps after which every row is answered, and paid exactly once."""

TRAPS = [
    pytest.param(name, params, id=f"{name}-{number}") for number, (name, params) in enumerate(CALM)
]


@pytest.mark.parametrize(("name", "params"), TRAPS)
def test_a_trap_costs_time_and_nothing_else(
    small_jobs: Ledger, name: str, params: dict[str, Any]
) -> None:
    trap(small_jobs, name, **params)
    if name.startswith("list"):
        trap(small_jobs, "create_answer_lost")
    ids = enqueue(small_jobs)
    small_jobs.run_jobs()
    assert_all_completed(small_jobs, ids)
    assert_paid_once(small_jobs, ids)
    assert [one.trap for one in small_jobs.fake.world.traps.firings if one.trap == name]


def cancel_under_way(lab: Ledger, *, seconds: float) -> list[str]:
    """Cancel a batch so long after its job was created; return its rows."""
    ids = enqueue(lab)
    lab.sweep()
    state, *_ = lab.started()
    while not lab.fake.world.batches:
        state = lab.step(state)
    (batch,) = [one for one in lab.batches() if one.get("job", {}).get("id")]
    lab.fake.world.clock.advance(seconds)
    lab.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/cancel")
    lab.step(state)
    assert lab.fake.world.requests["bedrock.cancel"] == 1
    lab.run_jobs()
    return ids


def test_a_canceled_job_that_completes_keeps_all_answers(small_jobs: Ledger) -> None:
    trap(small_jobs, "cancel_completes")
    ids = cancel_under_way(small_jobs, seconds=31)
    assert_all_completed(small_jobs, ids)
    assert_paid_once(small_jobs, ids)


def test_a_job_that_is_stopped_keeps_what_was_paid(small_jobs: Ledger) -> None:
    ids = cancel_under_way(small_jobs, seconds=31)
    found = Counter(one["status"] for one in read_all(small_jobs, ids))
    assert found == {"completed": 3, "canceled": 3}
    assert_paid_once(small_jobs, ids)


def test_verify_asks_converse_with_the_role(lab: Ledger) -> None:
    external_id = lab.fake.world.roles[ROLE]
    assert external_id is not None
    connection = connect(lab)
    path = f"/api/v1/llm-connections/{connection}/verify"
    found = lab.platform.call("POST", path, {"model": MODEL}).json
    assert found["works"] is True
    probe, other, assumed = lab.fake.world.assumed
    assert "ExternalId" not in probe
    assert other["ExternalId"] != external_id
    assert assumed["ExternalId"] == external_id
    assert assumed["RoleArn"] == ROLE
    assert assumed["RoleSessionName"] == f"autotune-{connection}"
    assert bedrock.BATCH_ROLE in assumed["Policy"]
    assert f"{BUCKET}/{PREFIX}*" in assumed["Policy"]
    shown = connection_of(lab, connection)["bedrock"]
    assert shown["externalId"] == external_id


def test_a_role_that_demands_another_external_id_is_never_used(lab: Ledger) -> None:
    """Another organisation's role: its external id is its own organisation's."""
    lab.fake.world.roles[ROLE] = "org_another"
    path = f"/api/v1/llm-connections/{connect(lab)}/verify"
    found = lab.platform.call("POST", path, {"model": MODEL}).json
    assert (found["works"], found["errorCode"]) == (False, "account")
    assert "AccessDenied" in found["detail"]
    assert lab.fake.world.executions == []


def test_a_role_that_demands_no_external_id_is_never_used(lab: Ledger) -> None:
    external_id = lab.fake.world.roles[ROLE]
    assert external_id is not None
    lab.fake.world.roles[ROLE] = None
    path = f"/api/v1/llm-connections/{connect(lab)}/verify"
    found = lab.platform.call("POST", path, {"model": MODEL}).json
    assert (found["works"], found["errorCode"]) == (False, "account")
    assert external_id in found["detail"]
    assert lab.fake.world.executions == []


def test_a_role_that_is_refused_pauses_and_an_update_takes_it_up(small_jobs: Ledger) -> None:
    external_id = small_jobs.fake.world.roles.pop(ROLE)
    connection = connect(small_jobs)
    users = [f"question {number}" for number in range(FEW)]
    ids = small_jobs.enqueue(connection, *users, model=MODEL)
    with pytest.raises(AssertionError, match="under way"):
        small_jobs.run_jobs(hours=3)
    shown = connection_of(small_jobs, connection)
    assert (shown["status"], "AccessDenied" in shown["pausedBecause"]) == ("paused", True)
    small_jobs.fake.world.roles[ROLE] = external_id
    small_jobs.platform.call("PATCH", f"/api/v1/llm-connections/{connection}", {"name": "again"})
    small_jobs.run_jobs()
    assert_all_completed(small_jobs, ids)
    assert {one["attempt"] for one in read_all(small_jobs, ids)} == {1}
    assert_paid_once(small_jobs, ids)


def test_a_token_service_that_is_down_is_waited_for(small_jobs: Ledger) -> None:
    small_jobs.fake.world.sts_failures = 2
    ids = enqueue(small_jobs)
    small_jobs.run_jobs()
    assert_all_completed(small_jobs, ids)
    assert_paid_once(small_jobs, ids)


def test_a_bucket_that_is_another_accounts_pauses(small_jobs: Ledger) -> None:
    small_jobs.fake.world.bucket_owner = "999999999999"
    connection = connect(small_jobs)
    users = [f"question {number}" for number in range(FEW)]
    small_jobs.enqueue(connection, *users, model=MODEL)
    with pytest.raises(AssertionError, match="under way"):
        small_jobs.run_jobs(hours=3)
    shown = connection_of(small_jobs, connection)
    assert shown["status"] == "paused"
    assert f"bucket {BUCKET}: AccessDenied" in shown["pausedBecause"]
    assert small_jobs.fake.world.objects == {}


def test_credentials_of_the_platform_and_of_roles_are_in_no_answer(small_jobs: Ledger) -> None:
    ids = enqueue(small_jobs)
    small_jobs.run_jobs()
    shown = f"{read_all(small_jobs, ids)} {small_jobs.batches()}"
    assert "session-of-" not in shown
    assert "ASIA" not in shown


def test_a_budget_without_room_for_a_whole_job_is_waited_for(small_jobs: Ledger) -> None:
    """Asked one by one they would cost more, and a job of the few is refused."""
    small_jobs.platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "0.00005"})
    ids = enqueue(small_jobs)
    with pytest.raises(AssertionError, match="under way"):
        small_jobs.run_jobs(hours=1)
    assert {one["status"] for one in read_all(small_jobs, ids)} == {"queued"}
    assert small_jobs.fake.world.executions == []
    small_jobs.platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "1"})
    small_jobs.run_jobs()
    assert_all_completed(small_jobs, ids)
    assert len(small_jobs.fake.world.batches) == 1
    assert_paid_once(small_jobs, ids)


def test_a_token_that_is_replayed_is_the_same_job(lab: Ledger) -> None:
    world = lab.fake.world
    world.limits["bedrock"] = {"least_rows": 1}
    jobs = BedrockJobs(BedrockFormat())
    access = {**BedrockSettings.model_validate(settings()).model_dump()}
    to_bedrock = connection(
        "bedrock",
        base_url=lab.fake.base_url,
        bedrock=BedrockAccess(**access, external_id=world.roles[ROLE]),
    )
    rows = jobs.row("row1", question(MODEL)) + jobs.framing.after
    body = Body(len(rows), lambda: iter([rows]))
    job = Job("lbt_1", "nonce1", MODEL, 1, datetime.now(UTC))
    with connection_pool(admit_private=True) as pool:
        roles = RoleSessions(sts=bedrock.sts_of(lab.fake.base_url))
        session = Session(to_bedrock, None, Exchanges(pool), roles)
        key = jobs.upload(session, job, body)
        assert isinstance(key, str)
        job = replace(job, input_file=key)
        made = [jobs.create(session, job, body) for _ in range(2)]
        assert made[0] == made[1] == Created(next(iter(world.batches)))
        assert len(world.batches) == 1
        assert [one.trap for one in world.traps.firings] == ["bedrock_token_replayed"]
        # The same token for another job says that there is one: no certainty that there is none.
        other = replace(job, model="anthropic.claude-haiku-4-5-20251001-v1:0")
        assert isinstance(jobs.create(session, other, body), Unclear)


@pytest.mark.parametrize("more", [0, 3])
def test_what_the_manifest_counts_is_compared_with_what_was_charged(
    small_jobs: Ledger, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    read = BedrockBucket.read

    def told(self: BedrockBucket, *args: Any) -> Any:
        manifest = read(self, *args)
        return {**manifest, "outputTokenCount": manifest["outputTokenCount"] + more}

    monkeypatch.setattr(BedrockBucket, "read", told)
    ids = enqueue(small_jobs)
    small_jobs.run_jobs()
    (batch,) = small_jobs.batches()
    bill = small_jobs.fake.world.bill()["tokens"]
    assert batch["reported"] == {
        "usage": {
            "inputTokens": bill["input"],
            "cachedInputTokens": None,
            "outputTokens": bill["output"] + more,
        },
        "costNanoUsd": None,
    }
    difference = batch["difference"]
    assert (difference["inputTokens"], difference["outputTokens"]) == (0, more)
    assert (difference["cachedInputTokens"], difference["withinTolerance"]) == (None, not more)
    assert_paid_once(small_jobs, ids)


def test_the_manifest_of_a_job_that_ran_out_of_time_counts_what_it_ran(small_jobs: Ledger) -> None:
    trap(small_jobs, "bedrock_partially_completed", share=0.5)
    ids = enqueue(small_jobs)
    small_jobs.run_jobs()
    jobs = [one for one in small_jobs.batches() if one["difference"]]
    assert [one["counts"]["completed"] for one in jobs if one["counts"]["released"]] == [FEW // 2]
    assert all(one["difference"]["withinTolerance"] for one in jobs)
    assert {one["difference"]["outputTokens"] for one in jobs} == {0}
    assert_all_completed(small_jobs, ids)


FORM = {"type": "json_schema", "structure": {"jsonSchema": {"schema": '{"type": "object"}'}}}


def test_what_only_jobs_refuse_is_asked_by_itself_where_that_may_be(small_jobs: Ledger) -> None:
    ids = enqueue(small_jobs)
    asked = {"maxTokens": 50, "responseFormat": FORM}
    (single,) = small_jobs.enqueue(connect(small_jobs), "q", model=MODEL, params=asked)
    small_jobs.run_jobs()
    assert {small_jobs.read(one)["status"] for one in [*ids, single]} == {"completed"}
    modes = Counter(one.mode for one in small_jobs.fake.world.executions)
    assert modes == {"batch": FEW, "synchronous": 1}


def test_what_only_jobs_refuse_is_refused_by_field_where_all_goes_in_jobs(lab: Ledger) -> None:
    body = row(connect(lab, batches="always"), model=MODEL)
    body["params"] = {"maxTokens": 50, "responseFormat": FORM}
    answer = lab.platform.call("POST", "/api/v1/llm-requests", body)
    assert (answer.status, list(answer.fields)) == (422, ["params.responseFormat"])
    assert "batch jobs of bedrock do not take it" in answer.text
    assert lab.platform.call("GET", "/api/v1/llm-requests").json["requests"] == []
