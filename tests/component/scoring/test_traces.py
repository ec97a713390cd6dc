"""Each call to a grader is a segment of its invocation's trace and a line in the log."""

import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from botocore import xform_name
from botocore.session import Session

from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.runtime import clients
from tests.support.graders import Exchange, LoopbackGrader, answering, deferring, healthy
from tests.support.platform import Platform
from tests.support.xray import Daemon, Invocation, daemon, invoke, traced, tracer_is_imported

PLANTED = "planted-3f9c"
CALLED, FAILED = "grader called", "grader call failed"
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "operators.md"


class Log:
    """What the deployed functions write, line by line."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def calls(self) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in lines if line["message"] in {CALLED, FAILED}]


@pytest.fixture
def log() -> Iterator[Log]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LambdaPowertoolsFormatter())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield Log(stream)
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def xray(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    with daemon() as receiving, traced(monkeypatch, receiving.address):
        yield receiving


def start(
    platform: Platform, grader: LoopbackGrader, *completions: dict[str, Any], **fields: Any
) -> dict[str, Any]:
    """Submit completions and dispatch them; return the state of the run."""
    grader_id = platform.new_grader(grader, **fields)
    platform.submit(platform.new_task(grader_id), *(completions or ({},)))
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    return progress


def by_request(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return annotations as segments and lines have them, by their request id."""
    names = ("grader_id", "outcome", "attempt", "request_id")
    return {line["request_id"]: {name: line[name] for name in names} for line in lines}


