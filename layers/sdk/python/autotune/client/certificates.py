"""Checking certificates of versions of small models, without asking anybody."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from autotune.client.errors import CertificateError, ConfigurationError
from autotune.protocol.apprentice_certificates import (
    CERTIFICATE_TYPE,
    ApprenticeCertificate,
    ApprenticeCertificateKey,
    SignedApprenticeCertificate,
)
from autotune.protocol.canonical_json import canonical_json
from autotune.protocol.types import nests_deeper_than

_DEEPEST = 8


def verify_certificate(
    signed: SignedApprenticeCertificate | Mapping[str, Any],
    key: ApprenticeCertificateKey | str,
) -> ApprenticeCertificate:
    """Return what a certificate says, once its signature has been checked.

    It needs the extra ``certificates`` of this package. A key that comes from where the certificate
    comes from shows only that both fit together: keep the key, or its id, from another time.

    Args:
        signed: as ``client.apprentice.versions.certificate`` returns it, or as its JSON.
        key: the public key, or its PEM.

    Raises:
        CertificateError: the certificate was changed, is of another key, or is none.
        ConfigurationError: the extra is not installed, or the key is no P-256 key in PEM.
    """
    try:
        given = SignedApprenticeCertificate.model_validate(signed)
        if nests_deeper_than(given.certificate, _DEEPEST):
            raise CertificateError("this is no signed certificate")
        message = canonical_json(given.certificate)
        signature = base64.b64decode(given.signature, validate=True)
    except (ValidationError, ValueError, binascii.Error) as error:
        raise CertificateError("this is no signed certificate") from error
    pem = key if isinstance(key, str) else key.public_key
    _require_signature(message, signature, given.key_id, pem)
    try:
        certificate = ApprenticeCertificate.model_validate(given.certificate)
    except ValidationError as error:
        raise CertificateError("what was signed is no certificate of a version") from error
    if certificate.type != CERTIFICATE_TYPE:
        raise CertificateError("what was signed is no certificate of a version")
    return certificate


def _require_signature(message: bytes, signature: bytes, key_id: str, pem: str) -> None:
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra of its own
        from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "checking certificates needs cryptography: pip install 'autotune-sdk[certificates]'"
        ) from error
    try:
        public_key = serialization.load_pem_public_key(pem.encode())
    except ValueError as error:
        raise ConfigurationError("the key of certificates is no public key in PEM") from error
    if not isinstance(public_key, ec.EllipticCurvePublicKey) or not isinstance(
        public_key.curve, ec.SECP256R1
    ):
        raise ConfigurationError("the key of certificates is not on the curve P-256")
    der = public_key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    found = hashlib.sha256(der).hexdigest()
    if found != key_id:
        raise CertificateError(f"the certificate is of the key {key_id:.64}, not of {found}")
    try:
        public_key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature as error:
        raise CertificateError("the signature is not of this certificate") from error
