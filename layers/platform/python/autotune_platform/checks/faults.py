"""What can be wrong with a builtin grader's configuration, and with a completion for it."""

from autotune.protocol.completions import ReasonCode
from autotune_platform.runtime.errors import InvalidRequestError


class CompletionFaultError(Exception):
    """A completion cannot be judged, and ends ``failed``; nobody's text is in the message."""

    def __init__(self, reason_code: ReasonCode) -> None:
        super().__init__(reason_code)
        self.reason_code: ReasonCode = reason_code


def configuration_error(field: str, expected: str) -> InvalidRequestError:
    """Return the error that names what is wrong with a configuration, and where."""
    return InvalidRequestError.of_field(field, expected)
