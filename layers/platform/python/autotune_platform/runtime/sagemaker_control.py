"""SageMaker's control plane: what is made, described and deleted, each call once more if unclear.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Operations_Amazon_SageMaker_Service.html
"""

from collections.abc import Mapping
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.sagemaker_words import shown

# What SageMaker says of a name that is taken, one that nobody has, and of what is being changed:
# the codes do not tell them apart, so whoever asks looks at what is there.
_REFUSED = frozenset({"ValidationException", "ResourceInUse", "ResourceNotFound"})
_LIMITS = frozenset({"ResourceLimitExceeded"})


class HostLimitError(Exception):
    """The account may have no more of what was asked for, until it asks for more."""


class SageMakerControl(Protocol):
    """What makes and deletes hosts."""

    def find(self, operation: str, **named: Any) -> Mapping[str, Any] | None:
        """Return what an operation describes; None where SageMaker has no such thing.

        Raises:
            UnavailableError: SageMaker does not answer.
        """
        ...

    def do(self, operation: str, **request: Any) -> bool:
        """Have an operation done; return False where SageMaker refuses it as things are.

        Raises:
            HostLimitError: the account may not have so much.
            UnavailableError: SageMaker does not answer; nobody knows whether it was done.
        """
        ...

    def refusal(self, operation: str, **request: Any) -> str | None:
        """Have an operation done; return SageMaker's own words where it refuses it, else None.

        Raises:
            HostLimitError: see ``do``.
            UnavailableError: alike.
        """
        ...


class BotoControl:
    """SageMaker through botocore.

    Args:
        client: of SageMaker.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def find(self, operation: str, **named: Any) -> Mapping[str, Any] | None:
        """Return what is there; see ``SageMakerControl``."""
        try:
            return self._ask(operation, named)
        except _RefusedError:
            return None

    def do(self, operation: str, **request: Any) -> bool:
        """Do it; see ``SageMakerControl``."""
        return self.refusal(operation, **request) is None

    def refusal(self, operation: str, **request: Any) -> str | None:
        """Do it, and say why not; see ``SageMakerControl``."""
        try:
            self._ask(operation, request)
        except _RefusedError as error:
            return str(error)
        return None

    def _ask(self, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            answer: Mapping[str, Any] = getattr(self._client, operation)(**request)
        except ClientError as error:
            code = error.response["Error"].get("Code", "")
            said = error.response["Error"].get("Message", code)
            if code in _REFUSED:
                raise _RefusedError(shown(said)) from error
            if code in _LIMITS:
                raise HostLimitError(shown(said)) from error
            raise UnavailableError(f"SageMaker: {operation}: {code}") from error
        except BotoCoreError as error:
            raise UnavailableError(f"SageMaker: {operation}: {type(error).__name__}") from error
        return answer


class _RefusedError(Exception):
    pass
