"""The HTTP request as it was signed."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qsl

from autotune.protocol.limits import MAX_REQUEST_BYTES
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune_platform.runtime.errors import MalformedRequestError, RequestTooLargeError


@dataclass(frozen=True)
class SignedRequest:
    """Method, path, query, headers (lower case) and raw body of an HTTP API event.

    ``source_address`` is whom the API's gateway heard it from.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    source_address: str

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> Self:
        """Read an API Gateway HTTP API event, payload format 2.0."""
        http = event["requestContext"]["http"]
        text = event.get("body") or ""
        body = base64.b64decode(text) if event.get("isBase64Encoded") else text.encode()
        return cls(
            method=http["method"],
            path=event["rawPath"],
            query=event.get("rawQueryString", ""),
            headers={name.lower(): value for name, value in event.get("headers", {}).items()},
            body=body,
            source_address=http.get("sourceIp", ""),
        )

    def require_within_limit(self, maximum: int = MAX_REQUEST_BYTES) -> None:
        """Require that the body is not too large.

        Raises:
            RequestTooLargeError: it is over the limit, 5 MB if not given.
        """
        size = len(self.body)
        if size > maximum:
            raise RequestTooLargeError(
                f"the request body has {size} bytes",
                limit=LimitProblem(name="request body", maximum=maximum, unit="bytes", actual=size),
            )

    def values_of(self, parameter: str) -> list[str]:
        """Return the values that the query gives a parameter, each as it was sent."""
        sent = parse_qsl(self.query, keep_blank_values=True)
        return [value for name, value in sent if name == parameter]

    def require_text(self) -> None:
        """Require that the body is UTF-8, before anything tries to read it as text.

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
