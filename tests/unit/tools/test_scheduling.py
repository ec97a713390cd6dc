"""What one worker runs, in what order, and what the scheduler remembers of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.scheduling import Scheduling, place_of


class Worker:
    """A worker that does the tests it is given when it is told to."""

    def __init__(self) -> None:
        self.shutting_down = False
        self.given: list[int] = []
        self.gateway = SimpleNamespace(id="worker")

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, source in {
        "unit/test_alone.py": "",
        "unit/test_shared.py": '@pytest.fixture(scope="module")',
        "component/lab/conftest.py": '@pytest.fixture(scope="module")',
        "component/lab/test_models.py": "",
        "infra/test_routes.py": "",
        "e2e/test_health.py": "",
    }.items():
        file = tmp_path / "tests" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    return tmp_path


TESTS = [
    *(f"tests/unit/test_alone.py::test_{number}" for number in range(8)),
    *(f"tests/unit/test_shared.py::test_{number}[a/b]" for number in range(3)),
    *(f"tests/component/lab/test_models.py::test_{number}" for number in range(3)),
    *(f"tests/infra/test_routes.py::test_{number}" for number in range(9)),
    *(f"tests/e2e/test_health.py::test_{number}" for number in range(4)),
]


def scheduled(root: Path, workers: int) -> tuple[Any, list[Any], list[str]]:
    """A scheduler that has given its workers the first of their tests, in the order of a run."""
    tests = sorted(TESTS, key=lambda nodeid: place_of(root, nodeid))
    option = SimpleNamespace(loadscopereorder=False, tx=["popen"] * workers, maxprocesses=None)
    config: Any = SimpleNamespace(
        rootpath=root,
        option=option,
        getvalue=lambda name: getattr(option, name),
    )
    scheduling: Any = Scheduling(config)
    made = [Worker() for _ in range(workers)]
    for worker in made:
        scheduling.add_node(worker)
    for worker in made:
        scheduling.add_node_collection(worker, tests)
    scheduling.schedule()
    return scheduling, made, tests


def test_what_takes_longest_comes_first_and_what_shares_goes_to_one(root: Path) -> None:
    scheduling, workers, tests = scheduled(root, 3)
    ran: dict[int, list[str]] = {0: [], 1: [], 2: []}
    while any(worker.given for worker in workers):
        for number, worker in enumerate(workers):
            if worker.given:
                index = worker.given.pop(0)
                ran[number].append(tests[index])
                scheduling.mark_test_complete(worker, index)
    assert sorted(one for some in ran.values() for one in some) == sorted(TESTS)
    assert scheduling.tests_finished
    assert not scheduling.has_pending
    assert [some[0].split("/")[1] for some in ran.values()] == ["e2e", "infra", "unit"]
    for together in ("/e2e/", "/infra/", "/lab/", "test_shared"):
        assert sum(any(together in one for one in some) for some in ran.values()) == 1, together
    assert sum(any("test_alone" in one for one in some) for some in ran.values()) > 1


def test_a_test_that_is_done_twice_and_what_is_done_is_forgotten(root: Path) -> None:
    scheduling, (worker,), tests = scheduled(root, 1)
    while worker.given:
        index = worker.given.pop(0)
        scheduling.mark_test_complete(worker, index)
        scheduling.mark_test_complete(worker, index)
        assert len(scheduling.assigned_work[worker]) <= 4
    assert scheduling.assigned_work[worker] == {}
    assert scheduling.remove_node(worker) is None
    assert scheduling.tests_finished
    assert len(tests) == len(TESTS)


def test_the_test_that_a_worker_died_of_is_named(root: Path) -> None:
    scheduling, (worker,), tests = scheduled(root, 1)
    first = worker.given.pop(0)
    scheduling.mark_test_complete(worker, first)
    assert scheduling.remove_node(worker) == tests[worker.given[0]]