def test_segment_line_and_request_of_each_call_have_one_request_id(
    platform: Platform,
    grader: LoopbackGrader,
    xray: Daemon,
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress = start(platform, grader, *[{}] * 8, capabilities={"maxBatchSize": 1})
    invocation = invoke(monkeypatch, Invocation())
    before = len(log.calls)
    assert platform.grade(progress)["remaining"] == 0
    asked = {asked["requestId"]: asked["completion"]["id"] for _, asked in grader.requests}
    assert len(asked) == 8
    assert {(one["trace_id"], one["parent_id"]) for one in xray.documents} == {
        (invocation.trace_id, invocation.segment_id)
    }
    expected = {
        request_id: {
            "grader_id": progress["grader_id"],
            "outcome": "answered",
            "attempt": 1,
            "request_id": request_id,
        }
        for request_id in asked
    }
    assert {one["request_id"]: one for one in xray.annotations} == expected
    lines = log.calls[before:]
    assert by_request(lines) == expected
    assert {line["request_id"]: line["completion_ids"] for line in lines} == asked
    assert {line["run_id"] for line in lines} == {progress["run_id"]}
    assert {line["xray_trace_id"] for line in lines} == {invocation.trace_id}


def test_one_line_has_all_completions_of_its_call_in_one_field(
    platform: Platform, grader: LoopbackGrader, xray: Daemon, log: Log
) -> None:
    progress = start(platform, grader, *[{}] * 100, capabilities={"maxBatchSize": 100})
    platform.grade(progress)
    line = log.calls[-1]
    assert line["completion_ids"].split() == progress["completion_ids"]
    # CloudWatch reads 200 fields of a line at most, and of a list one for each item.
    assert not [name for name, value in line.items() if isinstance(value, list | dict)]


def _malformed(exchange: Exchange) -> None:
    exchange.body = json.dumps({"explanation": PLANTED}).encode()


@pytest.mark.parametrize(
    ("disease", "outcome", "told"),
    [
        (answering(status=503), "grader_error", {"fault", 503}),
        (answering(status=429), "grader_rate_limited", {"throttle", "error", 429}),
        (answering(status=403), "grader_rejected", {"error", 403}),
        (answering(sign=False), "response_unsigned", {"error", 200}),
        (_malformed, "response_malformed", {"error"}),
        (answering(drop=True), "grader_unreachable", {"fault"}),
    ],
)
def test_a_call_that_fails_is_told_by_its_reason_code(
    platform: Platform,
    grader: LoopbackGrader,
    xray: Daemon,
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
    disease: Any,
    outcome: str,
    told: set[str | int],
) -> None:
    progress = start(platform, grader)
    grader.disease = disease
    invoke(monkeypatch, Invocation())
    platform.grade(progress)
    (segment,) = xray.documents
    assert segment["annotations"]["outcome"] == outcome
    line = log.calls[-1]
    flags = {flag for flag in ("error", "fault", "throttle") if segment.get(flag)}
    assert {*flags, *([line["status"]] if "status" in line else [])} == told
    assert (line["level"], line["message"], line["outcome"]) == ("WARNING", FAILED, outcome)
    assert "cause" not in segment


def test_the_next_attempt_is_told_as_such(
    platform: Platform, grader: LoopbackGrader, xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = start(platform, grader)
    invoke(monkeypatch, Invocation())
    grader.disease = answering(status=500)
    left = platform.grade(progress)
    grader.disease = healthy
    platform.grade(left)
    told = [(one["attempt"], one["outcome"]) for one in xray.annotations]
    assert told == [(1, "grader_error"), (2, "answered")]
    assert len({one["request_id"] for one in xray.annotations}) == 2


def test_a_hedged_question_is_two_calls(
    platform: Platform, grader: LoopbackGrader, xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = start(platform, grader, limits={"hedgeAfterMs": 100})
    invocation = invoke(monkeypatch, Invocation())
    grader.disease = answering(delay_seconds=0.5)
    platform.grade(progress)
    assert {one["request_id"] for one in xray.annotations} == {
        asked["requestId"] for _, asked in grader.requests
    }
    assert len(xray.documents) == 2
    assert {one["parent_id"] for one in xray.documents} == {invocation.segment_id}


def test_an_answer_that_comes_later_is_told_as_deferred(
    platform: Platform,
    grader: LoopbackGrader,
    xray: Daemon,
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress = start(platform, grader, capabilities={"supportsAsync": True})
    grader.disease = deferring
    invoke(monkeypatch, Invocation())
    platform.grade(progress)
    (told,) = xray.annotations
    assert told["outcome"] == "deferred"
    assert (log.calls[-1]["message"], log.calls[-1]["estimated_seconds"]) == (CALLED, 60)


def test_verification_and_probes_are_calls_too(
    platform: Platform,
    grader: LoopbackGrader,
    xray: Daemon,
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    invoke(monkeypatch, Invocation())
    grader_id = platform.new_grader(grader)
    told = [one["outcome"] for one in xray.annotations]
    assert told == ["answered", "refused", "answered"]
    assert not [one for one in xray.documents if one.get("fault") or one.get("error")]
    grader.health = {"status": "degraded"}
    platform.probe_graders()
    grader.health_disease = answering(status=500)
    platform.probe_graders()
    probed = [(one["name"], one["annotations"]["outcome"]) for one in xray.documents[3:]]
    assert probed == [(grader_id, "grader_degraded"), (grader_id, "grader_error")]
    assert xray.documents[-1]["fault"] is True
    assert by_request(log.calls) == by_request(xray.annotations)


def test_no_text_no_secret_and_no_address_is_in_any_segment_or_line(
    platform: Platform,
    grader: LoopbackGrader,
    xray: Daemon,
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    invoke(monkeypatch, Invocation())
    planted = {name: f"{PLANTED} {name}" for name in ("prompt", "response", "modelId")} | {
        "metadata": {"key": PLANTED}
    }
    progress = start(platform, grader, planted, name=PLANTED, description=PLANTED)
    for disease in (answering(status=500), answering(drop=True), _malformed):
        grader.disease = disease
        platform.grade(progress)
    assert any(PLANTED in body.decode() for body in grader.bodies), "it was sent to the grader"
    assert len(xray.documents) >= 6
    sent = b"".join(xray.datagrams).decode()
    host = grader.url.removeprefix("http://")
    for leaked in (PLANTED, grader.secret, host, "http://", *grader.signatures):
        assert leaked not in sent
        assert leaked not in log.text


def test_an_error_of_ours_is_told_by_its_class_alone(
    platform: Platform,
    grader: LoopbackGrader,
    xray: Daemon,
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress = start(platform, grader)
    invoke(monkeypatch, Invocation())

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError(PLANTED)

    monkeypatch.setattr(GraderGateway, "_exchange", fail)
    with pytest.raises(RuntimeError):
        platform.grade(progress)
    (segment,) = xray.documents
    assert (segment["annotations"]["outcome"], segment["fault"]) == ("RuntimeError", True)
    assert PLANTED not in json.dumps(segment)
    assert PLANTED not in log.text


@pytest.mark.parametrize("sampled", ["Sampled=0", ""])
def test_a_call_of_an_invocation_that_is_not_sampled_has_its_line_alone(
    platform: Platform,
    grader: LoopbackGrader,
    xray: Daemon,
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
    sampled: str,
) -> None:
    invocation = invoke(monkeypatch, Invocation(sampled=sampled))
    progress = start(platform, grader)
    assert platform.grade(progress)["remaining"] == 0
    assert xray.documents == []
    assert not tracer_is_imported()
    assert log.calls[-1]["xray_trace_id"] == invocation.trace_id


def test_a_tracer_that_fails_costs_no_verdict(
    platform: Platform, grader: LoopbackGrader, xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = start(platform, grader)
    invoke(monkeypatch, Invocation())
    from aws_xray_sdk.core import xray_recorder

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(xray_recorder, "in_subsegment", fail)
    assert platform.grade(progress)["remaining"] == 0
    assert len(grader.requests) == 1
    assert xray.documents == []


def section() -> str:
    """Return what the operators' guide says of traces."""
    (found,) = re.findall(
        r"^## From a completion to its trace\n(.*?)^## ", GUIDE.read_text("utf-8"), re.M | re.S
    )
    return str(found)


def examples(language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", section(), re.M | re.S)


def test_the_query_of_the_guide_finds_the_calls_of_a_completion(
    platform: Platform, grader: LoopbackGrader, xray: Daemon, log: Log
) -> None:
    progress = start(platform, grader, {}, {})
    grader.disease = answering(status=503)
    left = platform.grade(progress)
    grader.disease = healthy
    platform.grade(left)
    query = next(example for example in examples() if example.startswith("fields"))
    fields, conditions = re.findall(r"^(?:\| )?(?:fields|filter) (.*)$", query, re.M)
    lines = [json.loads(line) for line in log.text.splitlines()]
    for name, text in re.findall(r'(@?\w+) like "([^"]+)"', conditions):
        wanted = text.replace("cmp_...", progress["completion_ids"][1])
        lines = [
            line
            for line in lines
            if wanted in (json.dumps(line) if name == "@message" else str(line.get(name)))
        ]
    assert [line["outcome"] for line in lines] == ["grader_error", "answered"]
    known = {"@timestamp", "xray_trace_id", *lines[0]}
    assert set(fields.split(", ")) <= known


def test_the_expressions_of_the_guide_name_what_segments_have(
    platform: Platform, grader: LoopbackGrader, xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = start(platform, grader)
    invoke(monkeypatch, Invocation())
    platform.grade(progress)
    (segment,) = xray.documents
    told = segment["annotations"]
    assert set(re.findall(r"annotation\.(\w+)", section())) == told.keys()
    assert set(re.findall(r"^\| `(\w+)` \|", section(), re.M)) == told.keys()
    assert 'annotation.request_id = "req_..."\n' in examples()
    # X-Ray refuses keys of other characters, and texts of more than 1,000.
    assert all(re.fullmatch(r"\w{1,500}", key) for key in told)
    assert segment["name"] == progress["grader_id"]
    assert isinstance(told["attempt"], int)


def test_a_segment_is_as_small_as_the_guide_says(
    platform: Platform, grader: LoopbackGrader, xray: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run's trace X-Ray takes at least 100 KB."""
    progress = start(platform, grader)
    invoke(monkeypatch, Invocation())
    grader.disease = answering(status=503)
    platform.grade(progress)
    assert max(len(json.dumps(one)) for one in xray.documents) * 200 <= 100_000


def test_the_commands_of_the_guide_are_those_of_aws() -> None:
    commands = re.findall(r"\baws (\S+) (\S+)((?:[^\n\\]|\\\n)*)", "\n".join(examples("sh")))
    assert len(commands) == 5
    session = Session()
    for service, command, rest in commands:
        model = session.get_service_model(service)
        operations = {xform_name(name, "-"): name for name in model.operation_names}
        shape = model.operation_model(operations[command]).input_shape
        assert shape is not None
        known = {xform_name(name, "-") for name in shape.members} | {"query", "output"}
        assert set(re.findall(r" --([\w-]+)", rest)) <= known, command


def test_a_run_is_of_the_trace_of_what_started_it(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether that is kept or not; botocore says it, in functions alone."""
    sent: list[str] = []

    def look(request: Any, **_: Any) -> None:
        sent.append(request.headers["X-Amzn-Trace-Id"].decode())

    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "function")
    invocation = invoke(monkeypatch, Invocation(sampled="Sampled=0"))
    events = clients.stepfunctions().meta.events
    events.register("before-send.*.StartExecution", look)
    start(platform, grader)
    assert sent == [invocation.header]
