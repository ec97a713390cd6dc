"""Students that are asked one after another: those that were asked last are kept in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Literal

from cachetools import LRUCache

from autotune_platform.apprentice.students.artifacts import from_bytes
from autotune_platform.apprentice.students.errors import BadArtifactError
from autotune_platform.apprentice.students.files import (
    ModelFiles,
    NoArtifactError,
    TamperedArtifactError,
    task_of,
)
from autotune_platform.apprentice.students.linear import LinearModel
from autotune_platform.runtime.parts import part

_KEPT_BYTES = 256_000_000
"""Of artifacts; a function with a whole processor has seven times as much memory."""


@dataclass(frozen=True)
class _Kept:
    model: LinearModel
    size: int


def _kept() -> "LRUCache[tuple[str, str], _Kept]":
    return LRUCache(_KEPT_BYTES, getsizeof=lambda one: one.size)


@part
class StudentHost:
    """Answers for students; threads may share it."""

    files: ModelFiles
    kept: "LRUCache[tuple[str, str], _Kept]" = field(default_factory=_kept)
    lock: RLock = field(default_factory=RLock)

    def answer(
        self, model: str, digest: str, value: Mapping[str, Any]
    ) -> tuple[str, float] | Literal["no_model", "another_version"]:
        """Return a student's answer and its confidence, or why there is none.

        Args:
            model: its name, which begins with its task's id.
            digest: SHA-256 of its artifact.
            value: the input.
        """
        try:
            student = self._student(model, digest)
        except NoArtifactError:
            return "no_model"
        except (BadArtifactError, TamperedArtifactError):
            return "another_version"
        return student.answer(value)

    def _student(self, model: str, digest: str) -> LinearModel:
        key = (model, digest)
        with self.lock:
            found = self.kept.get(key)
            if found is None:
                content = self.files.get(task_of(model), model, sha256=digest)
                found = self.kept[key] = _Kept(from_bytes(content), len(content))
            return found.model
