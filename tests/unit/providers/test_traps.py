"""Every trap of the catalogue fires where it says, and is counted."""

import time

import pytest

from tests.providers.catalogue import CATALOGUE, FAULTS, OPERATIONS
from tests.providers.traps import Traps
from tests.unit.providers.conftest import BEARER, chat_body, jsonl
from tests.unit.providers.scenes import LOST, Scenes


@pytest.fixture
def operate(openai, http):
    """Does each operation once, as the name of the traps has it."""
    file_id = openai.upload(jsonl(3)).json()["id"]
    done = openai.run(3)[0]
    live = openai.create(file_id).json()["id"]
    asked = {
        "upload": lambda: openai.upload(jsonl(1)),
        "create": lambda: openai.create(file_id),
        "get": lambda: openai.get(live),
        "list": lambda: http.get("/v1/batches", headers=BEARER),
        "download": lambda: openai.content(done["output_file_id"]),
        "cancel": lambda: http.post(f"/v1/batches/{live}/cancel", headers=BEARER),
        "chat": lambda: http.post("/v1/chat/completions", headers=BEARER, json=chat_body()),
        "file": lambda: http.get(f"/v1/files/{file_id}", headers=BEARER),
    }
    return lambda operation: asked[operation]()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_faults_of_requests(operate, arm, fired, http, operation):
    def executions():
        return http.get("/_fake/bill").json()["executions"]

    before = executions()
    arm(f"{operation}_429", params={"retry_after": 7})
    refused = operate(operation)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
    arm(f"{operation}_500", params={"status": 503})
    assert operate(operation).status_code == 503
    arm(f"{operation}_timeout", params={"stall_seconds": 0.05})
    with pytest.raises(LOST):
        operate(operation)
    assert executions() == before
    arm(f"{operation}_slow", params={"seconds": 0.2})
    started = time.monotonic()
    assert operate(operation).status_code == 200
    assert time.monotonic() - started > 0.2
    if operation != "cancel":  # what was canceled cannot be canceled again
        arm(f"{operation}_answer_lost")
        with pytest.raises(LOST):
            operate(operation)
        assert fired()[f"{operation}_answer_lost"] == 1
    assert {f"{operation}_{fault}" for fault in FAULTS if fault != "answer_lost"} <= set(fired())


def test_a_lost_cancellation_was_done(openai, arm, http):
    batch_id = openai.start(3)
    arm("cancel_answer_lost")
    with pytest.raises(LOST):
        http.post(f"/v1/batches/{batch_id}/cancel", headers=BEARER)
    assert openai.get(batch_id).json()["status"] == "cancelling"


def test_a_lost_answer_was_executed_paid_and_excuses_asking_again(arm, http):
    arm("chat_answer_lost")
    with pytest.raises(LOST):
        http.post("/v1/chat/completions", headers=BEARER, json=chat_body())
    assert http.get("/_fake/bill").json()["executions"] == 1
    (firing,) = http.get("/_fake/traps").json()["firings"]
    (execution,) = http.get("/_fake/executions").json()["executions"]
    assert (firing["excuses"], firing["tokens"]) == (True, [execution["token"]])


SPECIAL = [
    name
    for name in CATALOGUE
    if name not in {f"{operation}_{fault}" for operation in OPERATIONS for fault in FAULTS}
]


@pytest.mark.parametrize("name", SPECIAL)
def test_a_trap_fires_and_is_counted(openai, arm, advance, http, fired, name):
    getattr(Scenes(openai, arm, advance, http), name)()
    assert fired()[name] >= 1


def test_an_unknown_trap_is_refused(http):
    refused = http.post("/_fake/traps", json={"name": "no_such_trap"})
    assert (refused.status_code, "no_such_trap" in refused.text) == (400, True)


def test_the_same_seed_springs_the_same_traps():
    drawn = []
    for seed in (1, 1, 2):
        traps = Traps(seed, lambda: 0.0)
        traps.arm("row_error", probability=0.3)
        drawn.append([traps.take("row_error", "openai", row=row) is not None for row in range(200)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert 30 < sum(drawn[0]) < 90
