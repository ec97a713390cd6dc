"""Ours: an apprentice answers a stream; trainings, shadows and canaries follow as they are due."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autotune_platform.apprentice.phases import Derived
from autotune_platform.apprentice.students.linear import LinearModel
from autotune_platform.apprentice.training.due import Due, next_training
from autotune_platform.apprentice.training.models import LastTraining
from autotune_platform.runtime.grouping import groups
from benchmarks.apprentice.playing import AT_ONCE, Played
from benchmarks.apprentice.streams import Query
from benchmarks.apprentice.training import Found, Trained, trained, version_of

Log = Callable[[str], None]


@dataclass
class Apprenticeship:
    """A stream that is answered.

    Attributes:
        played: the task.
        log: what happens is written to.
        trainings: those that ended, with the input after which they were begun.
        changes: after which input who answers changed.
        alarms: after which input which version raised one.
    """

    played: Played
    log: Log = field(default=lambda _: None)
    trainings: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    alarms: list[dict[str, Any]] = field(default_factory=list)
    last: LastTraining = field(default_factory=LastTraining)
    judged: int = 0

    def answer(self, queries: Sequence[Query], *, at_once: int = AT_ONCE) -> None:
        """Have queries answered, after those that were.

        Args:
            at_once: queries between two looks at where the task stands.
        """
        derived = self.played.look().derived
        for some in groups(queries, at_once):
            for query in some:
                self.played.ask({"text": query.text}, str(query.place))
            place = len(self.played.runs)
            self.played.known.count(self.played.runs[-len(some) :])
            self._note_alarms(place)
            self._train(place)
            derived = self._noted(place, derived)

    def _noted(self, place: int, before: Derived) -> Derived:
        derived = self.played.look().derived
        if derived != before:
            change = {
                "after": place,
                "phase": int(derived.phase),
                "serving": derived.serving,
                "candidate": derived.candidate,
                "canary": derived.canary,
            }
            self.changes.append(change)
            self.log(str(change))
        return derived

    def _note_alarms(self, place: int) -> None:
        for number, advance in self.played.known.advances.items():
            raised = [(str(one.kind), one.pair.sequence) for one in advance.raised]
            fallen = [("coverage", one.sequence) for one in advance.fallen]
            for kind, pair in [*raised, *fallen]:
                alarm = {"after": place, "version": number, "kind": kind, "pair": pair}
                self.alarms.append(alarm)
                self.log(str(alarm))
            advance.raised.clear()
            advance.fallen.clear()

    def due(self) -> Due:
        """Return when the next training is."""
        return next_training(
            self.played.asked.document,
            self.last,
            definition_hash=self.played.asked.task.definition_hash,
            examples=len(self.played.known.examples),
            emergency=self._emergency(),
        )

    def _emergency(self) -> int:
        advances = self.played.known.advances.items()
        raised = [number for number, one in advances if one.evidence.emergency_at is not None]
        return max(raised, default=0)

    def _train(self, place: int) -> None:
        task, known = self.played.asked.task, self.played.known
        due = self.due()
        if not due.is_due:
            return
        made = trained(
            self._examples(),
            self.played.asked.document,
            before=self._serving(),
            attempt=self.judged + 1,
        )
        self.judged += made is not None
        has_passed = made is not None and made.judgement.has_passed
        self.last = LastTraining(
            number=self.last.number + 1,
            definition_hash=task.definition_hash,
            examples=due.examples,
            outcome="hosted" if has_passed else "discarded",
            emergency=self._emergency(),
        )
        self._note_training(place, due.examples, made)
        if made is not None and has_passed:
            version = version_of(
                made,
                number=len(known.versions) + 1,
                task=task,
                training=self.last.number,
                at=self.played.clock.now(),
            )
            known.versions[version.number] = version
            self.played.students.models[version.model] = made.model

    def _examples(self) -> list[Found]:
        found = sorted(self.played.known.examples.items())
        return [
            Found(example, run, self.played.ledger.texts[example.row_id or ""])
            for _, (example, run) in found
        ]

    def _serving(self) -> LinearModel | None:
        """Return the student that serves now."""
        standing = self.played.known.standing(self.played.clock.unix())
        serving = standing.derived.serving
        if serving is None:
            return None
        return self.played.students.models[standing.served[serving].model]

    def _note_training(self, place: int, examples: int, made: Trained | None) -> None:
        note: dict[str, Any] = {"after": place, "examples": examples, "version": None}
        if made is None:
            note["objections"] = ["TOO_FEW"]
        else:
            judgement = made.judgement
            note |= {
                "learnedFrom": made.learned_from,
                "heldOut": judgement.groups,
                "agreement": judgement.agreement and judgement.agreement.mean,
                "objections": [one.name for one in judgement.objections],
                "gate": judgement.gate and judgement.gate.confidence,
                "coverage": judgement.gate and judgement.gate.coverage,
                "gatedAgreement": judgement.gate and judgement.gate.agreement,
                "cpuSeconds": round(made.cpu_s, 2),
            }
            if judgement.has_passed:
                note["version"] = len(self.played.known.versions) + 1
        self.trainings.append(note)
        self.log(str(note))
