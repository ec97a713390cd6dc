"""Deleting the large texts of completions whose items the table removed."""

from collections.abc import Sequence

from aws_lambda_powertools import Logger

from autotune_platform.completions.removed_content import RemovedContent
from autotune_platform.storage.changes import Change

logger = Logger()


class ContentForgetting:
    """Follows the table's stream: what expires there must not stay in the bucket."""

    def __init__(self, *, content: RemovedContent) -> None:
        self._content = content

    def follow(self, removals: Sequence[Change]) -> None:
        """Delete the large texts of completions whose items were removed.

        Raises:
            UnavailableError: some could not be deleted; following the same removals again is safe.
        """
        self._content.delete([removal.pk for removal in removals])
        logger.info("expired content forgotten", completions=len(removals))
