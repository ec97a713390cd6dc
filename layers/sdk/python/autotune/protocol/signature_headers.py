"""Headers of signatures: their form, and whether they hold.

A verifier computes one MAC for each of its own secrets, whatever the header holds. It checks the
header's size and form first, so that a malformed header costs it no pass over the body.
"""

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from autotune.protocol.limits import (
    MAX_SIGNATURE_HEADER_CHARACTERS,
    MAX_SIGNATURES,
    SIGNATURE_TOLERANCE_SECONDS,
)

_REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{8,128}")
_SIGNATURE_PATTERN = re.compile(r"v1=([0-9a-f]{64})")

SignatureFault = Literal["missing", "malformed", "stale", "mismatch"]


class SignatureError(Exception):
    """A signature that does not hold.

    Attributes:
        fault: ``missing`` (a header is absent), ``malformed`` (a header cannot be read), ``stale``
            (the timestamp is over 300 s from now) or ``mismatch`` (no signature fits).
    """

    def __init__(self, fault: SignatureFault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault


def signatures(secrets: Sequence[str], payload: bytes) -> str:
    """Return the value of a signature header: a signature with each secret."""
    return " ".join(f"v1={_mac(secret, payload)}" for secret in secrets)


class ReceivedHeaders:
    """The headers of what was received; every method raises ``SignatureError``.

    Args:
        headers: by names in any case.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in headers.items()}

    def required(self, name: str) -> str:
        """Return the value of a header that must be there."""
        value = self._values.get(name)
        if not value:
            raise SignatureError("missing", f"{name} is missing")
        return value

    def request_id(self, name: str) -> str:
        """Return the value of a header that is a request id."""
        value = self.required(name)
        if not _REQUEST_ID_PATTERN.fullmatch(value):
            raise _malformed(name, "must be 8 to 128 of A-Z a-z 0-9 _ -")
        return value

    def timestamp(self, name: str, now: float | None) -> str:
        """Return a header of Unix seconds that are within 300 s of ``now``."""
        value = self.required(name)
        if not (value.isascii() and value.isdigit() and len(value) <= 12):
            raise _malformed(name, "must be Unix seconds")
        if abs(int(time.time() if now is None else now) - int(value)) > SIGNATURE_TOLERANCE_SECONDS:
            raise SignatureError(
                "stale",
                f"{name} is more than {SIGNATURE_TOLERANCE_SECONDS} s from the current time",
            )
        return value

    def check(self, name: str, secrets: Sequence[str], payload: Callable[[], bytes]) -> None:
        """See that one of a header's signatures is made with one of the secrets."""
        given = self._signatures(name)
        signed = payload()
        # Every pair is compared, so that timing does not betray which secret or signature was
        # near.
        expected = [_mac(secret, signed).encode() for secret in secrets]
        matches = [hmac.compare_digest(mac, signature) for mac in expected for signature in given]
        if not any(matches):
            raise SignatureError("mismatch", f"{name} fits no valid secret")

    def _signatures(self, name: str) -> list[bytes]:
        """Return the hexadecimal digits of a header's signatures, those of this version alone."""
        value = self.required(name)
        if len(value) > MAX_SIGNATURE_HEADER_CHARACTERS:
            raise _malformed(name, f"has more than {MAX_SIGNATURE_HEADER_CHARACTERS} characters")
        parts = value.split()
        if len(parts) > MAX_SIGNATURES:
            raise _malformed(name, f"holds more than {MAX_SIGNATURES} signatures")
        found = [match[1].encode() for match in map(_SIGNATURE_PATTERN.fullmatch, parts) if match]
        if not found:
            form = "v1= and 64 lower-case hexadecimal digits, several separated by spaces"
            raise _malformed(name, f"must be {form}")
        return found


def _mac(secret: str, payload: bytes) -> str:
    return hmac.new(secret.encode(), payload, hashlib.sha256).hexdigest()


def _malformed(name: str, fault: str) -> SignatureError:
    return SignatureError("malformed", f"{name} {fault}")
