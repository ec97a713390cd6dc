"""What the audit log has of a task of the apprentice: which one, although paths have its name."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.apprentice import configuration
from tests.support.ledger import Ledger
from tests.support.model_servers import ModelServer, Vllm, serving
from tests.support.platform import Platform

TASK = "/api/v1/apprentice/tasks/intents"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(Vllm()) as made:
        yield made


def test_entries_say_of_which_task_and_version_a_call_was(
    platform: Platform, ledger: Ledger, server: ModelServer
) -> None:
    local = {"backend": "vllm", "url": server.url}
    asked = configuration(ledger.connect(), local=local, training=None)
    task = platform.call("PUT", TASK, asked).json["task"]
    version = f"{TASK}/versions/1"

    platform.call("POST", f"{TASK}/versions", {"model": "intents-1"})
    refused = platform.call("POST", f"{version}/promote")
    platform.call("POST", f"{version}/retire")
    platform.call("DELETE", TASK)

    assert refused.status == 409
    entries = platform.call("GET", "/api/v1/audit").json["entries"]
    told: dict[str, Any] = {entry["action"]: entry["ids"] for entry in entries}
    of_task = {"task_name": "invalid", "apprentice_task_id": task["id"]}
    assert told["register_apprentice_version"] == {**of_task, "version": "1"}
    assert told["promote_apprentice_version"] == {"task_name": "invalid", "version": "1"}
    assert told["retire_apprentice_version"] == {**of_task, "version": "1"}
    assert told["delete_apprentice_task"] == of_task
