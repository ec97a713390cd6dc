"""What jobs read and write in the bucket: addresses that have no row of the hold-out."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from autotune_platform.apprentice.examples.manifests import Manifest
from autotune_platform.apprentice.runs.prompting import system_template
from autotune_platform.apprentice.students.archives import Archive, TrainedOn, read_archive
from autotune_platform.apprentice.students.files import (
    BaseModels,
    NoArtifactError,
    TamperedArtifactError,
    artifact_key,
    base_folder,
    job_folder,
)
from autotune_platform.apprentice.training.jobs import JobInputs
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CHANGED = "412"


@part
class JobFiles:
    """Files of jobs in the apprentice's bucket."""

    bucket: str
    s3: "S3Client"

    def base_digest(self, base_model: str) -> str | None:
        """Return the digest of the list of a base model's files; None where nobody stored it."""
        bases = BaseModels(bucket=self.bucket, s3=self.s3)
        return bases.digest(self._uri(base_folder(base_model)))

    def give(self, manifest: Manifest, document: Mapping[str, Any], base_sha256: str) -> JobInputs:
        """Store how a job is to train, and return what it is given; the same again is the same.

        Args:
            manifest: of the data, of which it gets the rows to learn from.
            document: the configuration.
            base_sha256: digest of the base model's list of files.
        """
        folder = job_folder(manifest.task_id, manifest.training_id)
        content = settings_of(document)
        key = f"{folder}settings/settings.json"
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)
        base_model = document["training"]["baseModel"]
        return JobInputs(
            train=self._uri(manifest.train.key),
            train_sha256=manifest.train.sha256,
            settings=self._uri(key),
            settings_sha256=hashlib.sha256(content).hexdigest(),
            base=self._uri(base_folder(base_model)),
            base_model=base_model,
            base_sha256=base_sha256,
            output=self._uri(f"{folder}output"),
            checkpoints=self._uri(f"{folder}checkpoints"),
        )

    def looked_at(
        self, task_id: str, job: str, artifact: str, trained_on: TrainedOn
    ) -> tuple[Archive, str]:
        """Return what a job's artifact is, and its version in the bucket.

        Args:
            task_id: whose it is.
            job: name of the job.
            artifact: where SageMaker says that it is.
            trained_on: what it has to say of itself.

        Raises:
            BadArtifactError: it is none that is taken.
            NoArtifactError: there is none.
            TamperedArtifactError: it is not where such a job has its artifact.
        """
        key = self._key(task_id, job, trained_on.training_id)
        if artifact != self._uri(key):
            raise TamperedArtifactError(f"{job} has its artifact elsewhere")
        try:
            answer = self.s3.get_object(Bucket=self.bucket, Key=key)
        except self.s3.exceptions.NoSuchKey as error:
            raise NoArtifactError(f"{job} left no artifact") from error
        with closing(answer["Body"]) as body:
            return read_archive(body, trained_on), answer["ETag"]  # type: ignore[arg-type]

    def keep(self, task_id: str, job: str, training_id: str, *, model: str, etag: str) -> None:
        """Copy an artifact that was looked at to where models lie.

        Raises:
            TamperedArtifactError: it is another one by now.
        """
        key = self._key(task_id, job, training_id)
        try:
            self.s3.copy_object(
                Bucket=self.bucket,
                Key=artifact_key(task_id, model, packed=True),
                CopySource={"Bucket": self.bucket, "Key": key},
                CopySourceIfMatch=etag,
            )
        except self.s3.exceptions.ClientError as error:
            if error.response["Error"].get("Code") not in {"PreconditionFailed", _CHANGED}:
                raise
            raise TamperedArtifactError(f"the artifact of {job} was changed") from error

    def _key(self, task_id: str, job: str, training_id: str) -> str:
        return f"{job_folder(task_id, training_id)}output/{job}/output/model.tar.gz"

    def _uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def settings_of(document: Mapping[str, Any]) -> bytes:
    """Return how a job is to train, as JSON; the same configuration is always the same bytes.

    Prompts have places ``{{name}}``, which the program fills in as the platform does.
    """
    training = document["training"]
    settings = {
        "system": system_template(document),
        "user": document["promptTemplate"],
        "variables": list(document["inputSchema"]["properties"]),
        "lora": {name: training["lora"][name] for name in ("r", "alpha")},
    }
    return json.dumps(settings, sort_keys=True, ensure_ascii=False).encode()
