"""OpenAI's batch API: a token and a file in, every line's answer or error out, each paid once."""

from datetime import timedelta

import pytest

from tests.support.compatible import Compatible
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger, later


@pytest.fixture
def compatible(ledger: Ledger, imports: Imports) -> Compatible:
    return Compatible(ledger, imports)


def test_a_batch_from_upload_to_results(compatible: Compatible) -> None:
    compatible.ledger.fake.world.answers.answerer = lambda ask: f"re: {ask.prompt}"
    content = jsonl(*(openai_line(f"row {number}", f"q{number}") for number in range(130)))
    file = compatible.upload(content).json
    assert (file["object"], file["bytes"], file["purpose"]) == ("file", len(content), "batch")
    begun = compatible.create(file["id"], metadata={"run": "7"}).json
    assert (begun["status"], begun["metadata"]) == ("validating", {"run": "7"})
    assert begun["request_counts"] == {"total": 130, "completed": 0, "failed": 0}
    compatible.take_in()
    assert compatible.batch(begun["id"])["status"] == "in_progress"
    compatible.ledger.run()
    done = compatible.batch(begun["id"])
    assert (done["status"], done["errors"], done["error_file_id"]) == ("completed", None, None)
    assert done["request_counts"] == {"total": 130, "completed": 130, "failed": 0}
    lines = compatible.content(done["output_file_id"])
    assert [line["custom_id"] for line in lines] == [f"row {number}" for number in range(130)]
    bodies = [line["response"]["body"] for line in lines]
    assert bodies[7]["choices"][0]["message"]["content"].endswith("q7")
    used = [body["usage"] for body in bodies]
    assert done["usage"]["input_tokens"] == sum(one["prompt_tokens"] for one in used) > 0
    assert done["usage"]["total_tokens"] == sum(one["total_tokens"] for one in used)
    output = compatible.ask("GET", f"/files/{done['output_file_id']}").json
    assert output["purpose"] == "batch_output"
    assert compatible.batch(begun["id"]) == done


def test_a_wrong_line_fails_the_batch_and_is_named(compatible: Compatible) -> None:
    wrong = openai_line("b", max_tokens=0)
    begun = compatible.begin(openai_line("a"), wrong, {"custom_id": "c"})
    compatible.run()
    found = compatible.batch(begun["id"])
    assert found["status"] == "failed"
    assert [(one["line"], one["param"]) for one in found["errors"]["data"]] == [
        (2, "body.max_tokens"),
        (3, "method"),
    ]
    assert found["request_counts"] == {"total": 3, "completed": 0, "failed": 0}
    assert compatible.ledger.fake.world.executions == []


def test_what_fails_is_in_the_error_file(compatible: Compatible) -> None:
    begun = compatible.begin(openai_line("good", "fine"), openai_line("bad", "bad"))
    compatible.take_in()
    compatible.ledger.platform.call("POST", "/api/v1/llm-requests/cancel", {"filter": {}})
    found = compatible.batch(begun["id"])
    assert (found["status"], found["output_file_id"]) == ("completed", None)
    assert found["request_counts"] == {"total": 2, "completed": 0, "failed": 2}
    errors = compatible.content(found["error_file_id"])
    assert [(one["custom_id"], one["error"]["code"]) for one in errors] == [
        ("good", "batch_cancelled"),
        ("bad", "batch_cancelled"),
    ]


def test_a_cancelled_batch_asks_nothing_more(compatible: Compatible) -> None:
    begun = compatible.begin(*(openai_line(f"{number}") for number in range(5)))
    compatible.take_in()
    found = compatible.ask("POST", f"/batches/{begun['id']}/cancel").json
    assert found["status"] == "cancelled"
    assert found["request_counts"] == {"total": 5, "completed": 0, "failed": 5}
    compatible.ledger.run()
    assert compatible.ledger.fake.world.executions == []
    again = compatible.ask("POST", f"/batches/{begun['id']}/cancel")
    assert (again.status, again.json["status"]) == (200, "cancelled")


def test_a_batch_cancelled_while_it_is_taken_in_waits_for_late_rows(
    compatible: Compatible,
) -> None:
    begun = compatible.begin(openai_line())
    found = compatible.ask("POST", f"/batches/{begun['id']}/cancel").json
    assert found["status"] == "cancelling"
    compatible.take_in()
    with later(timedelta(minutes=7)):
        assert compatible.batch(begun["id"])["status"] == "cancelled"


def test_a_creation_sent_again_is_the_same_batch(compatible: Compatible) -> None:
    file_id = compatible.upload(jsonl(openai_line())).json["id"]
    first, again = compatible.create(file_id).json, compatible.create(file_id).json
    assert first["id"] == again["id"]
    key = {"idempotency-key": "k"}
    other = compatible.create(file_id, headers=key).json
    assert other["id"] != first["id"]
    assert compatible.create(file_id, headers=key).json["id"] == other["id"]
    refused = compatible.create(file_id, headers=key, metadata={"a": "b"})
    assert (refused.status, refused.json["error"]["code"]) == (422, "idempotency_key_reused")
    compatible.run()
    assert len(compatible.ledger.fake.world.executions) == 2


def test_files_and_batches_are_listed_youngest_first(compatible: Compatible) -> None:
    ids = [compatible.upload(jsonl(openai_line())).json["id"] for _ in range(3)]
    page = compatible.ask("GET", "/files", query="limit=2").json
    assert [one["id"] for one in page["data"]] == ids[:0:-1]
    assert page["has_more"] is True
    rest = compatible.ask("GET", "/files", query=f"limit=2&after={page['last_id']}").json
    assert ([one["id"] for one in rest["data"]], rest["has_more"]) == (ids[:1], False)
    batches = [compatible.create(file_id).json["id"] for file_id in ids]
    listed = compatible.ask("GET", "/batches").json
    assert [one["id"] for one in listed["data"]] == batches[::-1]


def test_a_deleted_file_is_gone_and_its_batch_goes_on(compatible: Compatible) -> None:
    file_id = compatible.upload(jsonl(openai_line())).json["id"]
    begun = compatible.create(file_id).json
    deleted = compatible.ask("DELETE", f"/files/{file_id}").json
    assert deleted == {"id": file_id, "object": "file", "deleted": True}
    assert compatible.ask("GET", f"/files/{file_id}").status == 404
    assert compatible.ask("GET", f"/files/{file_id}/content").status == 404
    compatible.run()
    assert compatible.batch(begun["id"])["status"] == "completed"
