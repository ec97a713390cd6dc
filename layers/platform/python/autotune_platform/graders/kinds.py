"""What the kinds of graders differ in: which fields they have, and how they stand at first.

A grader of kind ``http`` has an endpoint and is verified there. The others have no process of their
own: ``builtin`` is computed here from its configuration, whose digest is its version, and ``human``
is people. ``rubric`` is a language model that is asked by a prompt of the grader's own; the digest
of that is its version. They are verified and active from the start, have no secret and are not
probed.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from autotune.protocol.graders import GraderKind, RegisterGraderRequest, UpdateGraderRequest
from autotune.protocol.grading import GraderCapabilities
from autotune.protocol.limits import MAX_GRADER_BATCH
from autotune.protocol.rubrics import RubricConfiguration
from autotune_platform.checks.compiling import check_builtin, stored_form, version_of
from autotune_platform.checks.faults import configuration_error
from autotune_platform.checks.openai import from_openai
from autotune_platform.checks.openai_models import rubric_from_openai
from autotune_platform.checks.rubrics import (
    check_rubric,
    rubric_version,
    stored_rubric,
    uncalibrated,
)

HUMAN_VERSION = "1"

_OF_A_PROCESS = frozenset(
    {"endpoint", "certificate_sha256", "limits", "capabilities", "async_settings"}
)
_OF_A_RUBRIC = frozenset({"rubric", "connection_id", "max_tokens"})
_REFUSED: Mapping[GraderKind, frozenset[str]] = {
    "http": frozenset({"builtin", "openai"}) | _OF_A_RUBRIC,
    "builtin": _OF_A_PROCESS | _OF_A_RUBRIC | {"share_reasoning"},
    "human": _OF_A_PROCESS | _OF_A_RUBRIC | {"builtin", "openai"},
    "rubric": _OF_A_PROCESS | {"builtin"},
}
_CAPABILITIES: Mapping[GraderKind, Mapping[str, Any]] = {
    "builtin": {
        "max_batch_size": MAX_GRADER_BATCH,
        "supports_dimensions": True,
        "avg_latency_ms": 0,
    },
    "human": {"supports_dimensions": True, "supports_explanations": True, "avg_latency_ms": 0},
    "rubric": {
        "max_batch_size": MAX_GRADER_BATCH,
        "supports_dimensions": True,
        "supports_explanations": True,
    },
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
    return {**status, **configuration_changes(request, request.kind, stored=None)}


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
    if kind == "rubric" and request.visibility == "public":
        raise configuration_error("visibility", "private: others' questions would be paid here")


def connection_named(
    request: RegisterGraderRequest | UpdateGraderRequest,
) -> tuple[str, str] | None:
    """Return the connection that a request names, and in which field; None where it names none."""
    if request.rubric is not None:
        return request.rubric.connection_id, "rubric.connectionId"
    return None if request.connection_id is None else (request.connection_id, "connectionId")


def configuration_changes(
    request: RegisterGraderRequest | UpdateGraderRequest,
    kind: GraderKind,
    *,
    stored: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the configuration that a request sets, and the version that it is.

    Args:
        stored: a rubric grader's configuration until now, of which what OpenAI's JSON does not
            say stays.

    Raises:
        InvalidRequestError: it is none, is given twice, or is missing in a registration.
    """
    return _rubric_changes(request, stored or {}) if kind == "rubric" else _builtin_changes(request)


def _rubric_changes(
    request: RegisterGraderRequest | UpdateGraderRequest, stored: Mapping[str, Any]
) -> dict[str, Any]:
    if request.rubric is not None:
        for name in ("openai", "connection_id", "max_tokens"):
            if getattr(request, name) is not None:
                field = str(type(request).model_fields[name].alias)
                raise configuration_error(field, "nothing beside rubric, which says it")
        configuration, field = request.rubric, "rubric"
    elif request.openai is not None:
        connection_id = request.connection_id or stored.get("connectionId")
        if connection_id is None:
            raise configuration_error("connectionId", "where the model is called, with openai")
        configuration = rubric_from_openai(
            request.openai,
            connection_id=connection_id,
            max_tokens=request.max_tokens,
            field="openai",
        )
        field = "openai"
    elif isinstance(request, RegisterGraderRequest):
        raise configuration_error("rubric", "a configuration, or one of OpenAI's in openai")
    elif request.connection_id is not None or request.max_tokens is not None:
        configuration, field = _changed(stored, request), "rubric"
    else:
        return {}
    check_rubric(configuration, field=field)
    return {
        "rubric": stored_rubric(configuration),
        "version": rubric_version(configuration),
    }


def _changed(stored: Mapping[str, Any], request: UpdateGraderRequest) -> RubricConfiguration:
    """Return a stored configuration at another connection, or with other answers' length.

    What was measured of it does not hold for that.
    """
    params = dict(stored["params"])
    if request.max_tokens is not None:
        params["maxTokens"] = request.max_tokens
    connection_id = request.connection_id or stored["connectionId"]
    before = RubricConfiguration.model_validate(stored)
    after = RubricConfiguration.model_validate(
        {**stored, "connectionId": connection_id, "params": params}
    )
    return after if rubric_version(after) == rubric_version(before) else uncalibrated(after)


def _builtin_changes(request: RegisterGraderRequest | UpdateGraderRequest) -> dict[str, Any]:
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
