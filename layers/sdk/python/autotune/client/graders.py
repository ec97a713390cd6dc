"""``client.graders``: who scores."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Unpack

from autotune.client.arguments import AbsentT, NotGiven, change_of, not_given, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import (
    Call,
    CallOptions,
    Listing,
    call,
    listing,
    nothing,
    returning,
    split_options,
)
from autotune.protocol import graders, health
from autotune.protocol.builtin import BuiltinConfiguration
from autotune.protocol.grading import GraderCapabilities
from autotune.protocol.rubrics import RubricConfiguration
from autotune.protocol.statistics import GraderStats, GraderUsage
from autotune.protocol.windows import PartWindow

_grader = returning(graders.GraderResponse, lambda answer: answer.grader)
_registered = returning(graders.RegisterGraderResponse)
_with_secret = returning(graders.GraderSecretResponse)
_verified = returning(graders.VerifyGraderResponse)
_health = returning(health.GraderHealthResponse, lambda answer: answer.health)
_stats = returning(GraderStats)
_usage = returning(GraderUsage)
_graders = returning(graders.GraderList, lambda page: (page.graders, page.next_token))


class GraderFields(CallOptions, Generic[AbsentT], total=False):
    """Fields of a grader besides name and kind; ``AbsentT`` is the type of one that is left out."""

    endpoint: str | AbsentT
    builtin: BuiltinConfiguration | Mapping[str, Any] | AbsentT
    openai: Mapping[str, Any] | AbsentT
    rubric: RubricConfiguration | Mapping[str, Any] | AbsentT
    connection_id: str | AbsentT
    max_tokens: int | AbsentT
    certificate_sha256: Sequence[str] | AbsentT | None
    description: str | AbsentT
    capabilities: GraderCapabilities | Mapping[str, Any] | AbsentT
    limits: graders.GraderLimits | Mapping[str, Any] | AbsentT
    async_settings: graders.AsyncSettings | Mapping[str, Any] | AbsentT
    visibility: graders.Visibility | AbsentT
    share_reasoning: bool | AbsentT


def register_grader(
    *,
    name: str,
    kind: graders.GraderKind | None = None,
    **options: Unpack[GraderFields[None]],
) -> Call[graders.RegisterGraderResponse]:
    """Register a grader; the shared secret of one with an endpoint is in the answer, this once.

    Args:
        kind: ``http`` (the default) is called at its ``endpoint``, ``builtin`` (the default where
            ``builtin`` or ``openai`` is given) is computed by Autotune, ``human`` is people,
            ``rubric`` (the default where ``rubric`` or ``connection_id`` is given) is a language
            model.
        endpoint: HTTPS base URL below which ``/score``, ``/score/batch`` and ``/health`` lie.
        builtin: what to compute, such as ``{"type": "exact_match", "reference":
            "{{ item.answer }}"}``; see ``autotune.protocol.builtin``. It is usable at once.
        openai: the JSON of a grader of OpenAI's (``string_check``, ``text_similarity`` or
            ``multi``), in place of ``builtin``; or one of those that ask a model
            (``score_model``, ``label_model``), in place of ``rubric``.
        rubric: what a model is asked, and how its answer counts; see
            ``autotune.protocol.rubrics``.
        connection_id: where the model of an ``openai`` grader is called, and at whose cost.
        max_tokens: the longest answer of that model; default what ``openai`` says, or 2,048.
        certificate_sha256: SHA-256 fingerprints, in lower-case hexadecimal, of the one or two
            certificates that it may have besides being valid; default any.
        limits: ``max_concurrency`` (1 to 1000 requests at the same time) and
            ``requests_per_second`` (0.01 to 10,000), for all callers together; ``hedge_after_ms``
            (100 to 20,000) has a slow call made once more; default none.
        async_settings: how long a grader that answers later (``capabilities.supports_async``) may
            take: ``timeout_seconds`` (60 to 604,800; default a day) and ``heartbeat_seconds`` (60
            to 86,400; default none), at least how often it has to give a sign of life.
        visibility: ``private`` (the default) serves the owner's organisation, ``public`` all.
        share_reasoning: let trainers see the grader's reasoning; default False.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: the endpoint is not one that Autotune will call.
    """
    fields, call_options = split_options(options)
    if kind is None and _gives(fields, "rubric", "connection_id"):
        kind = "rubric"
    elif kind is None and _gives(fields, "builtin", "openai"):
        kind = "builtin"
    request = request_of(graders.RegisterGraderRequest, name=name, kind=kind, **fields)
    return call("POST", "graders", read=_registered, body=request, **call_options)


def _gives(fields: Mapping[str, Any], *names: str) -> bool:
    return any(fields.get(name) is not None for name in names)


def get_grader(grader_id: str, **options: Unpack[CallOptions]) -> Call[graders.Grader]:
    """Read a grader.

    Raises:
        NotFoundError: there is no such grader that this organisation may see.
    """
    return call("GET", "graders", grader_id, read=_grader, **options)


def list_graders(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[graders.Grader]:
    """Walk through the organisation's graders, oldest first.

    Args:
        page_size: graders fetched at a time, 1 to 200.
    """
    return listing("graders", read=_graders, page_size=page_size, **options)


def grader_stats(
    grader_id: str,
    *,
    version: str | None = None,
    window: PartWindow | None = None,
    **options: Unpack[CallOptions],
) -> Call[GraderStats]:
    """Read how a grader does: scores, latency and failures, in all and by version.

    Figures follow verdicts by seconds. What nothing was counted of is None, and never 0.

    Args:
        version: only what the grader answered as this version.
        window: only what it did for this organisation in the last ``24h``, ``7d`` or ``30d``, also
            by stretches of that time, in ``over_time``.

    Raises:
        NotFoundError: there is no such grader that this organisation may see.
    """
    query = {"version": version, "window": window}
    return call("GET", "graders", grader_id, "stats", read=_stats, query=query, **options)


def grader_usage(
    grader_id: str, *, month: str | None = None, **options: Unpack[CallOptions]
) -> Call[GraderUsage]:
    """Read how many verdicts a grader gave in a month, to all organisations together.

    Args:
        month: such as ``2026-11``, in UTC; the present one without it.

    Raises:
        NotFoundError: there is no such grader that this key manages.
        InvalidRequestError: ``month`` is none.
    """
    return call(
        "GET", "graders", grader_id, "usage", read=_usage, query={"month": month}, **options
    )


def update_grader(
    grader_id: str,
    *,
    name: str | NotGiven = not_given,
    **options: Unpack[GraderFields[NotGiven]],
) -> Call[graders.Grader]:
    """Change the fields that are given; a changed endpoint has to be verified again.

    ``capabilities``, ``limits``, ``async_settings`` and ``certificate_sha256`` are replaced as a
    whole: empty limits lift them, and so does an empty list of certificates, or None. Another
    ``builtin``, ``rubric`` or ``openai`` configuration is used at once, as another version.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such grader in this organisation.
    """
    fields, call_options = split_options(options)
    request = change_of(
        graders.UpdateGraderRequest, clearable={"certificate_sha256"}, name=name, **fields
    )
    return call("PATCH", "graders", grader_id, read=_grader, body=request, **call_options)


def delete_grader(grader_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a grader; what still waits for it ends ``failed``.

    Raises:
        NotFoundError: there is no such grader in this organisation.
    """
    return call("DELETE", "graders", grader_id, read=nothing, **options)


