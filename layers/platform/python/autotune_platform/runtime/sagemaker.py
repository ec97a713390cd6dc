"""SageMaker's runtime: botocore writes, signs and reads; somebody else sends.

Time-outs of botocore are those of single reads: an answer that drips in has no end. So what sends
is handed in, and keeps to the time of the whole call.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError

from autotune_platform.runtime.clients import sagemaker_runtime

Sends = Callable[[str, str, Mapping[str, str], bytes | None], tuple[int, dict[str, str], bytes]]
"""Sends method, URL, headers and body; returns status, headers and body, or raises its errors."""

_ANY_CODE = "Unknown"


class EndpointRefusedError(Exception):
    """SageMaker did not answer with what the host said.

    Attributes:
        code: of the error, such as ``ModelNotReadyException``.
        original_status: what the host answered where SageMaker says ``ModelError``.
    """

    def __init__(self, code: str, status: int, original_status: int | None) -> None:
        super().__init__(f"{status} {code}")
        self.code = code
        self.status = status
        self.original_status = original_status


class _Raw(io.BytesIO):
    """A body as botocore reads it from urllib3."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        while part := self.read(65_536):
            yield part


class SageMakerRuntime:
    """Invokes endpoints, each call once.

    Args:
        sends: sends one request.
    """

    def __init__(self, sends: Sends) -> None:
        self._sends = sends
        self._client = sagemaker_runtime()
        self._client.meta.events.register("before-send.sagemaker-runtime", self._send)

    def invoke(self, body: bytes, *, endpoint: str, component: str | None) -> bytes:
        """Return what a host answers to JSON.

        Args:
            component: the inference component, where the endpoint has some.

        Raises:
            EndpointRefusedError: SageMaker says why there is no answer.
        """
        named = {} if component is None else {"InferenceComponentName": component}
        try:
            answer = self._client.invoke_endpoint(
                EndpointName=endpoint,
                Body=body,
                ContentType="application/json",
                Accept="application/json",
                **named,
            )
        except ClientError as error:
            response: Mapping[str, Any] = error.response
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            original = response.get("OriginalStatusCode")
            raise EndpointRefusedError(
                str(response["Error"].get("Code", _ANY_CODE)),
                status,
                original if isinstance(original, int) else None,
            ) from error
        content: bytes = answer["Body"].read()
        return content

    def _send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        headers = {
            name: value.decode("latin-1") if isinstance(value, bytes) else str(value)
            for name, value in request.headers.items()
        }
        assert isinstance(request.body, bytes), "it is what was handed in"
        status, answered, content = self._sends(request.method, request.url, headers, request.body)
        return AWSResponse(request.url, status, HTTPHeaders.from_dict(answered), _Raw(content))
