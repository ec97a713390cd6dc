import asyncio
from datetime import UTC, datetime

import httpx
import pytest

from autotune import (
    AsyncAutotuneClient,
    AutotuneClient,
    GraderCapabilities,
    GraderLimits,
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
    ReviewPolicy,
    SubmittedCompletion,
)
from autotune.protocol.builtin import StringCheck
from tests.support.graders import answering, healthy
from tests.support.http_faults import Fault

GRADER = "grd_" + "0" * 26


def test_tasks_are_created_read_changed_listed_and_deleted(api, client):
    grader_id = client.tasks.get(api.new_task()).grader_id
    task = client.tasks.create(name="proofs", grader_id=grader_id, metadata={"level": [1, 2]})
    assert client.tasks.get(task.id) == task
    changed = client.tasks.update(task.id, description="Geometry", metadata={})
    assert (changed.name, changed.description, changed.metadata) == ("proofs", "Geometry", {})
    assert client.tasks.update(task.id, deadline_seconds=90).deadline_seconds == 90
    assert client.tasks.update(task.id, deadline_seconds=None).deadline_seconds is None
    assert task.id in [listed.id for listed in client.tasks.list()]
    client.tasks.delete(task.id)
    with pytest.raises(NotFoundError) as caught:
        client.tasks.get(task.id)
    assert caught.value.code == "not_found"
    assert caught.value.request_id.startswith("req_")


def test_a_task_names_several_graders_and_when_a_person_is_asked(client, verified):
    first, second = verified(), verified()
    policy = ReviewPolicy(confidence_below=0.5, on_expiry="fail")
    task = client.tasks.create(
        name="proofs",
        graders={first: 2, second: 1.5},
        aggregation="median",
        quorum=1,
        review=policy,
    )
    assert task.grader_id is None
    assert {named.grader_id: named.weight for named in task.graders} == {first: 2, second: 1.5}
    assert (task.aggregation, task.quorum) == ("median", 1)
    assert (task.review.confidence_below, task.review.on_expiry) == (0.5, "fail")
    assert task.review.expires_after_seconds == 259_200
    changed = client.tasks.update(task.id, review={"sampledShare": 0.1}, quorum=2)
    assert (changed.review.sampled_share, changed.quorum) == (0.1, 2)
    lifted = client.tasks.update(task.id, review=None, quorum=None)
    assert (lifted.review, lifted.quorum) == (None, None)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, "graderId"),
        ({"graders": {}}, "graders"),
        ({"graders": {GRADER: 0}}, "weight"),
        ({"graders": {GRADER: 1}, "grader_id": GRADER}, "grader_id"),
        ({"grader_id": GRADER, "quorum": 2}, "quorum"),
        ({"grader_id": GRADER, "review": {"sampled": 1}}, "sampled"),
    ],
)
def test_graders_that_cannot_be_are_refused_before_anything_is_sent(client, fields, named):
    with pytest.raises(InvalidInputError, match=named):
        client.tasks.create(name="x", **fields)


def test_graders_are_registered_verified_changed_and_deleted(api, client):
    registered = client.graders.register(
        name="numeric",
        endpoint=api.grader.url,
        capabilities=GraderCapabilities(max_batch_size=50),
        limits=GraderLimits(max_concurrency=4),
        visibility="public",
    )
    grader = registered.grader
    assert registered.credentials.shared_secret
    assert grader.capabilities.max_batch_size == 50
    assert (grader.limits.max_concurrency, grader.limits.requests_per_second) == (4, None)
    with pytest.raises(InvalidInputError):
        client.graders.update(grader.id, limits={"maxConcurrency": 0})
    api.grader.health_disease = answering(sign=False)
    failed = client.graders.verify(grader.id)
    assert not failed.verified
    assert failed.checks[0].reason_code == "response_unsigned"
    api.grader.health_disease = healthy
    assert client.graders.verify(grader.id).verified
    assert client.graders.update(grader.id, share_reasoning=True).share_reasoning
    assert client.graders.get(grader.id).status == "active"
    assert [one.id for one in client.graders.list()] == [grader.id]
    client.graders.delete(grader.id)
    assert list(client.graders.list()) == []