def verify_grader(
    grader_id: str, **options: Unpack[CallOptions]
) -> Call[graders.VerifyGraderResponse]:
    """Have Autotune call the grader and check its signatures; the answer lists each check.

    A grader that fails is no error: ``verified`` is then False. One without an endpoint is verified
    without a check.

    Raises:
        NotFoundError: there is no such grader in this organisation.
    """
    return call("POST", "graders", grader_id, "verify", read=_verified, **options)


def rotate_grader_secret(
    grader_id: str, **options: Unpack[CallOptions]
) -> Call[graders.GraderSecretResponse]:
    """Give a grader a new secret, in the answer, this once; the old one is valid 24 hours more.

    Raises:
        NotFoundError: there is no such grader in this organisation.
        InvalidRequestError: it has no endpoint, and so no secret.
        ConflictError: it changed at the same time.
    """
    return call("POST", "graders", grader_id, "rotate-secret", read=_with_secret, **options)


def get_grader_health(grader_id: str, **options: Unpack[CallOptions]) -> Call[health.GraderHealth]:
    """Read a grader's status and what it is founded on: its latest probe, and how many alike.

    Raises:
        NotFoundError: there is no such grader in this organisation.
    """
    return call("GET", "graders", grader_id, "health", read=_health, **options)


class GraderMethods:
    """Methods of graders."""

    register = Method(register_grader)
    get = Method(get_grader)
    list = ListMethod(list_graders)
    stats = Method(grader_stats)
    usage = Method(grader_usage)
    update = Method(update_grader)
    delete = Method(delete_grader)
    verify = Method(verify_grader)
    rotate_secret = Method(rotate_grader_secret)
    health = Method(get_grader_health)


class Graders(GraderMethods, Resource):
    """Graders, blocking."""


class AsyncGraders(GraderMethods, AsyncResource):
    """Graders, for an event loop."""
