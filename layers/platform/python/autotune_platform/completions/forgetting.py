"""Deleting what is left of texts when the table removes the items that have or name them.

Large texts lie in S3, and what explains a verdict, and may quote the text, beside the verdict.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from autotune_platform.completions.content import CONTENT, object_key
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.storage.changes import Change, ChangeKind
from autotune_platform.storage.erasing import CompletionEraser
from autotune_platform.storage.objects import delete_objects

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = Logger()

_OBJECTS_PER_CALL = 1_000

REMOVED_CONTENT = [ChangeKind("REMOVE", CONTENT)]
"""Changes by which the table removes completions' texts."""


@part
class ContentForgetting:
    """Follows the table's stream: what expires there must not stay in the bucket."""

    bucket: str
    s3: "S3Client"
    erasers: Sequence[CompletionEraser]

    def follow(self, removals: Sequence[Change]) -> None:
        """Delete what is left of the texts of completions whose items were removed.

        Raises:
            UnavailableError: some could not be deleted; following the same removals again is safe.
        """
        for some in groups(removals, _OBJECTS_PER_CALL):
            delete_objects(self.s3, self.bucket, (object_key(one.pk) for one in some))
            for eraser in self.erasers:
                eraser.erase_completions([one.pk for one in some], at=SYSTEM_CLOCK.now())
        logger.info("expired content forgotten", completions=len(removals))