def test_the_secret_of_a_grader_is_rotated(api, client):
    registered = client.graders.register(name="n", endpoint=api.grader.url)
    rotated = client.graders.rotate_secret(registered.grader.id)
    assert rotated.credentials.grader_id == registered.grader.id
    assert rotated.credentials.shared_secret != registered.credentials.shared_secret
    assert rotated.grader.previous_secret_until > rotated.grader.updated_at


def test_the_health_of_a_grader_is_read(api, client):
    grader_id = client.graders.register(name="n", endpoint=api.grader.url).grader.id
    assert client.graders.health(grader_id).probed is False
    client.graders.verify(grader_id)
    api.platform.probe_graders()
    health = client.graders.health(grader_id)
    assert (health.status, health.consecutive_healthy) == ("active", 1)
    assert health.last_probe.outcome == "healthy"
    assert 0 < health.last_probe.latency_ms < 10_000
    with pytest.raises(NotFoundError):
        client.graders.health("grd_none")


def test_a_grader_is_pinned_to_its_certificate_and_released(client):
    first, second = "0" * 64, "f" * 64
    grader = client.graders.register(
        name="n", endpoint="https://g.example", certificate_sha256=[first]
    ).grader
    assert grader.certificate_sha256 == [first]
    changed = client.graders.update(grader.id, certificate_sha256=[first, second])
    assert changed.certificate_sha256 == [first, second]
    assert client.graders.update(grader.id, name="m").certificate_sha256 == [first, second]
    assert client.graders.update(grader.id, certificate_sha256=[]).certificate_sha256 == []
    with pytest.raises(InvalidInputError, match="certificate_sha256"):
        client.graders.update(grader.id, certificate_sha256=["AA:BB"])


def test_a_graders_figures_and_usage_are_read(api, client):
    task_id = api.new_task()
    grader_id = client.tasks.get(task_id).grader_id
    assert client.graders.stats(grader_id).p99_latency_ms is None
    for version, score in (("1.0.0", 0.5), ("2 beta+", 0.25)):
        api.grader.version = version
        judged = [{"metadata": {"value": score}}, {"metadata": {"outcome": "failed"}}]
        api.platform.submit(task_id, *judged)
        api.platform.score()
    api.platform.project()
    stats = client.graders.stats(grader_id)
    assert {one.version: one.avg_score for one in stats.versions} == {"1.0.0": 0.5, "2 beta+": 0.25}
    one = client.graders.stats(grader_id, version="2 beta+")
    assert (one.version, one.avg_score, one.counts.failed) == ("2 beta+", 0.25, 1)
    month = f"{datetime.now(UTC):%Y-%m}"
    used = client.graders.usage(grader_id, month=month)
    assert (used.month, used.total, used.counts.failed) == (month, 4, 2)
    assert client.graders.usage(grader_id, month="2026-01").total == 0
    with pytest.raises(NotFoundError):
        client.graders.usage("grd_none")
    # What is counted by time is the same, and everybody's of the organisation alone.
    in_a_day = client.graders.stats(grader_id, window="24h")
    assert (in_a_day.counts, in_a_day.total_scored) == (stats.counts, stats.total_scored)
    assert len(in_a_day.over_time.buckets) == 24
    of_task = client.tasks.stats(task_id, window="24h", grader_version="2 beta+")
    assert (of_task.totals.counts.scored, of_task.models[0].model_id) == (1, "m")
    assert client.tasks.compare(task_id, a="m", b="n").prompts == 0
    overview = client.overview.get(window="7d")
    assert (overview.totals.counts, len(overview.buckets)) == (stats.counts, 168)


def test_keys_are_created_used_and_revoked(api, client):
    created = client.keys.create(name="trainer", role="training_operator", principal_id="lab-1")
    with AutotuneClient(base_url=api.base_url, api_key=created.api_key) as trainer:
        me = trainer.keys.me()
    assert me.model_copy(update={"last_used_at": None}) == created.key
    renamed = client.keys.rename(created.key.id, name="night run")
    assert (renamed.name, renamed.last_used_at) == ("night run", me.last_used_at)
    assert {key.role for key in client.keys.list()} == {"admin", "training_operator"}
    assert client.keys.revoke(created.key.id).status == "revoked"


