"""Working on runs: who is asked as ``routing.decide`` says, and what came of it is stored.

A run may come twice, late, or after a worker was killed. What was stored of it says how far it is:
nobody is asked for what has an answer, and an attempt that may be under way is waited for.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from cachetools import TTLCache

from autotune_platform.apprentice.configuration.models import Configuration
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.phases import Derived, Phase
from autotune_platform.apprentice.routing import Model, roles
from autotune_platform.apprentice.runs.additional import AdditionalAsking, models_for
from autotune_platform.apprentice.runs.locally import LocalAsking
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.reading import RunAnswers
from autotune_platform.apprentice.runs.remotely import Later, RemoteAsking, UnderWay
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.runs.scoring import AsksGraders, ComparesMeaning
from autotune_platform.apprentice.runs.session import Asked, Session
from autotune_platform.apprentice.sampling import Draw, is_drawn
from autotune_platform.apprentice.standing import Standing, Standings
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part

LOOK_AGAIN_SECONDS: Final = 60
"""After which a run is looked at again that another worker has, or had."""

KNOWN_CONFIGURATIONS: Final = 32
"""Of earlier versions: how many a process remembers, each of up to a megabyte and more."""
_KNOWN_SECONDS = 3_600


@dataclass(frozen=True)
class Worked:
    """What came of working on a run.

    Attributes:
        run: as it stands.
        output: the answer, where it has one.
        again_in: after how many seconds it is to be worked on again; None where nothing is left.
    """

    run: Run
    output: Mapping[str, Any] | None = None
    again_in: int | None = None


def _configurations() -> "TTLCache[tuple[str, int], Configuration]":
    return TTLCache(KNOWN_CONFIGURATIONS, _KNOWN_SECONDS)


def _threads() -> Executor:
    return ThreadPoolExecutor(max_workers=2)


@part
class Runner:
    """Has models answer runs.

    Attributes:
        threads: returns where versions are asked while this thread asks the paid model.
    """

    runs: RunRepository
    tasks: TaskRepository
    standings: Standings
    remote: RemoteAsking
    local: LocalAsking
    answers: RunAnswers
    rows: RowAnswers
    graders: AsksGraders
    meanings: ComparesMeaning
    additional: AdditionalAsking
    clock: Clock = SYSTEM_CLOCK
    threads: Callable[[], Executor] = _threads
    configurations: "TTLCache[tuple[str, int], Configuration]" = field(
        default_factory=_configurations
    )

    def work(self, run: Run, *, is_stored: bool, seconds_left: Callable[[], float]) -> Worked:
        """Go on with a run until it has ended, and was checked where that is due.

        Args:
            is_stored: whether it is stored as it stands; one that is not is new.

        Raises:
            NotFoundError: its task is gone.
            UnavailableError: a store is busy; it is to be worked on again.
        """
        if run.has_ended and run.check != "due":
            return Worked(run, self.answers.of(run))
        standing = self.standings.of(run.organization_id, run.task_name)
        if standing.task.id != run.task_id:
            raise NotFoundError(f"no task {run.task_name}")
        document = self._document(run, standing)
        with self.threads() as threads:
            session = Session(
                run=self._begun(run, standing),
                stored=run if is_stored else None,
                document=document,
                known=standing,
                threads=threads,
                graders=self.graders,
                meanings=self.meanings,
                seconds_left=seconds_left,
            )
            if run.remote_asking is not None and not self._recovered(session, run.remote_asking):
                return Worked(run, again_in=LOOK_AGAIN_SECONDS)
            return self._check(session) if run.has_ended else self._answer(session)

    def has_additional(self, run: Run) -> bool:
        """Return whether other models are to be asked what a run that has ended was about.

        Raises:
            NotFoundError: its task is gone.
        """
        return bool(models_for(run, self._document_of(run)))

    def ask_additional(self, run: Run, *, seconds_left: Callable[[], float]) -> None:
        """Ask them, each once, as far as time and money last.

        Raises:
            NotFoundError: its task is gone.
            UnavailableError: a store is busy.
        """
        self.additional.ask(run, self._document_of(run), seconds_left=seconds_left)

    def _answer(self, session: Session) -> Worked:
        while not session.run.has_ended:
            decision = session.decision()
            if decision.ask_local:
                self._begin(session)
            waits = session.defers_checks and session.run.local is None
            if waits or not (decision.ask_remote or decision.answers or decision.refusal):
                session.run = session.joined(session.run)
            elif session.defers_checks and decision.answers is Model.LOCAL:
                return self._stored(session, session.answered_locally(self.clock.now()))
            elif decision.ask_remote:
                if decision.ask_shadow:
                    self._begin(session, is_shadow=True)
                later = self.remote.ask(session)
                if later is not None:
                    return self._later(session, later)
                session.stand_in()
            else:
                return self._stored(session, session.concluded(session.run, self.clock.now()))
        return Worked(session.run, session.output())

    def _check(self, session: Session) -> Worked:
        """Have the paid model check what the caller has."""
        if session.run.check == "due":
            decision = session.decision()
            if decision.ask_shadow:
                self._begin(session, is_shadow=True)
            later = self.remote.ask(session)
            if later is not None:
                return self._later(session, later)
        if session.run.check == "due":
            # The budget had no room, or it cannot be asked.
            return self._stored(session, session.concluded(session.run, self.clock.now()))
        return Worked(session.run, self.answers.of(session.run))

    def _begin(self, session: Session, *, is_shadow: bool = False) -> None:
        which: Asked = "shadow" if is_shadow else "local"
        if which not in session.asked:
            run = session.run
            version = run.shadow_version if is_shadow else run.local_version
            session.asked[which] = self.local.begin(
                session.threads, run, session.document, session.known, version
            )

    def _later(self, session: Session, later: UnderWay | Later) -> Worked:
        if isinstance(later, Later):
            return Worked(session.run, again_in=later.seconds)
        found = self.runs.get(session.run.id) or session.run
        if found.has_ended and found.check != "due":
            return Worked(found, self.answers.of(found))
        return Worked(found, again_in=LOOK_AGAIN_SECONDS)

    def _stored(self, session: Session, ended: Run) -> Worked:
        """Store a run that ends without a call; where another was first, return what it stored."""
        before = session.stored
        if before is None:
            if self.runs.add(ended):
                session.run = ended
                return Worked(ended, session.output())
            before = self.runs.get(ended.id)
            if before is not None and (before.has_ended or before.attempts):
                return self._later(session, UnderWay())
        if before is not None and self.runs.change(before, ended):
            session.run = ended
            return Worked(ended, session.output())
        return self._later(session, UnderWay())

    def _recovered(self, session: Session, row_id: str) -> bool:
        """Take over what came of an attempt whose worker was killed; False while that is open."""
        row = self.rows.row(row_id)
        if row is None or not row.has_ended:
            return False
        text = self.rows.text(row_id) if row.status == "completed" else None
        if text is not None:
            outcome: Answer | Refusal = Answer(text, row.finish_reason or "other", row.usage)
        else:
            # It was charged where it may have been paid.
            message = row.error.message if row.error else "the call was interrupted"
            outcome = Refusal("outcome_unclear", message)
        before = session.stored
        assert before is not None, "an attempt is stored with its run"
        closed = self.remote.closed(session, session.run, row, outcome)
        if not self.runs.change(before, closed):
            return False
        session.run = session.stored = closed
        return True

    def _begun(self, run: Run, standing: Standing) -> Run:
        """Return a run with its roles and draws, which it keeps from then on."""
        if run.phase is not None:
            return run
        # Versions of another definition answer another question.
        is_same = standing.configuration.definition_hash == run.definition_hash
        derived = standing.derived if is_same else Derived(Phase.REMOTE)
        key = bytes.fromhex(standing.task.sampling_key)
        share = 0.0 if derived.canary is None else standing.canary_share
        in_canary = is_drawn(Draw.CANARY, key, run.id, share)
        who = roles(derived, in_canary=in_canary)
        rate = None if who.local is None else standing.rate(who.local)
        return run.model_copy(
            update={
                "phase": int(who.phase),
                "is_drawn": rate is not None and is_drawn(Draw.SAMPLE, key, run.id, rate),
                "sampling_rate": rate,
                "in_canary": in_canary,
                "local_version": who.local,
                "shadow_version": who.shadow,
            }
        )

    def _document_of(self, run: Run) -> Mapping[str, Any]:
        return self._document(run, self.standings.of(run.organization_id, run.task_name))

    def _document(self, run: Run, standing: Standing) -> Mapping[str, Any]:
        if standing.configuration.version == run.configuration_version:
            return standing.document
        found = self._configuration(run.task_id, run.configuration_version)
        if found is None:
            raise NotFoundError(f"no task {run.task_name}")
        return found.document

    def _configuration(self, task_id: str, version: int) -> Configuration | None:
        known = self.configurations.get((task_id, version))
        if known is None:
            known = self.tasks.configuration(task_id, version)
            if known is not None:
                self.configurations[task_id, version] = known
        return known
