"""Idempotency keys of callers stand beside our own: none takes the place of one."""

from typing import Any

import pytest

from autotune.protocol.ids import derived_id
from autotune_platform.ledger.compatible import service
from autotune_platform.ledger.planning_again import reask_id, retry_id
from tests.component.ledger.test_reasking import UNREADABLE, enqueue, run
from tests.support.compatible import Compatible
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger, row


def enqueue_under(ledger: Ledger, key: str, connection: str) -> str:
    """Enqueue a request under a key, as another of the organisation; return its id."""
    other = ledger.platform.new_key("training_operator", principal_id="other")
    answer = ledger.platform.call(
        "POST",
        "/api/v1/llm-requests",
        row(connection, "x"),
        api_key=other,
        headers={"idempotency-key": key},
    )
    assert answer.status == 202, answer.text
    return str(answer.json["requestIds"][0])


def test_a_request_is_asked_again_whatever_keys_others_use(ledger: Ledger) -> None:
    # The other's question goes in the same batch, and may be asked first.
    answers = [UNREADABLE, "Fine.\nVERDICT: good"]
    ledger.fake.world.answers.answerer = lambda ask: (
        answers.pop(0) if "Is it good?" in ask.prompt else "of no matter"
    )
    (first,) = enqueue(ledger, "Is it good?")
    enqueue_under(ledger, reask_id(first), ledger.read(first)["connectionId"])
    run(ledger)
    again = ledger.read(ledger.read(first)["reaskedAs"])
    assert (again["status"], again["input"]["user"]) == ("completed", "Is it good?")


def test_a_request_is_retried_whatever_keys_others_use(ledger: Ledger) -> None:
    connection = ledger.connect(maxWaitSeconds=0)
    (first,) = ledger.enqueue(connection, "q")
    run(ledger)
    enqueue_under(ledger, retry_id(first), connection)
    (again,) = ledger.platform.call("POST", f"/api/v1/llm-requests/{first}/retry").json[
        "requestIds"
    ]
    assert ledger.read(again)["retryOf"] == first


def test_lines_of_an_import_are_taken_in_whatever_keys_others_use(
    ledger: Ledger, imports: Imports
) -> None:
    connection = ledger.connect()
    lines = jsonl(*[openai_line(str(number), user=f"u{number}") for number in range(2)])
    import_id = imports.start(connection, lines)
    enqueue_under(ledger, f"{import_id}.0", connection)
    many: dict[str, Any] = {"requests": [row(connection, "x"), row(connection, "y")]}
    taken = ledger.platform.call(
        "POST", "/api/v1/llm-requests/batch", many, headers={"idempotency-key": import_id}
    ).json["requestIds"]
    assert imports.run(import_id)["counts"]["enqueued"] == 2
    found = imports.rows(import_id)
    assert {one["customId"] for one in found} == {"0", "1"}
    assert not {one["id"] for one in found} & set(taken)


def test_a_batch_of_the_openai_package_has_an_import_of_its_own(
    ledger: Ledger, imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    compatible = Compatible(ledger, imports)
    names = {"lob": derived_id("lob", "known")}
    sound = service.new_id
    monkeypatch.setattr(service, "new_id", lambda kind: names.get(kind) or sound(kind))
    own = imports.create(compatible.connection_id, jsonl(openai_line()), key=names["lob"])
    assert own.status == 202, own.text
    assert compatible.begin(openai_line("b"))["id"] == names["lob"]