def test_sessions_are_made_listed_and_revoked(api, client):
    made = client.sessions.create(name="laptop", expires_in_minutes=30)
    assert made.url.startswith("https://api.test/console#code=ses_")
    session = made.session
    assert (session.status, session.role, session.name) == ("pending", "admin", "laptop")
    assert round((session.expires_at - session.created_at).total_seconds() / 60) == 30
    client.sessions.create()
    assert next(one.id for one in client.sessions.list(page_size=1)) == session.id
    assert client.sessions.revoke(session.id).status == "revoked"
    with pytest.raises(InvalidInputError, match="expires_in_minutes"):
        client.sessions.create(expires_in_minutes=721)
    with pytest.raises(NotFoundError):
        client.sessions.revoke("ses_none")


def test_a_completion_is_submitted_read_judged_and_deleted(api, client):
    task_id = api.new_task()
    submitted = client.completions.submit(
        task_id=task_id, model_id="m1", prompt="2 + 2 = ?", response="4", metadata={"value": 0.5}
    )
    assert isinstance(submitted, SubmittedCompletion)
    assert not submitted.replayed
    completion = submitted.completion
    assert client.completions.get(completion.id) == completion
    verdict = client.completions.verdict(completion.id)
    assert verdict.score.value == 0.5
    client.completions.delete(completion.id)
    with pytest.raises(NotFoundError):
        client.completions.get(completion.id)


def test_the_same_idempotency_key_returns_the_first_completion(api, client):
    given = {
        "task_id": api.new_task(),
        "model_id": "m1",
        "prompt": "p",
        "response": "r",
        "idempotency_key": "step-17/sample-3",
    }
    first = client.completions.submit(**given)
    again = client.completions.submit(**given)
    assert again.completion.id == first.completion.id
    assert (first.replayed, again.replayed) == (False, True)
    assert len(api.stored()) == 1


def test_lists_follow_every_page_lazily(api, client):
    for number in range(5):
        api.new_task(f"task {number}")
    names = [task.name for task in client.tasks.list(page_size=2)]
    assert names == [f"task {number}" for number in range(5)]
    assert api.count("GET /api/v1/tasks") == 3
    next(client.tasks.list(page_size=2))
    assert api.count("GET /api/v1/tasks") == 4


def test_arguments_out_of_range_are_named_and_nothing_is_sent(api, client):
    with pytest.raises(InvalidInputError, match="grader_id"):
        client.tasks.create(name="x", grader_id="not an id")
    with pytest.raises(InvalidInputError, match="non-empty id"):
        client.tasks.delete("")
    with pytest.raises(InvalidInputError, match="wait"):
        client.completions.verdict("cmp_1", wait=21)
    with pytest.raises(InvalidInputError, match="metadata must be JSON"):
        client.completions.submit(
            task_id="task_" + "0" * 26,
            model_id="m",
            prompt="p",
            response="r",
            metadata={"loss": float("nan")},
        )
    with pytest.raises(InvalidInputError, match="idempotency_key"):
        client.completions.submit(
            task_id="task_" + "0" * 26,
            model_id="m",
            prompt="p",
            response="r",
            idempotency_key="with spaces",
        )
    assert api.received == []


def test_an_id_with_a_slash_cannot_reach_another_path(api, client):
    with pytest.raises(NotFoundError):
        client.tasks.get("../keys/me")
    assert api.received[0].path == "/api/v1/tasks/..%2Fkeys%2Fme"


def test_the_asynchronous_client_does_the_same(api):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            task_id = api.new_task("one")
            api.new_task("two")
            assert [task.name async for task in client.tasks.list(page_size=1)] == ["one", "two"]
            submitted = await asyncio.gather(
                *(
                    client.completions.submit(
                        task_id=task_id, model_id="m", prompt=str(n), response="r"
                    )
                    for n in range(5)
                )
            )
            ids = {one.completion.id for one in submitted}
            listed = {one.completion_id async for one in client.scores.list(task_id=task_id)}
            assert listed == ids
            assert (await client.keys.me()).role == "admin"
            with pytest.raises(NotFoundError):
                await client.graders.get("grd_none")
            assert "Read a task." in client.tasks.get.__doc__

    asyncio.run(use())


