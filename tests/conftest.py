"""What all tests share."""

import gc
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.support import faster_moto
from tests.support.permissions import SUMMARY, SUMMARY_NAME

# Tests of a folder that share what is dear to make: an app that is synthesized, a browser, a stack.
_TOGETHER = frozenset(["browser", "e2e", "infra"])
# Those of processes that a busy machine keeps waiting.
_TRIED_TWICE = frozenset(["browser", "e2e"])

# Machines are slow at times, and every run tries the same examples: what fails here fails anywhere.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")

faster_moto.install()


class _Scheduling(LoadScopeScheduling):
    """Gives each worker one test after the other, but some folders as a whole to one."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.split("/")[1]
        return folder if folder in _TOGETHER else nodeid


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _TRIED_TWICE.intersection(item.path.parts):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Leave out of garbage collections what is there from now on: all modules, and all tests.

    The API collects after each large request, which took half a second of each of them.
    """
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over from the worker that ran the end-to-end tests what it saw of permissions."""
    if summary := getattr(node, "workeroutput", {}).get(SUMMARY_NAME):
        node.config.stash[SUMMARY] = summary


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if summary := config.stash.get(SUMMARY, None):
        terminalreporter.write_line(summary)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _Scheduling(config, log)
