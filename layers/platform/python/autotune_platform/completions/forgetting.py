"""Deleting the large texts of completions whose items the table removed."""

from collections.abc import Iterable, Mapping
from typing import Any

from aws_lambda_powertools import Logger

from autotune_platform.completions.removed_content import RemovedContent, removed_in

logger = Logger()


class ContentForgetting:
    """Follows the table's stream: what expires there must not stay in the bucket."""

    def __init__(self, *, content: RemovedContent) -> None:
        self._content = content

    def follow(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Delete the large texts of the removed items that records tell of, and of no other.

        Raises:
            UnavailableError: some could not be deleted; following the same records again is safe.
        """
        told = (removed_in(record) for record in records)
        completion_ids = [completion_id for completion_id in told if completion_id is not None]
        self._content.delete(completion_ids)
        logger.info("expired content forgotten", completions=len(completion_ids))
