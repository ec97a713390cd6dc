"""Embedding models in the apprentice's bucket, where operators put them."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from autotune.protocol.apprentice_embeddings import (
    FILES,
    key_of,
    label_of,
    listed_in,
    name_of,
    prefix_of,
)
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class NoEmbeddingsError(Exception):
    """There is no model of this name."""


class OtherEmbeddingsError(Exception):
    """The files are not those that the name stands for, or no model."""


@part
class EmbeddingFiles:
    """Reads and lists them."""

    bucket: str
    s3: "S3Client"

    def get(self, name: str) -> Mapping[str, bytes]:
        """Return a model's files.

        Raises:
            NoEmbeddingsError: one is not there.
            OtherEmbeddingsError: they have other bytes than the name says.
        """
        label = label_of(name)
        if label is None:
            raise NoEmbeddingsError("no name of a model")
        files = {file: self._get(name, file, most) for file, most in FILES.items()}
        digests = {file: hashlib.sha256(content).hexdigest() for file, content in files.items()}
        if name_of(label, digests) != name:
            raise OtherEmbeddingsError("the files are not those of the name")
        return files

    def names(self) -> Sequence[str]:
        """Return the names of all models, sorted; of more than 300 there may be some missing."""
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix_of())
        return listed_in([one["Key"] for one in listed.get("Contents", [])])

    def has(self, name: str) -> bool:
        """Return whether all files of a model are there."""
        if label_of(name) is None:
            return False
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix_of(name))
        return name in listed_in([one["Key"] for one in listed.get("Contents", [])])

    def _get(self, name: str, file: str, most: int) -> bytes:
        try:
            answer = self.s3.get_object(Bucket=self.bucket, Key=key_of(name, file))
        except self.s3.exceptions.NoSuchKey as error:
            raise NoEmbeddingsError(f"no {file}") from error
        with closing(answer["Body"]) as body:
            content = body.read(most + 1)
        if len(content) > most:
            raise OtherEmbeddingsError(f"{file} has more than {most} bytes")
        return content
