"""What the local stack keeps in its folder between commands."""

import os
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

PROFILE_FILE = "local.json"
STACK_FILE = "stack.json"


class _Record(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


AnyRecord = TypeVar("AnyRecord", bound=_Record)


class LocalProfile(_Record):
    """How a client reaches the local stack; the command line finds it by itself.

    Attributes:
        base_url: Base URL of the API, without a slash at the end.
        api_key: Credential of the first organization's admin.
        organization_id: The first organization.
        aws_endpoint_url: Where MiniStack answers for every AWS service.
    """

    base_url: str
    api_key: str
    organization_id: str
    aws_endpoint_url: str


class StackRecord(_Record):
    """What ``up`` leaves for the next command.

    Attributes:
        port: Port of MiniStack; taken again if it is free.
        pid: Process that ``up`` started, or None after ``down``.
        deployed_fingerprint: Digest of the templates that were deployed last.
    """

    port: int
    pid: int | None = None
    deployed_fingerprint: str | None = None


def read_profile(directory: Path) -> LocalProfile | None:
    """The profile in a folder; None if there is none that can be read."""
    return _read(directory / PROFILE_FILE, LocalProfile)


def write_profile(directory: Path, profile: LocalProfile) -> None:
    """Replaces the profile in a folder; only its owner can read it."""
    _write(directory / PROFILE_FILE, profile)


def read_stack_record(directory: Path) -> StackRecord | None:
    """The record in a folder; None if there is none that can be read."""
    return _read(directory / STACK_FILE, StackRecord)


def write_stack_record(directory: Path, record: StackRecord) -> None:
    """Replaces the record in a folder."""
    _write(directory / STACK_FILE, record)


def _read(path: Path, model: type[AnyRecord]) -> AnyRecord | None:
    try:
        return model.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _write(path: Path, record: _Record) -> None:
    """Writes beside the file and renames, so that nobody reads half of it."""
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(record.model_dump_json(by_alias=True, indent=2) + "\n")
    beside.replace(path)