def test_an_injected_http_client_is_used_and_left_open(api):
    seen = []
    with httpx.Client(event_hooks={"request": [lambda request: seen.append(request.url)]}) as http:
        with AutotuneClient(
            base_url=api.base_url + "/", api_key=api.api_key, http_client=http
        ) as client:
            client.keys.me()
        assert not http.is_closed
    assert [str(url) for url in seen] == [f"{api.base_url}/api/v1/keys/me"]


def test_a_forbidden_call_is_a_permission_error(api, client):
    api.misbehave(Fault(status=403, code="forbidden"))
    with pytest.raises(PermissionDeniedError):
        client.keys.create(name="x", role="admin")


def test_runs_are_listed_read_and_canceled(api, client):
    api.grading_seconds = None
    for _ in range(3):
        client.completions.submit(task_id=api.new_task(), model_id="m", prompt="p", response="r")
    runs = list(client.runs.list(state="pending", page_size=2))
    assert len(runs) == 3
    assert list(client.runs.list(state="completed")) == []
    run = client.runs.get(runs[0].id)
    assert (run.completions, run.remaining, run.counts.pending) == (1, 1, 1)
    canceled = client.runs.cancel(run.id)
    assert (canceled.state, canceled.counts.canceled) == ("canceled", 1)
    assert [one.id for one in client.runs.list(state="canceled")] == [run.id]
    with pytest.raises(NotFoundError):
        client.runs.get("run_none")


def test_what_is_pending_is_canceled(api, client):
    api.grading_seconds = None
    task_id = api.new_task()
    items = [{"taskId": task_id, "modelId": "m", "prompt": str(n), "response": "r"} for n in "ab"]
    (batch,) = client.completions.submit_many(items)
    assert client.completions.cancel(batch.completion_ids[0]).state == "canceled"
    counts = client.batches.cancel(batch.batch_id).counts
    assert (counts.canceled, counts.pending) == (2, 0)


def test_a_builtin_grader_is_registered_without_endpoint_or_secret(client):
    configuration = {"type": "exact_match", "reference": "{{ item.answer }}", "ignore_case": True}
    registered = client.graders.register(name="exact", builtin=configuration)
    grader = registered.grader
    assert registered.credentials is None
    assert (grader.kind, grader.status, grader.endpoint) == ("builtin", "active", None)
    assert grader.builtin["ignoreCase"] is True
    assert client.graders.verify(grader.id).checks == []
    model = StringCheck(type="string_check", reference="x", operation="like")
    assert client.graders.update(grader.id, builtin=model).builtin["operation"] == "like"
    openai = {"type": "string_check", "name": "x", "input": "a", "reference": "b"}
    openai["operation"] = "eq"
    assert client.graders.register(name="theirs", openai=openai).grader.kind == "builtin"
    assert client.graders.register(name="people", kind="human").grader.kind == "human"
    with pytest.raises(InvalidInputError, match="operation"):
        client.graders.register(name="x", builtin={**model.model_dump(), "operation": "is"})


def test_texts_expire_with_their_task_and_are_deleted_by_batch(api, client):
    grader_id = client.graders.register(name="n", kind="human").grader.id
    task = client.tasks.create(name="t", grader_id=grader_id, retention_days=30)
    assert task.retention_days == 30
    assert client.tasks.update(task.id, name="u").retention_days == 30
    assert client.tasks.update(task.id, retention_days=None).retention_days is None
    with pytest.raises(InvalidInputError, match="retention_days"):
        client.tasks.update(task.id, retention_days=0)
    completion = {"taskId": task.id, "modelId": "m", "prompt": "p", "response": "r"}
    (batch,) = client.completions.submit_many([completion])
    client.batches.delete_content(batch.batch_id)
    with pytest.raises(NotFoundError):
        client.completions.get(batch.completion_ids[0])
