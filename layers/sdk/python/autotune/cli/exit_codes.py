"""What the exit status says to a script."""

from autotune.client import errors

OK = 0
"""Done."""

INCOMPLETE = 1
"""Finished, but completions failed, lines were rejected, no version came of a training,
or a verification or an export failed."""

USAGE = 2
"""Wrong usage, bad input, or refused by the state of things; sending it again would not help."""

DENIED = 3
"""The key is not valid, or its role does not allow this."""

NOT_FOUND = 4
"""There is no such thing in this organisation."""

UNAVAILABLE = 5
"""The network or the server failed; sending it again may help."""

INTERRUPTED = 130
"""Ctrl-C."""


def exit_code_of(error: errors.AutotuneError) -> int:
    """Return the exit status for an error."""
    if isinstance(error, errors.AuthenticationError | errors.PermissionDeniedError):
        return DENIED
    if isinstance(error, errors.NotFoundError):
        return NOT_FOUND
    if isinstance(
        error,
        errors.ConnectionFailedError
        | errors.DownloadError
        | errors.UploadError
        | errors.ServerError
        | errors.RateLimitError
        | errors.UnexpectedAnswerError
        | errors.WaitTimeoutError,
    ):
        return UNAVAILABLE
    return USAGE
