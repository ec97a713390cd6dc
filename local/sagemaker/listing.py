"""Lists of SageMaker: filtered, sorted, in pages."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import ListShape

from local.sagemaker import contract
from local.sagemaker.errors import validation
from local.sagemaker.records import Record

_PAGE = 10  # as SageMaker has it where MaxResults is left out


@dataclass(frozen=True, kw_only=True)
class Listing:
    """How one kind of record is listed.

    Attributes:
        operation: such as ``ListModels``.
        name: member with the name.
        status: member with the status; None where there is none.
        newest_first: how it is sorted where nothing is said.
    """

    operation: str
    name: str
    status: str | None = None
    newest_first: bool = True

    def page(self, records: list[Record], asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return one page.

        Raises:
            ServiceError: ``NextToken`` is none of a page before.
        """
        found = sorted(
            (record for record in records if self._is_asked_for(record, asked)),
            key=self._key(asked.get("SortBy")),
            reverse=self._descends(asked.get("SortOrder")),
        )
        start = _start(asked.get("NextToken"))
        end = start + int(asked.get("MaxResults", _PAGE))
        member, summary = self._summary()
        page: dict[str, Any] = {
            member: [contract.kept(summary.member, record) for record in found[start:end]]
        }
        if end < len(found):
            page["NextToken"] = _token(end)
        return page

    def _is_asked_for(self, record: Record, asked: Mapping[str, Any]) -> bool:
        checks: dict[str, Callable[[Any], bool]] = {
            "NameContains": lambda part: part.lower() in record[self.name].lower(),
            "StatusEquals": lambda status: record[self.status or ""] == status,
            "CreationTimeAfter": lambda time: record["CreationTime"] > time,
            "CreationTimeBefore": lambda time: record["CreationTime"] < time,
            "LastModifiedTimeAfter": lambda time: record["LastModifiedTime"] > time,
            "LastModifiedTimeBefore": lambda time: record["LastModifiedTime"] < time,
            "EndpointNameEquals": lambda name: record["EndpointName"] == name,
            "VariantNameEquals": lambda name: record["VariantName"] == name,
            "WarmPoolStatusEquals": lambda _: False,  # there are no warm pools
            "TrainingPlanArnEquals": lambda _: False,  # nor plans
        }
        return all(check(asked[name]) for name, check in checks.items() if name in asked)

    def _key(self, by: str | None) -> Callable[[Record], tuple[Any, str]]:
        member = {"Name": self.name, "Status": self.status or ""}.get(by or "", "CreationTime")
        return lambda record: (record[member], record[self.name])

    def _descends(self, order: str | None) -> bool:
        return self.newest_first if order is None else order == "Descending"

    def _summary(self) -> tuple[str, ListShape]:
        shape = contract.operation_model(self.operation).output_shape
        assert shape is not None, "lists answer something"
        [found] = [
            (name, member)
            for name, member in shape.members.items()
            if isinstance(member, ListShape)
        ]
        return found


def _token(start: int) -> str:
    return base64.urlsafe_b64encode(json.dumps({"start": start}).encode()).decode()


def _start(token: str | None) -> int:
    if token is None:
        return 0
    try:
        return int(json.loads(base64.urlsafe_b64decode(token))["start"])
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise validation("The NextToken is not valid.") from error
