"""Embedding models that operators store: their files, and names that say which bytes they are."""

import hashlib
import re
from collections.abc import Mapping
from typing import Final

FILES: Final[Mapping[str, int]] = {
    "config.json": 100_000,
    "tokenizer.json": 40_000_000,
    "model.safetensors": 300_000_000,
}
"""What a model is of, and the most bytes of each: as model2vec writes them."""

LABEL: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
"""What an operator calls a model."""

_NAME: Final = re.compile(rf"({LABEL.pattern})@([0-9a-f]{{16}})")
_PREFIX: Final = "apprentice/embeddings/"


def name_of(label: str, digests: Mapping[str, str]) -> str:
    """Return the name of a model: what it is called, and 16 digits of a digest of its files.

    Args:
        label: matches ``LABEL``.
        digests: the SHA-256 of each of ``FILES``, in hexadecimal digits.
    """
    listed = "".join(f"{file}:{digests[file]}\n" for file in sorted(FILES))
    return f"{label}@{hashlib.sha256(listed.encode()).hexdigest()[:16]}"


def label_of(name: str) -> str | None:
    """Return what a model is called; None where that is no name of one."""
    found = _NAME.fullmatch(name)
    return None if found is None else found[1]


def key_of(name: str, file: str) -> str:
    """Return where in the apprentice's bucket a model's file lies."""
    return f"{_PREFIX}{name}/{file}"


def listed_in(keys: list[str]) -> list[str]:
    """Return the names of the models all of whose files are among keys, sorted."""
    found: dict[str, set[str]] = {}
    for key in keys:
        name, _, file = key.removeprefix(_PREFIX).partition("/")
        if key.startswith(_PREFIX) and label_of(name) is not None:
            found.setdefault(name, set()).add(file)
    return sorted(name for name, files in found.items() if files >= FILES.keys())


def prefix_of(name: str | None = None) -> str:
    """Return what the keys of a model's files begin with; those of all models without a name."""
    return _PREFIX if name is None else f"{_PREFIX}{name}/"
