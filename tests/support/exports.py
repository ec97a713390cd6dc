"""Completions with verdicts that no grader gave, and their exports, step by step."""

import gzip
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import boto3
import duckdb

from autotune.protocol.grading import ScoreDimension
from autotune.protocol.ids import new_id
from autotune_platform.completions.models import Completion
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.wiring.completions import CompletionParts
from tests.support.platform import Platform
from tests.support.verdicts import store, verdict


@dataclass
class Scored:
    """What was judged of one completion: a value from 0 to 1, or the state it ended in."""

    prompt: str = "p"
    response: str = "r"
    value: float | None = 0.5
    confidence: float = 0.5
    state: str = "scored"
    dimensions: dict[str, float] | None = None
    metadata: dict[str, Any] | None = None
    grader: str = "grd_" + "a" * 26
    version: str = "1"
    model: str = "m"
    decided_at: datetime | None = None


class ExportedTask:
    """A task of the platform's organisation, whose completions have verdicts."""

    def __init__(self, platform: Platform, task_id: str) -> None:
        self.platform = platform
        self.id = task_id
        self.organization_id = platform.me()["organizationId"]
        self._count = 0

    def add(self, *judged: Scored) -> list[str]:
        """Store completions with their verdicts; return their ids."""
        ids = [new_id("cmp") for _ in judged]
        CompletionParts(ContentEnvironment.parse()).completion_repository.add_all(
            self._completion(id_, one) for id_, one in zip(ids, judged, strict=True)
        )
        store(self._verdict(id_, one) for id_, one in zip(ids, judged, strict=True))
        return ids

    def _completion(self, completion_id: str, one: Scored) -> Completion:
        made = self._verdict(completion_id, one)
        return Completion(
            id=completion_id,
            organization_id=self.organization_id,
            batch_id=made.batch_id,
            task_id=self.id,
            model_id=one.model,
            grader_id=one.grader,
            grader_version=one.version,
            share_identity=False,
            prompt=one.prompt,
            response=one.response,
            metadata=one.metadata or {},
            created_at=made.submitted_at,
        )

    def _verdict(self, completion_id: str, one: Scored) -> Any:
        self._count += 1
        is_scored = one.state == "scored"
        dimensions = [
            ScoreDimension(name=name, value=value) for name, value in (one.dimensions or {}).items()
        ]
        return verdict(
            self._count,
            completion_id=completion_id,
            organization_id=self.organization_id,
            task_id=self.id,
            model_id=one.model,
            grader_id=one.grader,
            grader_version=one.version,
            state=one.state,
            value=one.value if is_scored else None,
            confidence=one.confidence if is_scored else None,
            dimensions=dimensions or None,
            reason_code="grader_error" if one.state == "failed" else None,
            **({"decided_at": one.decided_at} if one.decided_at else {}),
        )


def start(platform: Platform, **body: Any) -> str:
    """Ask for an export; return its id."""
    answer = platform.call("POST", "/api/v1/exports", {"format": "jsonl", **body})
    assert answer.status == 202, answer.text
    return str(answer.json["export"]["id"])


def finish(platform: Platform, export_id: str, *, redrive: int = 0) -> None:
    """Do step after step until nothing is left."""
    started = {"export_id": export_id, "redrive": redrive}
    for _ in range(10_000):
        if platform.write_export(started)["done"]:
            return
    raise AssertionError("an export goes on for ever")


def read(platform: Platform, export_id: str) -> Any:
    """Return an export as its owner reads it."""
    return platform.call("GET", f"/api/v1/exports/{export_id}").json["export"]


def export(platform: Platform, **body: Any) -> "Finished":
    """Ask for an export, do all of it, and read its files."""
    export_id = start(platform, **body)
    finish(platform, export_id)
    return Finished.of(read(platform, export_id))


@dataclass
class Finished:
    """A completed export: its manifest and the bytes of its parts, which fit their digests."""

    export: Any
    manifest: Any
    parts: dict[str, bytes]

    @classmethod
    def of(cls, export: Any) -> "Finished":
        """Read the files of a completed export."""
        assert export["state"] == "completed", export
        files = export["downloads"]
        parts = {part["name"]: downloaded(part) for part in files["parts"]}
        return cls(export, json.loads(downloaded(files["manifest"])), parts)

    @property
    def records(self) -> list[Any]:
        """The records of an export in JSON lines."""
        return [
            json.loads(line)
            for body in self.parts.values()
            for line in gzip.decompress(body).splitlines()
        ]

    def rows(self, directory: Path) -> list[dict[str, Any]]:
        """The rows of an export in Parquet."""
        found: list[dict[str, Any]] = []
        for name, body in self.parts.items():
            directory.joinpath(name).write_bytes(body)
            with duckdb.connect() as database:
                rows = database.read_parquet(str(directory / name))
                found += [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]
        return found


def downloaded(file: dict[str, Any]) -> bytes:
    """Return a file that a link leads to; what is told of it must hold."""
    parts = urlsplit(file["url"])
    host, path = parts.netloc, unquote(parts.path).lstrip("/")
    key = path if host.startswith("exports.") else path.removeprefix("exports/")
    body: bytes = boto3.client("s3").get_object(Bucket="exports", Key=key)["Body"].read()
    assert hashlib.sha256(body).hexdigest() == file["sha256"]
    assert len(body) == file["bytes"]
    return body


def stored_keys() -> set[str]:
    """The names of all objects in the bucket of exports."""
    found = boto3.client("s3").list_objects_v2(Bucket="exports").get("Contents", [])
    return {one["Key"] for one in found}
