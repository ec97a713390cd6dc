"""The large texts that are left in S3 when the table removes the items that name them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autotune_platform.completions.content import CONTENT, object_key
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.storage.changes import ChangeKind

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

_OBJECTS_PER_CALL = 1_000

REMOVED_CONTENT = [ChangeKind("REMOVE", CONTENT)]
"""Changes by which the table removes completions' texts."""


@part
class RemovedContent:
    """Objects in the content bucket whose items are gone."""

    bucket: str
    s3: "S3Client"

    def delete(self, completion_ids: Sequence[str]) -> None:
        """Delete the large texts of completions; most have none.

        Raises:
            UnavailableError: some could not be deleted; deleting all of them again is safe.
        """
        for some in groups(completion_ids, _OBJECTS_PER_CALL):
            keys: list[ObjectIdentifierTypeDef] = [{"Key": object_key(id_)} for id_ in some]
            answer = self.s3.delete_objects(
                Bucket=self.bucket, Delete={"Objects": keys, "Quiet": True}
            )
            if answer.get("Errors"):
                raise UnavailableError("the bucket is busy", retry_after_seconds=1)
