"""What can go wrong in a call, as types.

``AutotuneError`` is the root. An ``APIError`` is an answer of the server, with its problem details
(RFC 9457); the others arise on this side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from autotune.protocol.problems import BudgetProblem, FieldProblem, LimitProblem, field_problems

_FIELDS_NAMED = 5


class AutotuneError(Exception):
    """Everything that this package raises."""


class ConfigurationError(AutotuneError):
    """No address or key was found, or one that cannot be used."""


class InvalidInputError(AutotuneError, ValueError):
    """Arguments that the API would refuse; nothing was sent.

    Attributes:
        errors: the fields at fault and what was expected of each.
    """

    def __init__(self, errors: Sequence[FieldProblem]) -> None:
        super().__init__("; ".join(f"{error.field}: {error.expected}" for error in errors))
        self.errors = tuple(errors)

    @classmethod
    def at(cls, field: str, expected: str) -> Self:
        """Name the one field at fault and what was expected of it."""
        return cls([FieldProblem(field=field, expected=expected)])

    @classmethod
    def of(cls, error: ValidationError, *, within: str = "") -> Self:
        """Name pydantic's findings by their place on the wire, below ``within``."""
        return cls(field_problems(error, within=within))


class ConnectionFailedError(AutotuneError):
    """The server could not be reached, or the connection broke."""


class RequestTimeoutError(ConnectionFailedError):
    """The server did not answer in time."""


class WaitTimeoutError(AutotuneError):
    """What was waited for was still pending when the given time was over."""


class ExportNotReadyError(AutotuneError):
    """An export that has nothing to download, because it is not completed.

    Attributes:
        export_id: which export.
        state: where it stands.
    """

    def __init__(self, export_id: str, state: str, reason: str) -> None:
        super().__init__(f"{export_id} {reason}")
        self.export_id = export_id
        self.state = state


class DownloadError(AutotuneError):
    """A file could not be fetched from where it is kept.

    Attributes:
        file: its name.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file


class ChecksumMismatchError(DownloadError):
    """Other bytes came than those that the file has; nothing of them was kept."""


class CertificateError(AutotuneError):
    """A certificate does not check: it was changed, or signed by another key."""


class UploadError(AutotuneError):
    """A file could not be put where it was to be uploaded."""


class LocalFileError(AutotuneError):
    """A file could not be read or written on this machine.

    Attributes:
        path: which file or folder.
    """

    def __init__(self, path: Path, error: OSError | str) -> None:
        reason = error if isinstance(error, str) else error.strerror or type(error).__name__
        super().__init__(f"{path}: {reason}")
        self.path = path


@dataclass(kw_only=True, eq=False, repr=False)
class APIError(AutotuneError):
    """The server answered with an error.

    Attributes:
        status: the HTTP status.
        code: the stable word for programs, such as ``not_found``; ``unexpected_answer`` where the
            answer was not Autotune's, such as a gateway's HTML page.
        detail: the sentence for people.
        request_id: what to quote when asking for help.
        errors: the fields at fault.
        limit: the limit that was met.
        budget: the budget that has no room, and when it has again.
        retry_after: seconds after which the same request may succeed.
    """

    status: int
    code: str
    detail: str
    request_id: str | None = None
    errors: Sequence[FieldProblem] = ()
    limit: LimitProblem | None = None
    budget: BudgetProblem | None = None
    retry_after: float | None = None

    def __post_init__(self) -> None:
        super().__init__(self.detail)
        self.errors = tuple(self.errors)

    def __str__(self) -> str:
        parts = [f"{self.status} {self.code}: {self.detail}"]
        fields = [
            f"{error.field}: {error.expected}"
            for error in self.errors
            if not (error.field in self.detail and error.expected in self.detail)
        ]
        parts += fields[:_FIELDS_NAMED]
        if len(fields) > _FIELDS_NAMED:
            parts.append(f"and {len(fields) - _FIELDS_NAMED} fields more")
        if self.limit is not None:
            parts.append(f"limit {self.limit.name}: {self.limit.maximum} {self.limit.unit}")
        if self.retry_after is not None:
            parts.append(f"retry after {self.retry_after:g} s")
        text = "; ".join(parts)
        return f"{text} (request {self.request_id})" if self.request_id else text


class InvalidRequestError(APIError):
    """400 or 422: the server refused the input; ``errors`` names the fields."""


class AuthenticationError(APIError):
    """401: the key is unknown or revoked, or the signature wrong, stale or replayed."""


class PermissionDeniedError(APIError):
    """403: the key's role does not allow this."""


class NotFoundError(APIError):
    """404: there is no such thing, or not in this organisation."""


class ConflictError(APIError):
    """409: the state of things does not allow this, such as a grader not yet verified."""


class RequestTooLargeError(APIError):
    """413: the body is larger than ``limit`` allows."""


class RateLimitError(APIError):
    """429: too many requests; ``retry_after`` is when to go on."""


class ServerError(APIError):
    """5xx: the server failed or is not available."""


class UnexpectedAnswerError(APIError):
    """A success or a redirect that is not what the API promises, such as a proxy's page."""


_BY_STATUS: dict[int, type[APIError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: RequestTooLargeError,
    422: InvalidRequestError,
    429: RateLimitError,
}


def error_class(status: int) -> type[APIError]:
    """Return the class for an HTTP status."""
    if status >= 500:
        return ServerError
    if status < 400:
        return UnexpectedAnswerError
    return _BY_STATUS.get(status, APIError)
