"""Calls of DynamoDB that take a third of botocore's CPU, by what botocore offers to listeners.

A call's first try is signed, sent and read here. Where its answer is that all is well, it is the
call's. Any other answer, and any error, is handed to botocore in place of what it would send: it
makes its exceptions of them, and tries again as it always does.
"""

import os
import zlib
from typing import TYPE_CHECKING, Any, Final

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import HTTPClientError
from botocore.serialize import JSONSerializer
from botocore.utils import get_environ_proxies

from autotune_platform.runtime.dynamodb_wire import WireBody, WireSerializer, answer_of
from autotune_platform.runtime.lean_http import Answer, Connections
from autotune_platform.runtime.sent_elsewhere import RawBody
from autotune_platform.runtime.signing import NAME, place_of

if TYPE_CHECKING:
    from botocore.client import BaseClient

_OK: Final = 200


class LeanCalls:
    """Makes calls of DynamoDB for a client.

    Args:
        client: botocore's.
    """

    def __init__(self, client: Any) -> None:
        config = client.meta.config
        self._events = client.meta.events
        self._url = client.meta.endpoint_url
        self._connections = Connections(
            self._url,
            connect_timeout=config.connect_timeout,
            read_timeout=config.read_timeout,
            most_idle=config.max_pool_connections,
            certificates=_certificates(),
        )

    def call(
        self, model: Any, params: dict[str, Any], request_signer: Any, **_: Any
    ) -> tuple[Answer, dict[str, Any]] | None:
        """Answer a call, or return None, so that botocore goes on with it."""
        body = params["body"]
        if not isinstance(body, WireBody):
            return None
        answer = self._asked(model.name, params, request_signer)
        if answer is None:
            return None
        if answer.status_code == _OK and _is_sound(answer):
            try:
                parsed = answer_of(answer.content)
            except (ValueError, TypeError, KeyError, AttributeError):
                parsed = None  # of another shape than ours; the call is done, and botocore reads it
            if parsed is not None:
                parsed["ResponseMetadata"] = _metadata(answer)
                return answer, parsed
        body.first = answer
        return None

    def _asked(self, name: str, params: dict[str, Any], signer: Any) -> Answer | None:
        url, body = params["url"], params["body"]
        auth = signer.get_auth_instance(signer.signing_name, signer.region_name, NAME)
        if auth.credentials is None:
            return None
        headers: Any = params["headers"]
        headers = {**headers, **auth.headers(url, headers, body)}
        request = AWSPreparedRequest("POST", url, headers, body, stream_output=False)
        try:
            for _, heard in self._events.emit(f"before-send.dynamodb.{name}", request=request):
                if heard is not None:
                    return _of_listener(heard)
            return self._connections.post(*place_of(url), headers, body)
        except HTTPClientError as error:
            body.first = error
            return None


def call_leanly(client: "BaseClient") -> None:
    """Have a client of DynamoDB make its calls so.

    One whose calls go through a proxy stays as it is, and so does one of a botocore that writes
    requests in another way.
    """
    lean: Any = client
    usual = getattr(lean, "_serializer", None)
    if get_environ_proxies(lean.meta.endpoint_url):
        return
    if isinstance(usual, JSONSerializer):
        lean._serializer = WireSerializer(usual)  # noqa: SLF001 - none is offered
    # After all others that listen, as it sends the request.
    lean.meta.events.register_last("before-call", LeanCalls(client).call)
    lean.meta.events.register_first("before-send.dynamodb", _first)


def _first(request: Any, **_: Any) -> AWSResponse | None:
    """Return what became of the first try, once, or raise it."""
    body = request.body
    if not isinstance(body, WireBody) or body.first is None:
        return None
    first, body.first = body.first, None
    if isinstance(first, HTTPClientError):
        raise first
    headers = HTTPHeaders.from_dict(first.headers)
    return AWSResponse(request.url, first.status_code, headers, RawBody(first.content))


def _of_listener(heard: Any) -> Answer:
    headers = {name.lower(): value for name, value in heard.headers.items()}
    return Answer(heard.status_code, headers, heard.content)


def _is_sound(answer: Answer) -> bool:
    """Return whether a body is what its checksum is of, where it has one."""
    said = answer.headers.get("x-amz-crc32")
    return said is None or said == str(zlib.crc32(answer.content))


def _metadata(answer: Answer) -> dict[str, Any]:
    metadata = {
        "HTTPStatusCode": answer.status_code,
        "HTTPHeaders": answer.headers,
        "RetryAttempts": 0,
    }
    if (request_id := answer.headers.get("x-amzn-requestid")) is not None:
        metadata["RequestId"] = request_id
    return metadata


def _certificates() -> str | bool:
    """Return whom botocore trusts."""
    return os.environ.get("AWS_CA_BUNDLE") or os.environ.get("REQUESTS_CA_BUNDLE") or True
