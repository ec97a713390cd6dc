"""Error answers are of some kilobytes, whatever a caller sends."""

import json
from typing import Any

import pytest

from autotune.protocol.problems import FieldProblem
from autotune_platform.http.problems import excerpt, problem_response
from autotune_platform.runtime.errors import InvalidRequestError
from tests.support.platform import Platform

TASK = {"name": "t", "graderId": "grd_x"}


@pytest.mark.parametrize(
    "body",
    [
        {**TASK, "k" * 4_000_000: 1},
        {**TASK, **{f"{number:03}" + "k" * 40_000: 1 for number in range(15)}},
        {**TASK, **{f"u{number}": 1 for number in range(9_000)}},
        {"name": "t", "graders": [1] * 9_000},
        {"name": "t", "graders": [{"graderId": 1, "k" * 400_000: 1}] * 10},
    ],
    ids=["a long name", "long names", "many names", "many items", "long names in items"],
)
def test_an_error_answer_is_small(platform: Platform, body: dict[str, Any]) -> None:
    answer = platform.call("POST", "/api/v1/tasks", body)
    assert answer.status == 422
    assert 1 <= len(answer.json["errors"]) <= 20
    assert len(answer.content) < 16_000


def test_what_is_not_listed_is_counted(platform: Platform) -> None:
    body = {**TASK, **{f"u{number}": 1 for number in range(30)}}
    answer = platform.call("POST", "/api/v1/tasks", body)
    assert len(answer.json["errors"]) == 20
    assert "more)" in answer.json["detail"]


def test_a_type_that_nobody_knows_is_repeated_in_part(platform: Platform) -> None:
    body = {"name": "b", "kind": "builtin", "builtin": {"type": "x" * 3_000_000}}
    answer = platform.call("POST", "/api/v1/graders", body)
    assert answer.status == 422
    assert len(answer.content) < 4_000


def test_a_form_is_refused_before_it_is_parsed(platform: Platform) -> None:
    answer = platform.call(
        "POST",
        "/api/v1/tasks",
        raw=b"a&" * 2_000_000,
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert answer.status == 415


def test_more_values_than_a_route_can_mean_are_named(platform: Platform) -> None:
    answer = platform.call("POST", "/api/v1/tasks", {**TASK, "metadata": {"a": [1] * 50_000}})
    assert answer.status == 413
    limit = answer.json["limit"]
    assert limit.pop("actual") > 50_000
    assert limit == {
        "name": "JSON values in the request body",
        "maximum": 50_000,
        "unit": "values",
    }


def test_any_error_is_bounded() -> None:
    fields = [FieldProblem(field="f" * 9_000, expected="é" * 9_000) for _ in range(5_000)]
    response = problem_response(
        InvalidRequestError("d" * 100_000, fields=fields), request_id="req_1"
    )
    problem = json.loads(response.body or "")
    assert len((response.body or "").encode()) < 16_000
    assert 1 <= len(problem["errors"]) <= 20


def test_an_excerpt_has_beginning_and_end() -> None:
    assert excerpt("short", 10) == "short"
    assert excerpt("a" * 50 + "z" * 50, 9) == "aaaaaa…zz"


def test_a_field_with_an_empty_name_is_named(platform: Platform) -> None:
    answer = platform.call("POST", "/api/v1/tasks", {**TASK, "graderId": "grd_" + "0" * 26, "": 1})
    assert answer.status == 422
    assert answer.fields == {'""': "Extra inputs are not permitted"}
    assert answer.json["detail"] == '"": Extra inputs are not permitted'
