"""What ``autotune ops teardown`` does: all that a stack has at SageMaker for hosting goes.

Endpoints are made at run time and are in no template, so ``cdk destroy`` leaves them, and they
cost. Of what has a name that begins with the stack's, only what is tagged as the stack's is ever
deleted.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from botocore.client import BaseClient

TAG = "autotune:stack"
BETWEEN_LOOKS_SECONDS = 5.0
_THROTTLED = frozenset({"ThrottlingException", "TooManyRequestsException"})


class Hosted(NamedTuple):
    """Something at SageMaker.

    Attributes:
        kind: see ``KINDS``.
        status: as SageMaker says it; empty where such things have none.
    """

    kind: str
    name: str
    status: str


class _Kind(NamedTuple):
    """How SageMaker calls a kind of things."""

    noun: str
    words: str
    list_of: str
    has_status: bool


# In the order in which they may be deleted: each is made of those that follow.
KINDS: Mapping[str, _Kind] = {
    "component": _Kind("inference_component", "InferenceComponent", "InferenceComponents", True),
    "endpoint": _Kind("endpoint", "Endpoint", "Endpoints", True),
    "configuration": _Kind("endpoint_config", "EndpointConfig", "EndpointConfigs", False),
    "model": _Kind("model", "Model", "Models", False),
}


@dataclass(frozen=True, kw_only=True)
class Teardown:
    """Finds and deletes what a stack has.

    Attributes:
        sagemaker: boto3's client.
        stack: the stack's name.
        sleep: waits for so many seconds.
        clock: seconds that only grow.
    """

    sagemaker: "BaseClient"
    stack: str
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def found(self) -> list[Hosted]:
        """Return all that is the stack's, in the order in which it may be deleted."""
        return [hosted for kind in KINDS for hosted in self._of_kind(kind)]

    def delete(self, *, within_seconds: float, tell: Callable[[Hosted], None]) -> Sequence[Hosted]:
        """Delete all of it; return what is left when the time is over, nothing by then if all went.

        What is being made cannot be deleted: it is waited for, as is what takes time to go.

        Args:
            within_seconds: how long that may take.
            tell: is called of each deletion that SageMaker took.
        """
        until = self.clock() + within_seconds
        while True:
            left = self.found()
            if not left or self.clock() >= until:
                return left
            # Of the first kind that there is: adapters before their bases, which SageMaker refuses
            # while they have any.
            first = left[0].kind
            for hosted in left:
                if hosted.kind == first and hosted.status != "Deleting" and self._deleted(hosted):
                    tell(hosted)
            self.sleep(BETWEEN_LOOKS_SECONDS if KINDS[first].has_status else 0.0)

    def _of_kind(self, kind: str) -> Iterator[Hosted]:
        called = KINDS[kind]
        prefix = f"{self.stack}-"
        pages = self.sagemaker.get_paginator(f"list_{called.noun}s").paginate(NameContains=prefix)
        for page in pages:
            for one in page[called.list_of]:
                name = one[f"{called.words}Name"]
                if name.startswith(prefix) and self._is_ours(one[f"{called.words}Arn"]):
                    yield Hosted(kind, name, one.get(f"{called.words}Status", ""))

    def _is_ours(self, arn: str) -> bool:
        pages = self._asked("list_tags", ResourceArn=arn)
        tags = () if pages is None else pages["Tags"]
        return any(tag["Key"] == TAG and tag["Value"] == self.stack for tag in tags)

    def _deleted(self, hosted: Hosted) -> bool:
        called = KINDS[hosted.kind]
        request = {f"{called.words}Name": hosted.name}
        return self._asked(f"delete_{called.noun}", **request) is not None

    def _asked(self, operation: str, **request: Any) -> Any:
        """Return an answer; None where SageMaker refuses it now, or the thing has just gone."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - an extra of its own

        try:
            return getattr(self.sagemaker, operation)(**request)
        except ClientError as error:
            code = error.response["Error"].get("Code")
            if code in _THROTTLED | {"ValidationException", "ResourceNotFound", "ResourceInUse"}:
                return None
            raise
