"""Segments as the real tracer sends them to a daemon on loopback."""

import ast
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autotune_platform.runtime import traces
from autotune_platform.runtime.traces import is_traced, prepare, segment
from tests.support.xray import Daemon, Invocation, daemon, invoke, traced, tracer_is_imported

ROOT = Path(__file__).parents[3]
PLANTED = "planted text of a prompt"


@pytest.fixture
def xray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    with daemon() as receiving, traced(monkeypatch, receiving.address):
        yield receiving


def call(name: str = "grd_1", **annotations: str | int) -> None:
    with segment(name) as told:
        told.annotations.update(annotations)


def test_a_segment_is_the_invocations_own(xray: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    invocation = invoke(monkeypatch, Invocation())
    call(request_id="req_1", attempt=2)
    (sent,) = xray.documents
    assert 0 <= sent.pop("end_time") - sent.pop("start_time") < 5
    assert len(sent.pop("id")) == 16
    assert sent == {
        "type": "subsegment",
        "namespace": "remote",
        "name": "grd_1",
        "trace_id": invocation.trace_id,
        "parent_id": invocation.segment_id,
        "annotations": {"request_id": "req_1", "attempt": 2},
        "in_progress": False,
    }


def test_invocations_of_one_trace_have_segments_of_their_own(
    xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds of a run are of one trace; the tracer alone would keep to the first of them."""
    first = invoke(monkeypatch, Invocation())
    call()
    second = invoke(monkeypatch, Invocation(trace_id=first.trace_id))
    call()
    parents = [one["parent_id"] for one in xray.documents]
    assert parents == [first.segment_id, second.segment_id]


def test_segments_of_several_threads_are_all_of_the_invocation(
    xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = threading.Barrier(8)

    def calling(number: int) -> None:
        with segment(f"grd_{number}") as told:
            told.annotations["attempt"] = number
            at_once.wait(10)

    before = invoke(monkeypatch, Invocation())
    call()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(calling, range(8)))
        # The threads outlive their invocation here; none of them goes on with its trace.
        after = invoke(monkeypatch, Invocation())
        list(threads.map(calling, range(8)))
    sent = xray.documents[1:]
    for invocation, documents in ((before, sent[:8]), (after, sent[8:])):
        assert {(one["trace_id"], one["parent_id"]) for one in documents} == {
            (invocation.trace_id, invocation.segment_id)
        }
        told = {one["name"]: one["annotations"]["attempt"] for one in documents}
        assert told == {f"grd_{number}": number for number in range(8)}


@pytest.mark.parametrize(
    ("trouble", "flags"),
    [("fault", {"fault"}), ("error", {"error"}), ("throttle", {"throttle", "error"})],
)
def test_trouble_is_shown_by_flags(
    xray: Daemon, monkeypatch: pytest.MonkeyPatch, trouble: traces.Trouble, flags: set[str]
) -> None:
    invoke(monkeypatch, Invocation())
    with segment("grd_1") as told:
        told.trouble = trouble
    (sent,) = xray.documents
    assert {flag for flag in ("error", "fault", "throttle") if sent.get(flag)} == flags


def test_what_a_call_raises_passes_through_unrecorded(
    xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke(monkeypatch, Invocation())
    with pytest.raises(ValueError, match=PLANTED), segment("grd_1"):
        raise ValueError(PLANTED)
    (sent,) = xray.documents
    assert "cause" not in sent
    assert PLANTED not in json.dumps(sent)
    assert str(ROOT) not in json.dumps(sent)


@pytest.mark.parametrize("sampled", ["Sampled=0", "Sampled=?", ""])
def test_an_invocation_that_is_not_sampled_sends_nothing_and_imports_nothing(
    xray: Daemon, monkeypatch: pytest.MonkeyPatch, sampled: str
) -> None:
    invoke(monkeypatch, Invocation(sampled=sampled))
    prepare()
    call()
    assert xray.documents == []
    assert not tracer_is_imported()
    invoke(monkeypatch, Invocation())
    call()
    assert len(xray.documents) == 1
    invoke(monkeypatch, Invocation(sampled=sampled))
    call()
    assert len(xray.documents) == 1, "the process has the tracer, and the invocation no trace"


@pytest.mark.parametrize(
    "missing", ["LAMBDA_TASK_ROOT", "AWS_XRAY_DAEMON_ADDRESS", "_X_AMZN_TRACE_ID"]
)
def test_where_traces_are_off_nothing_is_imported(
    xray: Daemon, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    invoke(monkeypatch, Invocation())
    assert is_traced()
    monkeypatch.delenv(missing)
    assert not is_traced()
    prepare()
    call()
    assert not tracer_is_imported()
    assert xray.documents == []


def test_the_tracer_is_imported_before_anything_is_timed(
    xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke(monkeypatch, Invocation())
    prepare()
    assert tracer_is_imported()
    assert xray.documents == []


def test_the_tracer_patches_no_library(xray: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    invoke(monkeypatch, Invocation())
    call()
    from aws_xray_sdk.core.patcher import _PATCHED_MODULES

    assert set() == _PATCHED_MODULES


# The tracer leaves a socket behind where it cannot read the address.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:port", "tcp:1 udp:2 other:3"])
def test_a_wrong_address_fails_no_call(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, address: str
) -> None:
    with traced(monkeypatch, address):
        invoke(monkeypatch, Invocation())
        prepare()
        call()
        call()
    assert [one.message for one in caplog.records] == ["call not traced"]


def test_a_daemon_that_cannot_be_reached_fails_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with traced(monkeypatch, "127.0.0.1:1"):
        invoke(monkeypatch, Invocation())
        for _ in range(3):  # from the second one on, the system tells that nobody listens
            call()


@pytest.mark.parametrize("broken", ["in_subsegment", "clear_trace_entities", "end_subsegment"])
def test_a_tracer_that_raises_fails_no_call_and_hides_no_error(
    xray: Daemon,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    broken: str,
) -> None:
    invoke(monkeypatch, Invocation())
    prepare()
    from aws_xray_sdk.core import xray_recorder

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(PLANTED)

    monkeypatch.setattr(xray_recorder, broken, fail)
    call()
    with pytest.raises(KeyError), segment("grd_1"):
        raise KeyError
    lost = [one for one in caplog.records if one.message == "call not traced"]
    assert len(lost) == 2
    assert PLANTED not in json.dumps([one.__dict__ for one in lost], default=str)


def test_one_module_knows_the_tracer() -> None:
    """Another tracer is one module's work, and nobody else can tell it more."""
    known = set()
    for folder in ("layers/platform/python", "layers/sdk/python", "functions"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names = [one.name for one in getattr(node, "names", []) if hasattr(one, "name")]
                is_tracer = "Tracer" in names and modules[0].startswith("aws_lambda_powertools")
                if is_tracer or any("xray" in one for one in [*modules, *names]):
                    known.add(file.name)
    assert known == {"traces.py"}
