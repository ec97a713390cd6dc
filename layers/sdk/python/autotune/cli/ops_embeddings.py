"""``autotune ops embeddings``: models by which answers are compared in meaning."""

import hashlib
import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Invocation, command, note, stop
from autotune.cli.ops_deployment import Deployment
from autotune.protocol.apprentice_embeddings import (
    FILES,
    LABEL,
    key_of,
    label_of,
    listed_in,
    name_of,
    prefix_of,
)

if TYPE_CHECKING:
    from boto3.session import Session

_READ_BYTES = 1_048_576
_MOST_HEADER_BYTES = 100_000
_WEIGHTS = "model.safetensors"
_BUCKET = "ApprenticeBucketName"

app = typer.Typer(
    no_args_is_help=True, help="Embedding models of tasks whose evaluator compares meanings."
)


@command(app)
def put(
    invocation: Invocation,
    label: Annotated[str, typer.Argument(help="What the model is called: a-z, 0-9, ., _ and -.")],
    folder: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="As model2vec writes it.")
    ],
    *,
    deployment: Deployment,
) -> None:
    """Store a model of model2vec, and print its name, which tasks give as embedding_model.

    The name ends with digits of a digest of its files, so that it never stands for other weights.
    """
    if LABEL.fullmatch(label) is None:
        stop(f"{label}: expected up to 63 of a-z, 0-9, ., _ and -, a letter or digit first")
    _require_model(folder)
    name = name_of(label, {file: _digest_of(folder / file) for file in FILES})
    with deployment.session() as session:
        bucket = deployment.output(session, _BUCKET)
        _upload(session, bucket, name, folder)
        answer = deployment.call_in(session, "ScoreSimilarity", {"model": name, "pairs": []})
        if "refused" in answer:
            _take_back(session, bucket, name)
            stop(f"{folder} holds no model that model2vec's StaticModel reads")
    _show(invocation, name, answer)


@command(app, "list")
def list_models(invocation: Invocation, *, deployment: Deployment) -> None:
    """List the names of the models that are stored."""
    with deployment.session() as session:
        keys = _keys(session, deployment.output(session, _BUCKET), prefix_of())
    for name in listed_in(keys):
        typer.echo(json.dumps({"embeddingModel": name}) if invocation.as_json else name)
    if not keys:
        note("there are none")


@command(app)
def delete(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(help="As list shows it, with the digits behind @.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    deployment: Deployment,
) -> None:
    """Delete a model.

    It is for all organisations, and which tasks name it only they know: ask them first. A task
    that still does goes on answering, but compares nothing, except for as long as a process has
    the model in memory: no pair is made, so that it graduates no version and notices no shift; its
    trainings end with embeddings_missing, and it cannot be put again with this name. The same files
    put again have the same name, and all goes on.
    """
    if label_of(name) is None:
        stop(f"{name} is no name of a model; autotune ops embeddings list shows them")
    with deployment.session() as session:
        bucket = deployment.output(session, _BUCKET)
        # Also of one whose deletion, or whose storing, was ended before its end.
        keys = _keys(session, bucket, prefix_of(name))
        if not keys:
            stop(f"there is no embedding model {name}", exit_codes.NOT_FOUND)
        is_asked = not (yes or invocation.as_json) and sys.stdin.isatty()
        if not (yes or is_asked):
            stop(f"{name} would be deleted, for tasks of all organisations; give --yes")
        if is_asked and not typer.confirm(
            f"Delete {name}, whichever tasks of whichever organisations name it?", err=True
        ):
            stop("nothing was deleted")
        _delete(session, bucket, keys)
    typer.echo(json.dumps({"deleted": name}) if invocation.as_json else f"deleted {name}")


def _require_model(folder: Path) -> None:
    """Require files of the kind and size that are read; what they hold, the function looks at."""
    for file, most in FILES.items():
        path = folder / file
        if not path.is_file():
            stop(f"{path} is missing: a model has {', '.join(FILES)}", exit_codes.NOT_FOUND)
        if path.stat().st_size > most:
            stop(f"{path} has more than {most:,} bytes; model2vec can quantise a model")
        if file.endswith(".json") and not _is_object(path.read_bytes()):
            stop(f"{path} is no JSON object")
    with (folder / _WEIGHTS).open("rb") as content:
        first = content.read(8)
        length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
        if not 0 < length <= _MOST_HEADER_BYTES or not _is_object(content.read(length)):
            stop(f"{folder / _WEIGHTS} is no safetensors file; pickles are not read")


def _is_object(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        return False


def _digest_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while some := content.read(_READ_BYTES):
            digest.update(some)
    return digest.hexdigest()


def _upload(session: "Session", bucket: str, name: str, folder: Path) -> None:
    s3 = session.client("s3")
    for file in FILES:  # the weights last: without them there is no model
        with (folder / file).open("rb") as content:
            s3.put_object(Bucket=bucket, Key=key_of(name, file), Body=content)


def _take_back(session: "Session", bucket: str, name: str) -> None:
    _delete(session, bucket, [key_of(name, file) for file in FILES])


def _keys(session: "Session", bucket: str, prefix: str) -> list[str]:
    pages = session.client("s3").get_paginator("list_objects_v2")
    found = pages.paginate(Bucket=bucket, Prefix=prefix)
    return [one["Key"] for page in found for one in page.get("Contents", [])]


def _delete(session: "Session", bucket: str, keys: list[str]) -> None:
    s3 = session.client("s3")
    # The weights first: without them there is no model.
    for key in sorted(keys, key=lambda one: not one.endswith(f"/{_WEIGHTS}")):
        s3.delete_object(Bucket=bucket, Key=key)


def _show(invocation: Invocation, name: str, answer: Mapping[str, Any]) -> None:
    shown = {
        "embeddingModel": name,
        "tokens": answer.get("tokens"),
        "dimensions": answer.get("dimensions"),
    }
    if invocation.as_json:
        typer.echo(json.dumps(shown))
        return
    for field, value in shown.items():
        typer.echo(f"{field:<14} {value}")
