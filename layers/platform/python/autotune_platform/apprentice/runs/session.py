"""One worker's work on one run: how the run is stored, what is known beyond, who is being asked."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from autotune_platform.apprentice.phases import Phase
from autotune_platform.apprentice.routing import (
    Decision,
    Facts,
    Model,
    Refusal,
    Remote,
    decide,
)
from autotune_platform.apprentice.runs.locally import LocalOutcome
from autotune_platform.apprentice.runs.models import Run, RunState
from autotune_platform.apprentice.runs.outputs import read_output
from autotune_platform.apprentice.runs.scoring import AsksGraders, ComparesMeaning, pairs_of
from autotune_platform.apprentice.standing import Standing

Asked = Literal["local", "shadow"]


@dataclass
class Session:
    """Work on a run.

    Attributes:
        run: as it is known.
        stored: as it is stored; None where it is not.
        document: the configuration that it goes by.
        known: of its task.
        threads: where versions are asked.
        graders: asked how right a version is, where the task's evaluator is one.
        meanings: asked how alike answers are in meaning, where that is the evaluator.
        seconds_left: how long the worker has.
        has_room: whether the budget had room when it was last asked.
        asked: versions that are being asked, or were, by this worker.
        truth: what the paid model answered, as text.
        answer: the same as the object that it is.
    """

    run: Run
    stored: Run | None
    document: Mapping[str, Any]
    known: Standing
    threads: Executor
    graders: AsksGraders
    meanings: ComparesMeaning
    seconds_left: Callable[[], float]
    has_room: bool = True
    asked: "dict[Asked, Future[LocalOutcome]]" = field(default_factory=dict)
    truth: str | None = None
    answer: dict[str, Any] | None = None

    @property
    def defers_checks(self) -> bool:
        """Whether the caller's answer does not wait for what the paid model is to check.

        Where an exhausted budget is to refuse, whether there is room decides who is answered.
        """
        is_strict = self.document["budgets"]["whenExhausted"] == "fail"
        return self.run.phase == Phase.LOCAL and not (is_strict and self.run.is_drawn)

    def decision(self) -> Decision:
        """Return what is to be done next."""
        return decide(self._facts(self.run))

    def stand_in(self) -> None:
        """Have a version that may answer take the place of one in shadow.

        It is for a run of phase 2 that cannot be paid. Where no version may, none answers.
        """
        run, known = self.run, self.known
        is_same = known.configuration.definition_hash == run.definition_hash
        version = known.derived.graduated if is_same else None
        is_wanted = run.phase == Phase.BOTH and version not in (None, run.local_version)
        if self.has_room or self.document["budgets"]["whenExhausted"] == "fail" or not is_wanted:
            return
        self.asked.pop("local", None)
        nothing = dict.fromkeys(("local", "local_output", "local_confidence", "local_fault"))
        self.run = run.model_copy(update={**nothing, "local_version": version})

    def joined(self, run: Run) -> Run:
        """Return a run with the answers of those versions that this worker asked."""
        if not self.asked:
            return run
        changes: dict[str, Any] = {}
        for which, asked in self.asked.items():
            found = asked.result()
            changes |= {
                which: found.outcome,
                f"{which}_output": found.text,
                f"{which}_confidence": found.confidence,
                f"{which}_fault": found.fault,
            }
        return run.model_copy(update=changes)

    def concluded(self, run: Run, now: datetime) -> Run:
        """Return a run as it ends once the paid model answered, or failed, or cannot be asked.

        Of one that has ended before, the check ends.
        """
        run = self.joined(run)
        decision = decide(self._facts(run))
        pairs = (
            ()
            if self.truth is None
            else pairs_of(
                run,
                decision,
                self.document,
                self.known.versions,
                self.truth,
                self.graders,
                self.meanings,
            )
        )
        if run.has_ended:
            check = {Remote.ANSWERED: "done", Remote.FAILED: "failed", None: "skipped"}[run.remote]
            unmonitored = run.unmonitored or decision.unmonitored
            changed = {"check": check, "pairs": pairs, "unmonitored": unmonitored}
            return run.model_copy(update=changed)
        changed = {**_end(decision), "pairs": pairs, "escalated": decision.escalated}
        if decision.answers is Model.LOCAL and run.remote is not None:
            # The caller waited for the check: whether there is room decided who was answered.
            changed["check"] = "done" if run.remote is Remote.ANSWERED else "failed"
        return run.model_copy(update={**changed, "ended_at": now})

    def answered_locally(self, now: datetime) -> Run:
        """Return a run whose version has answered, and which the paid model may be to check."""
        decision = self.decision()
        is_due = decision.ask_remote or decision.ask_shadow
        changed = {**_end(decision), "check": "due" if is_due else "none", "ended_at": now}
        return self.run.model_copy(update=changed)

    def output(self) -> dict[str, Any] | None:
        """Return the answer that goes to the caller, where this worker had it."""
        if self.run.answers is not Model.LOCAL:
            return None if self.run.answers is None else self.answer
        text = self.run.local_output
        return None if text is None else read_output(text, self.document["outputSchema"])

    def _facts(self, run: Run) -> Facts:
        assert run.phase is not None, "roles are given before anybody is asked"
        phase = Phase(run.phase)
        return Facts(
            phase=phase,
            is_drawn=run.is_drawn,
            has_room=self.has_room,
            # Who has answered, has.
            may_answer=run.has_ended or self.known.may_answer(run.local_version),
            when_exhausted=self.document["budgets"]["whenExhausted"],
            has_shadow=phase is Phase.LOCAL and run.shadow_version is not None,
            local=run.local,
            shadow=run.shadow,
            remote=run.remote,
        )


def _end(decision: Decision) -> dict[str, Any]:
    state: RunState = "failed"
    if decision.answers is not None:
        state = "answered"
    elif decision.refusal is Refusal.BUDGET_EXHAUSTED:
        state = "refused"
    return {
        "state": state,
        "answers": decision.answers,
        "refusal": decision.refusal,
        "unmonitored": decision.unmonitored,
    }
