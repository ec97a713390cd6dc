"""Where a grader finds the secret that it shares with Autotune."""

import os
from collections.abc import Callable, Sequence

SECRET_VARIABLE = "AUTOTUNE_GRADER_SECRET"  # noqa: S105 - the variable's name, not a secret

SecretSource = str | Sequence[str] | Callable[[], str | Sequence[str]]
"""A secret, several that are valid at once, or a function that fetches them when first needed."""


class MissingSecretError(Exception):
    """The grader has no shared secret, so it can verify nobody."""

    def __init__(self) -> None:
        super().__init__(
            f"the grader has no shared secret: set the environment variable {SECRET_VARIABLE} to "
            "the sharedSecret that registering the grader returned (several, separated by spaces, "
            "while one replaces another), or give @grader(secrets=...)"
        )


class SharedSecrets:
    """The secrets that are valid now: found at the first request, kept while the process lives."""

    def __init__(self, source: SecretSource | None = None) -> None:
        self._source = source
        self._found: tuple[str, ...] = ()

    def current(self) -> tuple[str, ...]:
        """Return at least one secret.

        Raises:
            MissingSecretError: none was given and the environment has none, or the function that
                fetches them raised, which is then the cause.
        """
        if not self._found:
            self._found = self._find()
        if not self._found:
            raise MissingSecretError
        return self._found

    def _find(self) -> tuple[str, ...]:
        source = os.environ.get(SECRET_VARIABLE, "") if self._source is None else self._source
        try:
            given = source() if callable(source) else source
        except Exception as error:
            # The owner's function may raise anything; without a secret there is one answer to all.
            raise MissingSecretError from error
        parts = [given] if isinstance(given, str) else given
        return tuple(secret for part in parts for secret in part.split())
