"""``client.apprentice.versions``: versions of a task's small model, each tried by itself."""

from typing import ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.protocol import apprentice_versions as wire
from autotune.protocol.apprentice_certificates import (
    ApprenticeCertificateKey,
    ApprenticeCertificateKeyResponse,
    SignedApprenticeCertificate,
    SignedApprenticeCertificateResponse,
)

_version = returning(wire.ApprenticeVersionResponse, lambda answer: answer.version)
_versions = returning(wire.ApprenticeVersionList, lambda page: (page.versions, page.next_token))

_certificate = returning(SignedApprenticeCertificateResponse, lambda answer: answer.certificate)
_key = returning(ApprenticeCertificateKeyResponse, lambda answer: answer.certificate_key)


def register_version(
    name: str, *, model: str, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeVersion]:
    """Make a version of a model that the task's vLLM, Ollama or llama.cpp serves already.

    The server is asked for it. The same model again, under the same definition, is the same
    version; one that was replaced under its name is a new one.

    Args:
        name: of the task.
        model: as the server lists it.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: the server does not list the model, or does not answer.
        ConflictError: versions of the task's backend are trained, or the task had as many as it
            may.
        NotFoundError: there is no such task in this organisation.
    """
    request = request_of(wire.RegisterApprenticeVersion, model=model)
    return call(
        "POST", *_versions_of(name), read=_version, body=request, is_idempotent=True, **options
    )


def list_versions(
    name: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.ApprenticeVersion]:
    """Walk through the versions of a task's small model, newest first.

    Args:
        page_size: versions fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return listing(*_versions_of(name), read=_versions, page_size=page_size, **options)


def get_version(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeVersion]:
    """Read one version.

    Raises:
        NotFoundError: there is no such task, or no such version.
    """
    return call("GET", *_versions_of(name), str(number), read=_version, **options)


def promote_version(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeVersion]:
    """Take a version's canary as passed, so that it serves, if it graduated by its own evidence.

    Raises:
        ConflictError: it has not graduated, is retired, or of another definition.
        NotFoundError: there is no such task, or no such version.
    """
    return _changed(name, number, "promote", **options)


def retire_version(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeVersion]:
    """Take a version out for good; the one before serves again if its evidence says that it may.

    Raises:
        NotFoundError: there is no such task, or no such version.
    """
    return _changed(name, number, "retire", **options)


def roll_back_version(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeVersion]:
    """Retire the version that serves, if one before it may serve, and return that one.

    The same again goes no further back.

    Raises:
        ConflictError: it does not serve, or no version before it may by its own evidence.
        NotFoundError: there is no such task, or no such version.
    """
    return _changed(name, number, "rollback", **options)


def get_certificate(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[SignedApprenticeCertificate]:
    """Read what a version was trained on, how it was judged and what that cost, signed.

    ``autotune.client.verify_certificate`` checks it, and returns what it says.

    Raises:
        NotFoundError: there is no such task or version, or the platform did not train it.
    """
    return call(
        "GET", *_versions_of(name), str(number), "certificate", read=_certificate, **options
    )


def get_certificate_key(**options: Unpack[CallOptions]) -> Call[ApprenticeCertificateKey]:
    """Read the public key by which certificates are checked; keep it, it never changes."""
    return call("GET", "apprentice", "certificate-key", read=_key, **options)


def _changed(
    name: str, number: int, verb: str, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeVersion]:
    segments = (*_versions_of(name), str(number), verb)
    return call("POST", *segments, read=_version, is_idempotent=True, **options)


def _versions_of(name: str) -> tuple[str, ...]:
    return "apprentice", "tasks", name, "versions"


class ApprenticeVersionMethods:
    """Methods of versions."""

    _place: ClassVar = "apprentice.versions"

    register = Method(register_version)
    list = ListMethod(list_versions)
    get = Method(get_version)
    certificate = Method(get_certificate)
    certificate_key = Method(get_certificate_key)
    promote = Method(promote_version)
    retire = Method(retire_version)
    roll_back = Method(roll_back_version)


class ApprenticeVersions(ApprenticeVersionMethods, Resource):
    """Versions of a task's small model, blocking."""


class AsyncApprenticeVersions(ApprenticeVersionMethods, AsyncResource):
    """Versions of a task's small model, for an event loop."""
