"""What a job is given: rows, settings and a base model, each with its digest."""

import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BASE = "base.json"
_READ_BYTES = 1_048_576
# As the platform fills in prompts: autotune.protocol.llm_templates.
_PLACE = re.compile(r"\{\{[ \t]{0,8}([A-Za-z_][A-Za-z0-9_]{0,63})[ \t]{0,8}\}\}")


class GivenError(Exception):
    """What is given is not what it should be.

    Attributes:
        code: one word.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Example:
    """What a model is to answer to a question."""

    system: str
    user: str
    answer: str


@dataclass(frozen=True)
class Given:
    """A job's inputs.

    Attributes:
        names: hyperparameters that say what the model is of.
        base: folder of the base model.
        lora: ``r`` and ``alpha`` of the adapter.
    """

    names: Mapping[str, str]
    base: Path
    lora: Mapping[str, int]
    settings: Mapping[str, Any]
    rows: Path

    def examples(self) -> Iterator[Example]:
        """Yield what is learned from."""
        with gzip.open(self.rows, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                yield example_of(self.settings, row["input"], row["output"])


def given() -> Given:
    """Return a job's inputs, once each was compared with its digest.

    Raises:
        GivenError: one is another, or is not there.
    """
    names = json.loads(os.environ["SM_HPS"])
    rows, settings = _only_file("TRAIN"), _only_file("SETTINGS")
    _require(rows, names["data_sha256"], "data_differs")
    _require(settings, names["settings_sha256"], "settings_differ")
    base = Path(os.environ["SM_CHANNEL_BASE"])
    _require(base / _BASE, names["base_sha256"], "base_differs")
    for name, sha256 in json.loads((base / _BASE).read_text())["files"].items():
        _require(base / name, sha256, "base_differs")
    said = json.loads(settings.read_text(encoding="utf-8"))
    return Given(names=names, base=base, lora=said["lora"], settings=said, rows=rows)


def example_of(settings: Mapping[str, Any], value: Mapping[str, Any], output: Any) -> Example:
    """Return a row as a question and its answer, in the words that a version is asked in."""
    known = {name: _text(value, name) for name in settings["variables"]}
    return Example(
        system=_filled(settings["system"], known),
        user=_filled(settings["user"], known),
        answer=json.dumps(output, separators=(",", ":"), ensure_ascii=False),
    )


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while some := content.read(_READ_BYTES):
            digest.update(some)
    return digest.hexdigest()


def _only_file(channel: str) -> Path:
    found = [
        file for file in Path(os.environ[f"SM_CHANNEL_{channel}"]).rglob("*") if file.is_file()
    ]
    if len(found) != 1:
        raise GivenError(f"{channel.lower()}_missing")
    return found[0]


def _require(file: Path, sha256: str, code: str) -> None:
    if not file.is_file() or digest_of(file) != sha256:
        raise GivenError(code)


def _text(value: Mapping[str, Any], name: str) -> str:
    if name not in value:
        return ""
    member = value[name]
    if isinstance(member, str):
        return member
    return json.dumps(member, separators=(",", ":"), ensure_ascii=False)


def _filled(template: str, known: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: known[place[1]], template)
