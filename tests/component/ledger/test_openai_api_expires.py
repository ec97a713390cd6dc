"""What goes by time behind OpenAI's batch API: batches that a provider lets expire, and files."""

from datetime import datetime, timedelta

import pytest

from tests.component.ledger.test_jobs import connect
from tests.support.compatible import Compatible
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger, later

_MODEL = "gpt-5-mini"


@pytest.fixture
def compatible(ledger: Ledger, imports: Imports) -> Compatible:
    return Compatible(ledger, imports)


def test_a_batch_whose_lines_a_provider_lets_expire_is_expired(compatible: Compatible) -> None:
    ledger = compatible.ledger
    ledger.fake.world.traps.arm(name="expires_empty", times=None, params={})
    compatible.connection_id = connect(ledger, "openai")
    compatible.token = compatible.new_token()["secret"]
    begun = compatible.begin(openai_line("a", model=_MODEL), openai_line("b", model=_MODEL))
    compatible.take_in()
    ledger.run_jobs(hours=150)
    with later(timedelta(seconds=ledger.passed)):
        found = compatible.batch(begun["id"])
        errors = compatible.content(found["error_file_id"])
    assert (found["status"], found["output_file_id"]) == ("expired", None)
    assert found["expired_at"] is not None
    assert found["request_counts"] == {"total": 2, "completed": 0, "failed": 2}
    assert [one["error"]["code"] for one in errors] == ["batch_expired", "batch_expired"]
    assert ledger.fake.world.executions == []


DAY = 86_400


def test_files_go_when_their_caller_says_and_after_seven_days_at_most(
    compatible: Compatible,
) -> None:
    soon = compatible.upload(b"{}\n", anchor="created_at", seconds=3_600).json
    assert soon["expires_at"] - soon["created_at"] == 3_600
    late = compatible.upload(b"{}\n", anchor="created_at", seconds=2_592_000).json
    assert late["expires_at"] - late["created_at"] == 7 * DAY
    with later(timedelta(seconds=3_601)):
        assert compatible.ask("GET", f"/files/{soon['id']}").status == 404
        assert compatible.ask("GET", f"/files/{soon['id']}/content").status == 404
        listed = compatible.ask("GET", "/files").json["data"]
    assert [one["id"] for one in listed] == [late["id"]]


def test_what_a_batch_comes_to_goes_when_its_caller_says(compatible: Compatible) -> None:
    file_id = compatible.upload(jsonl(openai_line())).json["id"]
    kept = {"anchor": "created_at", "seconds": 7_200}
    begun = compatible.create(file_id, output_expires_after=kept).json
    assert compatible.create(file_id, output_expires_after=kept).json["id"] == begun["id"]
    assert compatible.create(file_id).json["id"] != begun["id"], "it asks for something else"
    compatible.run()
    output = compatible.batch(begun["id"])["output_file_id"]
    found = compatible.ask("GET", f"/files/{output}").json
    assert found["expires_at"] - found["created_at"] == 7_200
    with later(timedelta(seconds=7_201)):
        assert compatible.ask("GET", f"/files/{output}/content").status == 404
        assert compatible.batch(begun["id"])["status"] == "completed"


def test_texts_go_when_the_token_says_and_files_no_later(compatible: Compatible) -> None:
    made = compatible.new_token(retentionDays=3)
    assert made["token"]["retentionDays"] == 3
    compatible.token = made["secret"]
    file = compatible.upload(jsonl(openai_line("a"), openai_line("b"))).json
    assert file["expires_at"] - file["created_at"] == 3 * DAY
    begun = compatible.create(file["id"]).json
    compatible.run()
    done = compatible.batch(begun["id"])
    output = compatible.ask("GET", f"/files/{done['output_file_id']}").json
    assert output["expires_at"] - output["created_at"] == 3 * DAY
    rows = compatible.ledger.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    for row in rows:
        kept = datetime.fromisoformat(row["expiresAt"]) - datetime.fromisoformat(row["createdAt"])
        assert abs(kept - timedelta(days=3)) < timedelta(minutes=1)
    assert len(rows) == 2
    read = compatible.ledger.platform.call("GET", f"/api/v1/llm-tokens/{made['token']['id']}")
    assert read.json["token"]["retentionDays"] == 3


@pytest.mark.parametrize("days", [0, 3_651, 1.5])
def test_a_retention_that_is_none_is_refused(compatible: Compatible, days: float) -> None:
    body = {"name": "t", "connectionId": compatible.connection_id, "retentionDays": days}
    answer = compatible.ledger.platform.call("POST", "/api/v1/llm-tokens", body)
    assert (answer.status, list(answer.fields)) == (422, ["retentionDays"])
