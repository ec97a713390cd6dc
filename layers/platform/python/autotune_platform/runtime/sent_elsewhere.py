"""Requests that botocore writes, signs and reads, and that somebody else sends.

Time-outs of botocore are those of single reads: an answer that drips in has no end. So what sends
is handed in, and keeps to the time of the whole call.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

Sends = Callable[[str, str, Mapping[str, str], bytes | None], tuple[int, dict[str, str], bytes]]
"""Sends method, URL, headers and body; returns status, headers and body, or raises its errors."""


class RawBody(io.BytesIO):
    """A body as botocore reads it from urllib3."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        """Yield it in parts."""
        while part := self.read(65_536):
            yield part


def send_by(client: Any, service: str, sends: Sends) -> None:
    """Have a client's requests sent by another than botocore.

    Args:
        service: id of the client's service in botocore's events, with hyphens.
    """

    def send(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        headers = {
            name: value.decode("latin-1") if isinstance(value, bytes) else str(value)
            for name, value in request.headers.items()
        }
        assert isinstance(request.body, bytes), "it is what was handed in"
        status, answered, content = sends(request.method, request.url, headers, request.body)
        return AWSResponse(request.url, status, HTTPHeaders.from_dict(answered), RawBody(content))

    client.meta.events.register(f"before-send.{service}", send)
