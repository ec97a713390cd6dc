"""Configurations and responses within every limit that once took from 5 s to 12 minutes."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from autotune.protocol.limits import MAX_BUILTIN_CPU_SECONDS
from autotune_platform.checks.compiling import check_builtin, compile_stored
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.templates import Sample
from autotune_platform.runtime.errors import InvalidRequestError
from tests.unit.checks.judging import configurations, value
from tests.unit.checks.test_schemas import doubled

SLACK_SECONDS = 4
"""For a busy machine, where a step takes twice as long: the overshoot itself is one step."""


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def judged(configuration: dict[str, Any], response: str) -> str:
    try:
        return str(value(configuration, response))
    except CompletionFaultError as fault:
        return fault.reason_code


CRAWLED = {
    "$defs": {"p": {"allOf": [{}] * 1_000}, "a": {"$anchor": "a"}},
    "items": {"$ref": "#a"},
}
TOLD = doubled({"not": {"type": "null"}}, levels=13)
UNKNOWN = {"items": {f"k{n}": 0 for n in range(3_000)}}
GROUPS = "(?:" + "()" * 497 + "a)*"
READS_ON = {"type": "numeric", "reference": "1", "extract": "regex", "pattern": "1.*x|1"}


@pytest.mark.parametrize(
    ("configuration", "response"),
    [
        # An anchor has the library look through the whole schema, each time.
        ({"type": "json_schema", "schema": CRAWLED}, json.dumps([0] * 20_000)),
        # Each error that the library makes quotes the value.
        (
            {"type": "json_schema", "schema": TOLD},
            json.dumps([[12345678901234567890.5e-290] * 7_000]),
        ),
        # The library passes over keywords that it does not know, one by one.
        ({"type": "json_schema", "schema": UNKNOWN}, json.dumps([0] * 24_000)),
        # Groups make a search many times slower.
        ({"type": "json_schema", "schema": {"pattern": GROUPS}}, json.dumps("a" * 50_000)),
        (
            {"type": "json_schema", "schema": {"items": {"pattern": "()" * 498}}},
            json.dumps([""] * 16_000),
        ),
        ({**READS_ON, "pattern": "(a?)" * 240 + "b"}, "a" * 50_000),
        # Twenty graders share one clock.
        (
            {
                "type": "multi",
                "graders": {f"g{n}": READS_ON for n in range(20)},
                "calculateOutput": "g0",
            },
            "1" * 32_500,
        ),
    ],
)
def test_a_judgement_ends_at_its_budget(configuration: dict[str, Any], response: str) -> None:
    seconds = cpu_seconds(lambda: judged(configuration, response))
    assert seconds < MAX_BUILTIN_CPU_SECONDS + SLACK_SECONDS


def registered(configuration: dict[str, Any]) -> None:
    check_builtin(configurations.validate_python(configuration), field="builtin")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": [[], *range(5_500)]}, "a valid JSON schema: "),
        (json.loads('{"not":' * 150 + "{}" + "}" * 150), "a schema that nests less deep"),
    ],
)
def test_what_is_no_schema_is_refused_at_once(schema: Any, expected: str) -> None:
    # Tests before this one may have raised it; functions have what Python begins with.
    sys.setrecursionlimit(1_000)

    def refused() -> None:
        with pytest.raises(InvalidRequestError) as caught:
            registered({"type": "json_schema", "schema": schema})
        assert caught.value.fields[0].expected.startswith(expected)

    assert cpu_seconds(refused) < SLACK_SECONDS


def test_a_configuration_has_a_size_and_a_number_of_patterns() -> None:
    def many(count: int, schema: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
        graders = {f"g{n}": {"type": "json_schema", "schema": schema(n)} for n in range(count)}
        return {"type": "multi", "graders": graders, "calculateOutput": "g0"}

    with pytest.raises(InvalidRequestError, match="at most 300000 bytes"):
        registered(many(20, lambda n: {"description": "a" * 30_000}))
    with pytest.raises(InvalidRequestError, match="at most 128 different patterns"):
        registered(many(3, lambda n: {"enum": [], "allOf": _patterns(n, 50)}))
    registered(many(2, lambda n: {"allOf": _patterns(n, 50)}))


def _patterns(place: int, count: int) -> list[dict[str, str]]:
    return [{"pattern": f"^{place}-{n}$"} for n in range(count)]


def test_a_grader_that_was_registered_under_larger_limits_goes_on() -> None:
    stored = {"type": "json_schema", "schema": {"items": {"pattern": r"[\p{L}\p{N}]{1,20}"}}}
    with pytest.raises(InvalidRequestError, match="at most 20000 instructions"):
        registered(stored)
    judge = compile_stored({**stored, "input": "{{ sample.output_text }}"})
    assert judge(Sample(prompt="", response='["abc"]', metadata={})).value == 1.0
