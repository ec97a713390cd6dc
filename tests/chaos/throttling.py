"""A loopback way to DynamoDB on which a table throttles for a while.

Functions reach DynamoDB through ``AWS_ENDPOINT_URL_DYNAMODB``, which they inherit from MiniStack.
Outside a window everything passes as it is; inside one, a share of the requests for the table is
refused as DynamoDB refuses them, and of batch requests half is left unprocessed.
"""

import json
import random
import re
from collections.abc import Callable
from typing import Any

from local.proxy import Connection, LoopbackProxy, Message

_REFUSAL = json.dumps(
    {
        "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
        "message": "The level of configured provisioned throughput for the table was exceeded.",
    }
).encode()
_CREDENTIAL = re.compile(r"Credential=[^/]+")
_SESSION_TOKEN = "x-amz-security-token"
_LEFT_OVER = {"BatchWriteItem": "UnprocessedItems", "BatchGetItem": "UnprocessedKeys"}


class ThrottlingProxy(LoopbackProxy):
    """Passes requests on to MiniStack, and throttles one table while told to."""

    def __init__(self, upstream: Callable[[], int | None], *, seed: int) -> None:
        super().__init__(upstream)
        self._draw = random.Random(seed)
        self._table: bytes | None = None
        self._share = 0.0
        self.passed = 0
        self.refused = 0
        self.halved = 0

    def throttle(self, table: str, *, share: float) -> None:
        """Refuse a share of the requests that name a table like this, from now on."""
        self._share, self._table = share, table.encode()

    def relax(self) -> None:
        """Pass everything on again."""
        self._table = None

    async def answer(self, request: Message, behind: Connection) -> Message:
        """Pass a request on, or half of it, or refuse it."""
        left_over: dict[str, Any] = {}
        if self._table is not None and self._table in request.body:
            if request.operation in _LEFT_OVER and self._draw.random() < self._share:
                request.body, left_over = halved(request.operation, request.body)
                request.headers = signed_by_account(request.headers)
                self.halved += 1
            elif self._draw.random() < self._share:
                self.refused += 1
                headers = {"content-type": "application/x-amz-json-1.0"}
                return Message("HTTP/1.1 400 Bad Request", headers, _REFUSAL)
        self.passed += 1
        response = await self.pass_on(request, behind)
        if left_over:
            response.body = json.dumps(json.loads(response.body) | left_over).encode()
            response.headers.pop("x-amz-crc32", None)
        return response


def signed_by_account(headers: dict[str, str]) -> dict[str, str]:
    """Name the account in place of the function that signed: its signature is over another body.

    MiniStack verifies no signature of the account, and lets it do everything.
    """
    credential = _CREDENTIAL.sub("Credential=test", headers["authorization"])
    without_session = {key: value for key, value in headers.items() if key != _SESSION_TOKEN}
    return {**without_session, "authorization": credential}


def halved(operation: str, body: bytes) -> tuple[bytes, dict[str, Any]]:
    """Cut a batch request in two: what is done, and what the answer names as not done.

    Returns:
        The body to pass on, and the fields of the answer; no fields where there is but one item.
    """
    asked = json.loads(body)
    done: dict[str, Any] = {}
    left: dict[str, Any] = {}
    for table, wanted in asked["RequestItems"].items():
        is_read = operation == "BatchGetItem"
        items = wanted["Keys"] if is_read else wanted
        half = (len(items) + 1) // 2
        done[table] = {**wanted, "Keys": items[:half]} if is_read else items[:half]
        if items[half:]:
            left[table] = {**wanted, "Keys": items[half:]} if is_read else items[half:]
    passed_on = json.dumps({**asked, "RequestItems": done}).encode()
    return passed_on, {_LEFT_OVER[operation]: left} if left else {}
