"""What one grading process is made of: each service, repository and table once."""

import gc
from collections import Counter
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from pydantic import BaseModel

from autotune_platform.storage.table import Table
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import forget_processes
from tests.support.platform import Platform

MOST_PARTS = 42
"""Three make calls of DynamoDB. It was 69 when each part made its own: 18 of them tables."""


def parts() -> list[Any]:
    """Return every object of a class that other modules of the platform may make parts of."""
    gc.collect()
    return [
        one
        for one in gc.get_objects()
        if str(type(one).__module__).startswith("autotune_platform.")
        and not type(one).__name__.startswith("_")  # such as the stream of a connection
        and not is_data(type(one))
    ]


def is_data(kind: type) -> bool:
    """Tell what is compared by its values: parts are dataclasses as well, and are not compared."""
    return issubclass(kind, BaseModel | BaseException | Enum) or (
        is_dataclass(kind) and kind.__dataclass_params__.eq
    )


def label(part: Any) -> str:
    """Return what there is to be one of: a class, or a table by its name."""
    kind = type(part)
    table = f" {part.name}" if isinstance(part, Table) else ""
    return f"{kind.__module__.removeprefix('autotune_platform.')}.{kind.__name__}{table}"


def test_a_grading_process_makes_each_part_once(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    accepted = [platform.submit(task_id, {}, {}) for _ in range(2)]
    for record in platform.queued():
        platform.dispatch([record])
    first, second = platform.runs()

    forget_processes()
    there = parts()  # kept, so that no new object has the id of one that is gone
    before = {id(one) for one in there}
    assert platform.grade(first)["remaining"] == 0
    assert platform.grade(second)["remaining"] == 0
    made = Counter(label(one) for one in parts() if id(one) not in before)

    for each in accepted:
        assert platform.batch(each.json["batchId"])["counts"]["scored"] == 2
    assert {name: count for name, count in made.items() if count > 1} == {}
    assert made.total() <= MOST_PARTS, "\n".join(sorted(made))
    assert {name for name in made if name.startswith("storage.table.")} == {
        f"storage.table.Table {name}" for name in ("budgets", "completions", "registry")
    }
    assert made["verdicts.service.VerdictService"] == 1
