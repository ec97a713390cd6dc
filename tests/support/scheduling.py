"""Which tests one worker runs after each other, and which come first."""

from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

_TOGETHER = ("e2e", "infra", "browser")
"""Folders whose tests share what is dear to make: a stack, synthesized apps, a browser.

The longest comes first, so that others fill in beside it.
"""


class Scheduling(LoadScopeScheduling):
    """Gives each worker one test after the other, but some folders and files as a whole to one."""

    def _split_scope(self, nodeid: str) -> str:
        return _scope_of(self.config.rootpath, nodeid)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Note that a test is done, and forget its scope with the last one.

        All scopes that a worker ever had are counted after each test otherwise.
        """
        nodeid = self.registered_collections[node][item_index]
        assigned = self.assigned_work[node]
        scope = self._split_scope(nodeid)
        # A test that is tried twice is done twice.
        if scope in assigned:
            assigned[scope][nodeid] = True
            if all(assigned[scope].values()):
                del assigned[scope]
        self._reschedule(node)


def place_of(root: Path, nodeid: str) -> int:
    """Return where a test comes: folders of one worker, then files of one worker, then the rest."""
    scope = _scope_of(root, nodeid)
    if scope in _TOGETHER:
        return _TOGETHER.index(scope)
    return len(_TOGETHER) + (scope == nodeid)


@cache
def _scope_of(root: Path, nodeid: str) -> str:
    path, _, _ = nodeid.partition("::")
    (_, folder, *_) = path.split("/")
    if folder in _TOGETHER:
        return folder
    return path if _shares(root / path) else nodeid


@cache
def _shares(file: Path) -> bool:
    """Whether tests of a file share what is made for the first of them.

    Each worker that has one of them would make it again.
    """
    sources = (file, file.with_name("conftest.py"))
    return any('scope="module"' in one.read_text() for one in sources if one.exists())
