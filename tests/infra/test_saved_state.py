"""What MiniStack saves of its services, while functions go on changing them."""

import copy
import sys
import threading
import time

import pytest
from ministack.core import persistence
from ministack.core.responses import AccountScopedDict

from local.saved_state import save_all


@pytest.fixture
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(persistence, "PERSIST_STATE", True)
    monkeypatch.setattr(persistence, "STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def changing():
    state = dict.fromkeys([*map(str, range(20_000)), "calls"], 0)
    done = threading.Event()

    def change():
        while not done.is_set():
            state["new"] = 0
            state["calls"] += 1
            time.sleep(0.0005)  # it waits, as functions do
            del state["new"]

    thread = threading.Thread(target=change)
    thread.start()
    yield state
    done.set()
    thread.join()


@pytest.mark.usefixtures("state_folder")
def test_all_services_are_saved_as_they_were_at_one_moment(changing):
    save_all(dict.fromkeys(["logs", "sqs", "sns"], lambda: copy.deepcopy(changing)))
    first, *others = map(persistence.load_state, ["logs", "sqs", "sns"])
    assert first is not None
    assert "19999" in first
    assert others == [first] * 2


@pytest.mark.usefixtures("state_folder")
def test_threads_take_turns_as_before_afterwards():
    before = sys.getswitchinterval()
    save_all({"logs": dict})
    assert sys.getswitchinterval() == before


@pytest.mark.usefixtures("state_folder")
def test_ministack_reads_what_it_wrote_itself():
    scoped = AccountScopedDict()
    scoped[("table", 1)] = {"body": b"\xff\x00", "text": "ü"}
    persistence.save_state("dynamodb", {"tables": scoped})
    by_itself = persistence.load_state("dynamodb")
    save_all({"dynamodb": lambda: {"tables": scoped}})
    loaded = persistence.load_state("dynamodb")
    assert loaded is not None
    assert by_itself is not None
    assert loaded["tables"]._data == by_itself["tables"]._data == scoped._data


def test_a_state_that_cannot_be_had_leaves_its_file_and_the_others(state_folder, caplog):
    def unknown():
        raise KeyError("keys")

    save_all({"sqs": lambda: {"queues": 1}, "sns": lambda: {"topics": 1}})
    save_all(
        {
            "sqs": lambda: {"queues": object()},
            "sns": lambda: None,
            "kms": unknown,
            "s3": lambda: {"buckets": 1},
        }
    )
    assert persistence.load_state("sqs") == {"queues": 1}
    assert persistence.load_state("sns") == {"topics": 1}
    assert persistence.load_state("s3") == {"buckets": 1}
    files = sorted(file.name for file in state_folder.iterdir())
    assert files == ["s3.json", "sns.json", "sqs.json"]
    assert [record.args for record in caplog.records] == [("sqs",), ("kms",)]
