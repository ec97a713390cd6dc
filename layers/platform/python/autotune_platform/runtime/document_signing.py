"""Signing documents with a key that never leaves KMS: whoever has the public key can check them."""

import base64
import hashlib
import textwrap
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

ALGORITHM: Final = "ECDSA_SHA_256"
MOST_BYTES: Final = 4_096
"""The longest that KMS signs as it is."""


class PublicKey(NamedTuple):
    """A public key.

    Attributes:
        key_id: SHA-256 of its DER (SubjectPublicKeyInfo), in hexadecimal digits.
        pem: the key (RFC 7468).
    """

    key_id: str
    pem: str


class DocumentSigning:
    """Signs with one key."""

    def __init__(self, *, key_id: str, kms: "KMSClient") -> None:
        """Sign with the KMS key of that id, which is on the curve P-256."""
        self._key_id = key_id
        self._kms = kms

    @cached_property
    def public_key(self) -> PublicKey:
        """The public part of the key; it never changes."""
        der = self._kms.get_public_key(KeyId=self._key_id)["PublicKey"]
        lines = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
        pem = f"-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n"
        return PublicKey(hashlib.sha256(der).hexdigest(), pem)

    def sign(self, document: bytes) -> bytes:
        """Return a signature over up to 4,096 bytes, in DER (RFC 3279); each time another one."""
        assert len(document) <= MOST_BYTES, "longer documents are signed by their digest"
        answer = self._kms.sign(
            KeyId=self._key_id, Message=document, MessageType="RAW", SigningAlgorithm=ALGORITHM
        )
        return answer["Signature"]
