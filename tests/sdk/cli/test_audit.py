from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter

from autotune import AuditedCall, AuditedDecision, AuditedEvent, AutotuneClient
from autotune.cli import exit_codes
from autotune.protocol.audit import AuditEntry
from autotune.protocol.ids import new_id
from autotune_platform.runtime.environment.audit import AuditEnvironment
from autotune_platform.wiring.access import AuditParts

END = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
"""Before what tests themselves call, which is in the log too."""

TIMES = [END - timedelta(hours=hours) for hours in (1, 26, 51)]
SPAN = ("--since", f"{END - timedelta(days=3):%FT%TZ}", "--until", f"{END:%FT%TZ}")


@pytest.fixture
def entries(api):
    """Store a decision and two calls, which are a day apart; return them, the newest first."""
    call = {
        "kind": "call",
        "action": "delete_task",
        "keyId": new_id("key"),
        "principalId": "p1",
        "role": "admin",
        "authenticated": True,
        "method": "DELETE",
        "route": "/api/v1/tasks/{task_id}",
        "ids": {"task_id": new_id("task")},
        "status": 404,
        "code": "not_found",
        "requestId": new_id("req"),
        "sourceAddress": "192.0.2.7",
        "durationMs": 12,
    }
    decision = {
        "kind": "decision",
        "action": "decide_completions",
        "batchId": new_id("bat"),
        "graderId": new_id("grd"),
        "graderVersion": "1",
        "decidedAt": TIMES[0] - timedelta(minutes=1),
        "verdicts": [
            {"state": "scored", "completionIds": [new_id("cmp"), new_id("cmp")]},
            {"state": "canceled", "completionIds": [new_id("cmp")]},
        ],
    }
    logged = [decision, call, {**call, "principalId": "p2"}]
    repository = AuditParts(AuditEnvironment.parse()).audit_repository
    for entry, time in zip(logged, TIMES, strict=True):
        stored = TypeAdapter(AuditEntry).validate_python(
            {**entry, "id": new_id("aud"), "time": time}
        )
        repository.add(api.platform.me()["organizationId"], stored)
    return logged


def test_the_audit_log_is_listed_with_who_what_and_outcome(run, entries):
    header, decision, call, _ = run("audit", *SPAN).stdout.splitlines()
    assert header.split()[:4] == ["TIME", "ACTION", "BY", "OUTCOME"]
    assert "decide_completions" in decision
    assert "2 scored, 1 canceled" in decision
    assert entries[0]["batchId"] in decision
    for told in (f"{TIMES[1]:%F %T}", "delete_task", "p1", "404 not_found", "192.0.2.7"):
        assert told in call
    assert entries[1]["ids"]["task_id"] in call


def test_the_audit_log_is_filtered(run, entries):
    assert len(run("audit", *SPAN, "--json").json_lines) == 3
    assert len(run("audit", *SPAN, "--limit", 2, "--json").json_lines) == 2
    (one,) = run("audit", *SPAN, "--principal-id", "p2", "--json").json_lines
    assert one["time"].startswith(f"{TIMES[2]:%FT%T}")
    (one,) = run("audit", *SPAN, "--action", "decide_completions", "--json").json_lines
    assert one["kind"] == "decision"
    between = [f"{time + timedelta(hours=1):%FT%TZ}" for time in (TIMES[2], TIMES[1])]
    (one,) = run("audit", "--since", between[0], "--until", between[1], "--json").json_lines
    assert one["time"].startswith(f"{TIMES[1]:%FT%T}")
    assert run("audit", "--since", "lately").exit_code == exit_codes.USAGE


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"taskId": "apt_x", "version": 2, "kind": "alarm"}, ["alarm 2", "apt_x"]),
        ({"scope": "organization", "period": "day", "name": "2026-11-27"}, ["day", "2026-11-27"]),
    ],
)
def test_what_happened_by_itself_is_listed_too(api, run, data, told):
    event = AuditedEvent(
        id=new_id("aud"), time=TIMES[1], action="budget_warning", event_id="evt_x", data=data
    )
    repository = AuditParts(AuditEnvironment.parse()).audit_repository
    repository.add(api.platform.me()["organizationId"], event)
    _, line = run("audit", *SPAN).stdout.splitlines()
    assert all(word in line for word in ("budget_warning", *told))


def test_without_a_beginning_it_is_a_day(run, entries):
    (one,) = run("audit", "--until", SPAN[3], "--json").json_lines
    assert one["kind"] == "decision"


def test_the_client_tells_calls_from_decisions(api, entries):
    since = END - timedelta(hours=27)
    with AutotuneClient() as client:
        listed = list(client.audit.list(since=since, until=END, page_size=1))
    assert [type(entry) for entry in listed] == [AuditedDecision, AuditedCall]
    assert api.count("GET .*/audit") > 1
