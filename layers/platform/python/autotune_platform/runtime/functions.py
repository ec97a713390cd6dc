"""Functions of this deployment that are asked for an answer: each call once, for a bounded time."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from autotune_platform.runtime.clients import asking_lambda
from autotune_platform.runtime.sent_elsewhere import Sends, send_by

_ANY_CODE = "Unknown"


class FunctionRefusedError(Exception):
    """Lambda has no answer of the function.

    Attributes:
        code: of Lambda's error; ``FunctionError`` where the function itself failed.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Functions:
    """Invokes functions.

    Args:
        sends: sends one request.
    """

    FAILED = "FunctionError"

    def __init__(self, sends: Sends) -> None:
        self._client = asking_lambda()
        send_by(self._client, "lambda", sends)

    def ask(self, function: str, event: Mapping[str, Any]) -> bytes:
        """Return the JSON that a function returns.

        Raises:
            FunctionRefusedError: Lambda, or the function, has no answer.
        """
        try:
            answer = self._client.invoke(FunctionName=function, Payload=json.dumps(event).encode())
        except ClientError as error:
            code = error.response["Error"].get("Code", _ANY_CODE)
            raise FunctionRefusedError(str(code)) from error
        if "FunctionError" in answer:
            raise FunctionRefusedError(self.FAILED)
        content: bytes = answer["Payload"].read()
        return content
