"""Tasks of the apprentice for tests: they are put, read and listed."""

from copy import deepcopy
from typing import Any

from tests.support.lambdas import Answer
from tests.support.platform import Platform

TASKS = "/api/v1/apprentice/tasks"


def put(platform: Platform, name: str, document: Any, **options: Any) -> Answer:
    return platform.call("PUT", f"{TASKS}/{name}", document, **options)


def made(platform: Platform, name: str, document: Any, **options: Any) -> dict[str, Any]:
    answer = put(platform, name, document, **options)
    assert answer.status == 200, answer.text
    task: dict[str, Any] = answer.json["task"]
    return task


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with a field set, or left out where the value is None."""
    copy = deepcopy(document)
    *parents, last = path.split(".")
    at = copy
    for name in parents:
        at = at[name]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return copy


def read(platform: Platform, path: str, **options: Any) -> Answer:
    return platform.call("GET", f"{TASKS}{path}", **options)


def names(platform: Platform, **query: Any) -> list[str]:
    return [one["name"] for one in read(platform, "", query=query).json["tasks"]]
