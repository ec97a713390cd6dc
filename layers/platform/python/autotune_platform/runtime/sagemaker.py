"""SageMaker's runtime: botocore writes, signs and reads; somebody else sends."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from autotune_platform.runtime.clients import sagemaker_runtime
from autotune_platform.runtime.sent_elsewhere import Sends, send_by

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


class SageMakerRuntime:
    """Invokes endpoints, each call once.

    Args:
        sends: sends one request.
    """

    def __init__(self, sends: Sends) -> None:
        self._client = sagemaker_runtime()
        send_by(self._client, "sagemaker-runtime", sends)

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
