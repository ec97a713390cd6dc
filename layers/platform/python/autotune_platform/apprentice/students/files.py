"""Artifacts of trained models in their bucket, each under a name that no other ever has."""

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING, Final

from autotune_platform.runtime.parts import part
from autotune_platform.storage.objects import delete_objects, object_keys

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BASE_LIST: Final = "base.json"
"""Of a base model's files, with their digests; without it nothing is trained of it."""
MOST_BYTES: Final = 64_000_000
"""Of an artifact."""
_MOST_BASE_BYTES: Final = 1_000_000


class TamperedArtifactError(Exception):
    """The bytes in the bucket are not those that were trained."""


class NoArtifactError(TamperedArtifactError):
    """There are no bytes."""


def folder_of(task_id: str) -> str:
    """Return where all files of a task lie."""
    return f"apprentice/{task_id}/"


def task_of(model: str) -> str:
    """Return the id of the task that a model's name begins with."""
    return model.partition("-")[0]


def model_name(task_id: str, number: int, sha256: str) -> str:
    """Return the name of the model that a task's training of a number makes.

    The number is given once, and its bytes may differ by machine.

    Args:
        sha256: of the artifact's bytes, in hexadecimal digits.
    """
    return f"{_made_by(task_id, number)}{sha256[:12]}"


def _made_by(task_id: str, number: int) -> str:
    # The last dash is what tells training 1 from training 11.
    return f"{task_id}-{number}-"


def artifact_key(task_id: str, model: str, *, packed: bool = False) -> str:
    """Return where a model's artifact lies.

    Args:
        task_id: whose model it is.
        model: its name.
        packed: whether it is a ``model.tar.gz``, as jobs make them, and not the ``.npz`` of a
            linear student.
    """
    return f"{_models_of(task_id)}{model}/model.{'tar.gz' if packed else 'npz'}"


def _models_of(task_id: str) -> str:
    return f"{folder_of(task_id)}models/"


def job_folder(task_id: str, training_id: str) -> str:
    """Return where a training's jobs read how to train, and write what came of it."""
    return f"{folder_of(task_id)}jobs/{training_id}/"


def base_folder(base_model: str) -> str:
    """Return where the weights of a base model lie, which whoever deploys puts there."""
    return f"apprentice/bases/{base_model}/"


@part
class BaseModels:
    """Knows the base models that whoever deploys has stored."""

    bucket: str
    s3: "S3Client"

    def has(self, base_model: str) -> bool:
        """Return whether there is a list of a base model's files."""
        key = f"{base_folder(base_model)}{BASE_LIST}"
        found = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=key, MaxKeys=1)
        return any(one["Key"] == key for one in found.get("Contents", []))

    def digest(self, uri: str) -> str | None:
        """Return the digest of the list of a base model's files; None where nobody stored it.

        Args:
            uri: of the folder of its weights.
        """
        key = uri.removeprefix(f"s3://{self.bucket}/") + BASE_LIST
        try:
            answer = self.s3.get_object(Bucket=self.bucket, Key=key)
        except self.s3.exceptions.NoSuchKey:
            return None
        with closing(answer["Body"]) as body:
            content = body.read(_MOST_BASE_BYTES + 1)
        return hashlib.sha256(content).hexdigest() if len(content) <= _MOST_BASE_BYTES else None


@part
class ModelFiles:
    """Stores and reads artifacts."""

    bucket: str
    s3: "S3Client"

    def put(self, task_id: str, model: str, content: bytes) -> None:
        """Store an artifact; the same again is the same object."""
        self.s3.put_object(Bucket=self.bucket, Key=artifact_key(task_id, model), Body=content)

    def get(self, task_id: str, model: str, *, sha256: str) -> bytes:
        """Return an artifact.

        Raises:
            NoArtifactError: it is gone.
            TamperedArtifactError: it is not what was trained.
        """
        try:
            answer = self.s3.get_object(Bucket=self.bucket, Key=artifact_key(task_id, model))
        except self.s3.exceptions.NoSuchKey as error:
            raise NoArtifactError(f"no artifact of {model}") from error
        with closing(answer["Body"]) as body:
            # What is larger than any student is not read to its end.
            content = body.read(MOST_BYTES + 1)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise TamperedArtifactError(f"the artifact of {model} is another one")
        return content

    def delete(self, task_id: str, model: str) -> None:
        """Delete an artifact; one that is gone stays so."""
        for packed in (False, True):
            key = artifact_key(task_id, model, packed=packed)
            self.s3.delete_object(Bucket=self.bucket, Key=key)

    def delete_made(self, task_id: str, number: int, *, but: str | None) -> None:
        """Delete what a training stored as its models, whoever knows of it.

        Args:
            number: of the training.
            but: name of a model that stays; None where none does.

        Raises:
            UnavailableError: the bucket kept some.
        """
        prefix = f"{_models_of(task_id)}{_made_by(task_id, number)}"
        stays = None if but is None else f"{_models_of(task_id)}{but}/"
        found = object_keys(self.s3, self.bucket, prefix)
        gone = (key for key in found if stays is None or not key.startswith(stays))
        delete_objects(self.s3, self.bucket, gone)

    def delete_jobs(self, task_id: str, training_id: str) -> None:
        """Delete what jobs of a training read and wrote.

        Raises:
            UnavailableError: the bucket kept some.
        """
        self._delete_all(job_folder(task_id, training_id))

    def erase(self, task_id: str) -> None:
        """Delete all files of a task.

        Raises:
            UnavailableError: the bucket kept some.
        """
        self._delete_all(folder_of(task_id))

    def _delete_all(self, prefix: str) -> None:
        delete_objects(self.s3, self.bucket, object_keys(self.s3, self.bucket, prefix))
