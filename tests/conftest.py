"""What all tests share."""

from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.support import faster_moto

# Tests of a folder that share what is dear to make: an app that is synthesized, a browser, a stack.
_TOGETHER = frozenset(["browser", "e2e", "infra"])

# Machines are slow at times, and every run tries the same examples: what fails here fails anywhere.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")

faster_moto.install()


class _Scheduling(LoadScopeScheduling):
    """Gives each worker one test after the other, but some folders as a whole to one."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.split("/")[1]
        return folder if folder in _TOGETHER else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _Scheduling(config, log)
