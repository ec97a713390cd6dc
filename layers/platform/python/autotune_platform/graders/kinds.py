"""What the kinds of graders differ in: which fields they have, and how they stand at first.

A grader of kind ``http`` has an endpoint and is verified there. The others have no process of their
own: ``builtin`` is computed here from its configuration, whose digest is its version, and ``human``
is people. They are verified and active from the start, have no secret and are not probed.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from autotune.protocol.graders import GraderKind, RegisterGraderRequest, UpdateGraderRequest
from autotune.protocol.grading import GraderCapabilities
from autotune.protocol.limits import MAX_GRADER_BATCH
from autotune_platform.checks.compiling import check_builtin, stored_form, version_of
from autotune_platform.checks.faults import configuration_error
from autotune_platform.checks.openai import from_openai

HUMAN_VERSION = "1"

_OF_A_PROCESS = frozenset(
    {"endpoint", "certificate_sha256", "limits", "capabilities", "async_settings"}
)
_REFUSED: Mapping[GraderKind, frozenset[str]] = {
    "http": frozenset({"builtin", "openai"}),
    "builtin": _OF_A_PROCESS | {"share_reasoning"},
    "human": _OF_A_PROCESS | {"builtin", "openai"},
}
_CAPABILITIES: Mapping[GraderKind, Mapping[str, Any]] = {
    "builtin": {
        "max_batch_size": MAX_GRADER_BATCH,
        "supports_dimensions": True,
        "avg_latency_ms": 0,
    },
    "human": {"supports_dimensions": True, "supports_explanations": True, "avg_latency_ms": 0},
}


def initial_status(request: RegisterGraderRequest, *, now: datetime) -> dict[str, Any]:
    """Return what a new grader has beside the fields of its request, by its kind.

    Raises:
        InvalidRequestError: a field is missing, makes no sense for the kind, or is wrong.
    """
    check_fields(request, request.kind)
    if request.kind == "http":
        if request.endpoint is None:
            raise configuration_error("endpoint", "an HTTPS URL, for a grader of kind http")
        return {"status": "inactive"}
    status = {
        "status": "active",
        "verified_at": now,
        "version": HUMAN_VERSION,
        "capabilities": GraderCapabilities(**_CAPABILITIES[request.kind]),
    }
    return {**status, **builtin_changes(request)}


def check_fields(request: RegisterGraderRequest | UpdateGraderRequest, kind: GraderKind) -> None:
    """Refuse fields that a grader of a kind does not have.

    Raises:
        InvalidRequestError: a field makes no sense for the kind.
    """
    for name, field in type(request).model_fields.items():
        given = name in request.model_fields_set and getattr(request, name) is not None
        if given and name in _REFUSED[kind]:
            raise configuration_error(
                str(field.alias), f"no such field for a grader of kind {kind}"
            )


def builtin_changes(request: RegisterGraderRequest | UpdateGraderRequest) -> dict[str, Any]:
    """Return the configuration that a request sets, and the version that it is.

    Raises:
        InvalidRequestError: it is none, is given twice, or is missing in a registration.
    """
    if request.builtin is not None and request.openai is not None:
        raise configuration_error("openai", "either builtin or openai, not both")
    if request.openai is not None:
        configuration, field = from_openai(request.openai, field="openai"), "openai"
    elif request.builtin is not None:
        configuration, field = request.builtin, "builtin"
    elif isinstance(request, RegisterGraderRequest) and request.kind == "builtin":
        raise configuration_error("builtin", "a configuration, or one of OpenAI's in openai")
    else:
        return {}
    check_builtin(configuration, field=field)
    stored = stored_form(configuration)
    return {"builtin": stored, "version": version_of(stored)}
