"""Tags of anything that has an ARN."""

from collections.abc import Mapping
from typing import Any

from local.sagemaker.errors import validation
from local.sagemaker.records import Record, Records

_MOST = 50


class Tags:
    """Tags, which are part of the records."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def add(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``AddTags``: a key that is there gets the new value."""

        def change(record: Record) -> None:
            tags = {tag["Key"]: tag for tag in [*record["_tags"], *asked["Tags"]]}
            if len(tags) > _MOST:
                raise validation(f"A resource has at most {_MOST} tags.")
            record["_tags"] = list(tags.values())

        return {"Tags": self._changed(asked, change)["_tags"]}

    def remove(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DeleteTags``."""

        def change(record: Record) -> None:
            record["_tags"] = [tag for tag in record["_tags"] if tag["Key"] not in asked["TagKeys"]]

        self._changed(asked, change)
        return {}

    def list(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``ListTags``; there are no more than one page has."""
        return {"Tags": self._changed(asked, lambda _: None)["_tags"]}

    def _changed(self, asked: Mapping[str, Any], change: Any) -> Record:
        found = self._records.by_arn(asked["ResourceArn"])
        record = self._records.change(*found, change) if found else None
        if record is None:
            raise validation(f'Could not find resource "{asked["ResourceArn"]}".')
        return record
