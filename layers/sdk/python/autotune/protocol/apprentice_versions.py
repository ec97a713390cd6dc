"""Versions of a task's small model on the wire: what is served, and what became of it."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from autotune.protocol import limits
from autotune.protocol.apprentice_models import ServingBackend
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp

ApprenticeVersionState = Literal["hosted", "retired"]
"""``retired`` is for good: nobody asks it any more."""

ApprenticeVersionChangeKind = Literal[
    "canary_began",
    "canary_advanced",
    "canary_rolled_back",
    "promoted",
    "alarm",
    "emergency",
    "coverage",
]
"""What pairs do to a version, as the events ``apprentice.canary``, ``model.promoted`` and
``apprentice.alarm`` tell it."""


class RegisterApprenticeVersion(RequestModel):
    """A model that the server at the task's ``local.url`` has already.

    Attributes:
        model: as the server lists it: of vLLM and llama.cpp an ``id`` of ``/v1/models``, of Ollama
            a name, which means its ``latest`` without a tag.
    """

    model: Annotated[
        str,
        StringConstraints(
            min_length=1,
            max_length=limits.MAX_SERVED_MODEL_CHARACTERS,
            pattern=r"^[!-~]+( [!-~]+)*$",
        ),
    ]


class ApprenticeVersionGate(ResponseModel):
    """From which confidence on a version answers callers, where ``local.gate`` is ``confidence``.

    Attributes:
        confidence: 0 to 1.
        coverage: the share of the hold-out's inputs that it was as sure of.
        least_coverage: the share below which an alarm is due, at first.
    """

    confidence: float
    coverage: float
    least_coverage: float


class ApprenticeVersionChange(ResponseModel):
    """What a pair of a version did to it; with ``coverage``, what inputs did.

    Attributes:
        at: when the pair's run ended; of a promotion, when it was published. A pair that was
            counted late has an earlier date than those before it.
        sequence: the pair, by its number among those of the version; with ``coverage``, the last
            one before.
        mean_agreement: of the last pairs, from 0 to 1; None where there is no window.
        share: with the canary, of the inputs that the version answers from then on; with
            ``coverage``, of those of which it was sure. From 0 to 1.
    """

    kind: ApprenticeVersionChangeKind
    at: Timestamp
    sequence: int
    mean_agreement: float | None = None
    share: float | None = None


class ApprenticeVersion(ResponseModel):
    """A version of a task's small model.

    Attributes:
        number: later ones have higher numbers.
        definition_hash: of the definition under which it is tried.
        is_of_present_definition: whether that is the task's present one; others ask it nothing.
        digest: of what was served under that name when it was registered: of another one, no answer
            counts. Of a version that was trained here the SHA-256 of the model's bytes, as in its
            certificate.
        gate: None where its backend does not say how sure it is, or no confidence was shown to
            suffice: then a gate lets all of its answers through.
        needs_gate: whether its hold-out was judged behind its gate: then it keeps that also where
            the task has ``local.gate: none`` by now.
        canary_at: the pair after which it passed its canary; None before.
        was_canary: whether it was rolled back while it was in its canary.
        changes: the last 100 things that its pairs did to it, in the order of its pairs; None in a
            list.
    """

    number: int
    definition_hash: str
    is_of_present_definition: bool
    backend: ServingBackend
    model: str
    digest: str | None = None
    gate: ApprenticeVersionGate | None = None
    needs_gate: bool = False
    state: ApprenticeVersionState
    canary_at: int | None = None
    promoted_at: Timestamp | None = None
    promoted_by: str | None = None
    created_at: Timestamp
    created_by: str
    retired_at: Timestamp | None = None
    retired_by: str | None = None
    was_canary: bool = False
    changes: list[ApprenticeVersionChange] | None = None


class ApprenticeVersionResponse(ResponseModel):
    """One version."""

    version: ApprenticeVersion


class ApprenticeVersionList(ResponseModel):
    """A page of a task's versions, newest first."""

    versions: list[ApprenticeVersion]
    next_token: str | None = None
