"""The HTTP request as it was signed."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from autotune.protocol.limits import MAX_REQUEST_BYTES
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune_platform.errors import MalformedRequestError, RequestTooLargeError


@dataclass(frozen=True)
class SignedRequest:
    """Method, path, query, headers (lower case) and raw body of an HTTP API event."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> Self:
        """Read an API Gateway HTTP API event, payload format 2.0.

        Raises:
            RequestTooLargeError: the body is over 5 MB.
        """
        http = event["requestContext"]["http"]
        text = event.get("body") or ""
        body = base64.b64decode(text) if event.get("isBase64Encoded") else text.encode()
        if len(body) > MAX_REQUEST_BYTES:
            raise RequestTooLargeError(
                f"the request body has {len(body)} bytes",
                limit=LimitProblem(
                    name="request body", maximum=MAX_REQUEST_BYTES, unit="bytes", actual=len(body)
                ),
            )
        return cls(
            method=http["method"],
            path=event["rawPath"],
            query=event.get("rawQueryString", ""),
            headers={name.lower(): value for name, value in event.get("headers", {}).items()},
            body=body,
        )

    def require_text(self) -> None:
        """See that the body is UTF-8, before anything tries to read it as text.

        Raises:
            MalformedRequestError: it is not.
        """
        try:
            self.body.decode()
        except UnicodeDecodeError as error:
            raise MalformedRequestError(
                "the body is not UTF-8",
                fields=[FieldProblem(field="body", expected="one JSON object in UTF-8")],
            ) from error


def parse_json(text: str) -> Any:
    """Parse a request body as strict JSON.

    Python's parser takes NaN and Infinity, which no other JSON reader does, and gives up on deep
    nesting with an error that is not about JSON.

    Raises:
        json.JSONDecodeError: the body is not JSON, holds NaN or Infinity, or nests too deep.
    """

    def refuse(constant: str) -> NoReturn:
        raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:  # nested too deep; an integer of 5,000 digits
        raise json.JSONDecodeError("beyond what can be read", "", 0) from error
