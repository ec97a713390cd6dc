"""Objects of S3 in folders, and folders in S3, as SageMaker copies them."""

import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from local.sagemaker.roles import Roles

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

T = TypeVar("T")

_URI = re.compile(r"(?:s3|https)://([^/]+)/?(.*)", re.DOTALL)


class ObjectsError(Exception):
    """S3 has not what it should have, or does not take it."""


class Objects:
    """S3, as somebody may use it.

    Args:
        roles: Who jobs and hosts are.
        role: Whose permissions count; None for the server's own.
    """

    def __init__(self, roles: Roles, role: str | None = None) -> None:
        self.roles = roles
        self._role = role

    def acting_as(self, role: str | None) -> "Objects":
        """Return S3 as a role may use it."""
        return Objects(self.roles, role)

    def download(self, uri: str, folder: Path) -> int:
        """Copy what begins with a URI into a folder; return how many objects that were.

        Objects below ``s3://bucket/data`` get their path below it; an object of exactly that name
        gets its last part.

        Raises:
            ObjectsError: Nothing begins so, or S3 refuses.
        """
        bucket, prefix = bucket_and_key(uri)
        found = list(self._keys(bucket, prefix))
        if not found:
            raise ObjectsError(
                f"NoSuchKey: No S3 objects found under S3 URL {uri} given in input data source."
            )
        for key in found:
            file = _inside(folder, relative(key, prefix))
            self.download_file(f"s3://{bucket}/{key}", file)
        return len(found)

    def download_file(self, uri: str, file: Path) -> None:
        """Copy one object to a file.

        Raises:
            ObjectsError: It is not there, or S3 refuses.
        """
        bucket, key = bucket_and_key(uri)
        file.parent.mkdir(parents=True, exist_ok=True)
        _as_objects_error(lambda: self._s3.download_file(bucket, key, str(file)))

    def upload(
        self,
        folder: Path,
        uri: str,
        *,
        unless: dict[str, tuple[int, int]],
        kms_key: str | None = None,
    ) -> None:
        """Copy the files of a folder to below a URI.

        Args:
            folder: Links in it are left out.
            uri: Where they go.
            unless: What was copied before, by path: files that did not change are left out, and
                those that are copied are added.
            kms_key: What S3 encrypts them with; None for what their bucket says.

        Raises:
            ObjectsError: S3 refuses.
        """
        bucket, prefix = bucket_and_key(uri)
        for file in sorted(folder.rglob("*")):
            if not file.is_file() or file.is_symlink():
                continue
            name = file.relative_to(folder).as_posix()
            state = (file.stat().st_size, file.stat().st_mtime_ns)
            if unless.get(name) == state:
                continue
            key = f"{prefix.rstrip('/')}/{name}".lstrip("/")
            self.upload_file(file, f"s3://{bucket}/{key}", kms_key=kms_key)
            unless[name] = state

    def upload_file(self, file: Path, uri: str, *, kms_key: str | None = None) -> None:
        """Copy a file to an object.

        Args:
            file: What is copied.
            uri: Where it goes.
            kms_key: What S3 encrypts it with; None for what its bucket says.

        Raises:
            ObjectsError: S3 refuses.
        """
        bucket, key = bucket_and_key(uri)
        more = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": kms_key} if kms_key else None
        _as_objects_error(lambda: self._s3.upload_file(str(file), bucket, key, ExtraArgs=more))

    def _keys(self, bucket: str, prefix: str) -> Iterator[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        found = _as_objects_error(lambda: [page.get("Contents", []) for page in pages])
        for page in found:
            yield from (one["Key"] for one in page if not one["Key"].endswith("/"))

    @property
    def _s3(self) -> "S3Client":
        client: S3Client = _as_objects_error(lambda: self.roles.s3(self._role))
        return client


def bucket_and_key(uri: str) -> tuple[str, str]:
    """Return the two parts of an address in S3.

    Raises:
        ObjectsError: It is none.
    """
    found = _URI.fullmatch(uri)
    if found is None:
        raise ObjectsError(f"{uri} is no address in S3")
    return found[1], found[2]


def relative(key: str, prefix: str) -> str:
    """Return what a key is below a prefix that it begins with."""
    if prefix and not prefix.endswith("/"):
        if key.startswith(f"{prefix}/"):
            return key.removeprefix(f"{prefix}/")
        return key[prefix.rfind("/") + 1 :]
    return key.removeprefix(prefix)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a tar file, compressed or not; nothing of it lands outside the folder.

    Raises:
        ObjectsError: It is none, or has paths or links that lead out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise ObjectsError(f"{archive.name} cannot be unpacked: {error}") from error


def pack(folder: Path, archive: Path) -> None:
    """Write a compressed tar file of all that a folder has."""
    with tarfile.open(archive, "w:gz", compresslevel=1) as opened:
        for file in sorted(folder.iterdir()):
            opened.add(file, arcname=file.name)


def _inside(folder: Path, name: str) -> Path:
    file = (folder / name).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise ObjectsError(f"the key {name} leads out of its folder")
    return file


def _as_objects_error(call: Callable[[], T]) -> T:
    try:
        return call()
    except (ClientError, BotoCoreError, boto3.exceptions.Boto3Error) as error:
        raise ObjectsError(str(error)) from error
