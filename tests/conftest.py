"""What all tests share."""

import gc
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.support import faster_moto
from tests.support.permissions import SUMMARY, SUMMARY_NAME
from tests.support.scheduling import Scheduling, place_of

# Machines are slow at times, and every run tries the same examples: what fails here fails anywhere.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")

faster_moto.install()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.usepdb:  # where one looks into a failure, it is not tried again
        for item in items:
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: place_of(config.rootpath, item.nodeid))


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
    # In the order above, and not those of most tests first.
    config.option.loadscopereorder = False
    return Scheduling(config, log)
