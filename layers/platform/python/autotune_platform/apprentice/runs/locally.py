"""Asking versions of the small model in a run, each on a thread of its own."""

from collections.abc import Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.folding.settings import gate_of
from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    LocalClients,
    Reason,
    Unavailable,
)
from autotune_platform.apprentice.routing import Local
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.outputs import fits_an_item, read_output
from autotune_platform.apprentice.runs.prompting import local_question
from autotune_platform.apprentice.standing import Standing
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.runtime.parts import part

GONE = "no_version"
"""The version is of another definition than when the run was begun."""


@dataclass(frozen=True)
class LocalOutcome:
    """What came of asking a version.

    Attributes:
        outcome: see ``routing.Local``.
        text: its answer; None where there is none, or it is too long to be stored.
        fault: why there is none.
        confidence: how sure it was, 0 to 1; None where its backend does not say.
    """

    outcome: Local
    text: str | None = None
    fault: str | None = None
    confidence: float | None = None


@part
class LocalAsking:
    """Asks versions."""

    clients: LocalClients

    def begin(
        self,
        threads: Executor,
        run: Run,
        document: Mapping[str, Any],
        standing: Standing,
        version: int | None,
    ) -> "Future[LocalOutcome]":
        """Begin to ask a version; it has ``timeoutMs`` of the task."""
        return threads.submit(self._ask, run, document, standing, version)

    def _ask(
        self, run: Run, document: Mapping[str, Any], standing: Standing, version: int | None
    ) -> LocalOutcome:
        found = None if version is None else standing.versions.get(version)
        if found is None:
            return LocalOutcome(Local.UNAVAILABLE, fault=GONE)
        client = self.clients.client_for(document, found.known.served)
        timeout_ms = document["local"]["timeoutMs"]
        answer = client.ask(local_question(document, run.input), timeout_ms=timeout_ms)
        return _outcome(answer, document, found.known)


def _outcome(
    answer: LocalAnswer | Unavailable, document: Mapping[str, Any], version: ModelVersion
) -> LocalOutcome:
    if isinstance(answer, Unavailable):
        return LocalOutcome(Local.UNAVAILABLE, fault=answer.reason)
    if not fits_an_item(answer.text):
        return LocalOutcome(Local.UNPARSEABLE, fault=Reason.TOO_LARGE)
    if read_output(answer.text, document["outputSchema"]) is None:
        text = answer.text.encode(errors="replace").decode()
        return LocalOutcome(Local.UNPARSEABLE, text=text)
    has_gate = gate_of(document, version) is not None
    is_held_back = has_gate and not version.is_sure(answer.confidence)
    outcome = Local.UNSURE if is_held_back else Local.ANSWERED
    return LocalOutcome(outcome, text=answer.text, confidence=answer.confidence)
