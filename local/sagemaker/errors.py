"""Errors as SageMaker answers them."""

from typing import Any


class ServiceError(Exception):
    """An operation is refused.

    Attributes:
        code: such as ``ResourceInUse``.
        status: of HTTP.
        members: of the error beside its message.
    """

    def __init__(
        self, code: str, message: str, *, status: int = 400, members: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.members = members or {}


def validation(message: str) -> ServiceError:
    """Return the error of most that is wrong, names of what is not there included."""
    return ServiceError("ValidationException", message)


def not_found(kind: str, arn: str) -> ServiceError:
    """Return the error for something that is not there; SageMaker has no code of its own for it."""
    return validation(f'Could not find {kind} "{arn}".')


def exists(kind: str, arn: str) -> ServiceError:
    """Return the error for a name that is taken."""
    return validation(f'Cannot create already existing {kind} "{arn}".')


def not_here(what: str) -> ServiceError:
    """Return the error for what SageMaker has and this does not."""
    return validation(f"The local SageMaker has no {what}.")


def limit_exceeded(resource: str) -> ServiceError:
    """Return the error for an account that may have no more of something."""
    return ServiceError(
        "ResourceLimitExceeded",
        f"The account-level service limit '{resource}' is 0 Instances, with current utilization of"
        " 0 Instances and a request delta of 1 Instances. Please use AWS Service Quotas to request"
        " an increase for this quota.",
    )
