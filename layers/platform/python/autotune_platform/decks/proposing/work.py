"""One step of a run that proposes graders: what was answered is read, and the next is asked.

Money for what is asked is set aside in the write that stores it, before it is enqueued, and given
back in the write that reads its answers: what is spent and what is set aside are never above the
run's cap, whatever is killed. Graders are stored in the write that ends the run, all or none.
Answers at which steps were killed count as none (``runs/guarding.py``).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.deck_runs import DeckRunStatus, DeckRunStop, DeckRunWait
from autotune_platform.access.models import Caller
from autotune_platform.decks.proposing.asking import ProposalAsking
from autotune_platform.decks.proposing.models import Proposing, RunProposal
from autotune_platform.decks.proposing.reading import after_answers, unasked
from autotune_platform.decks.proposing.repository import ProposalRepository
from autotune_platform.decks.proposing.storing import ProposedGraders
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.runs.asking import waiting_reason
from autotune_platform.decks.runs.guarding import ChangedError, RunGuard, as_begun, as_ended
from autotune_platform.decks.runs.looks import next_look
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import packed_rows, unpacked_rows
from autotune_platform.decks.runs.starting import START_WITHIN
from autotune_platform.decks.runs.work import RunStep
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import TooManyOpenRowsError, UnavailableError
from autotune_platform.runtime.parts import part

logger = Logger()

_RESERVED_SECONDS = 45
_FULL_SECONDS = 60
_NOBODY_SECONDS = 120
_CANCELING_SECONDS = 60
_NOTHING_ASKED: Mapping[str, Any] = {"state": "planned", "questions": (), "rows": None}


@dataclass
class _Step:
    """What one step of a proposal is at."""

    run: Run
    proposal: RunProposal
    proposing: Proposing
    caller: Caller
    prompt: str | None
    seconds_left: Callable[[], float]
    careful: bool


@part
class ProposalWork:
    """Goes on with runs that propose graders."""

    repository: ProposalRepository
    decks: DeckRepository
    asking: ProposalAsking
    storing: ProposedGraders
    guard: RunGuard
    clock: Clock = SYSTEM_CLOCK

    def advance(self, run: Run, *, seconds_left: Callable[[], float]) -> RunStep:
        """Do what there is to do for a run that is open."""
        try:
            with self.guard.taking_back(run):
                return self._go_on(run, seconds_left)
        except ChangedError:
            return RunStep(done=False)

    def _go_on(self, run: Run, seconds_left: Callable[[], float]) -> RunStep:
        proposal = run.proposal
        assert proposal is not None, "a run that proposes says by whom"
        caller = self.asking.caller_of(run)
        if caller is None:
            return self._waiting(run, _NOBODY_SECONDS, "organization_suspended")
        version = proposal.deck_version
        prompt = self.decks.prompts(run.deck_id, [version]).get(version)
        due_at = self.clock.now() + timedelta(seconds=seconds_left()) + START_WITHIN
        run = self._changed(run, {"due_at": due_at, **as_begun(run)})
        found = self.repository.get(run)
        proposing = found or Proposing(run_id=run.id, asked_at=self.clock.now())
        step = _Step(run, proposal, proposing, caller, prompt, seconds_left, run.is_careful)
        while step.seconds_left() > _RESERVED_SECONDS:
            if (reached := self._next(step)) is not None:
                return reached
        self._changed(step.run, as_ended(careful=step.careful))
        return RunStep(done=False)

    def _next(self, step: _Step) -> RunStep | None:
        """Do the next thing; return where the execution stands if it cannot go on at once."""
        if step.proposing.erasing:
            self.asking.orders.erase(step.proposing.erasing)
            step.proposing = step.proposing.model_copy(update={"erasing": ()})
        is_canceled = step.run.ends_early
        is_over = is_canceled or self.clock.now() >= step.run.deadline
        if step.proposing.state == "planned":
            if is_over or step.proposing.stage == "over":
                return self._end(step)
            return self._reserve(step)
        if step.proposing.state == "reserved":
            if is_over and not self.asking.was_begun(step.run, step.proposing):
                freed = step.run.reserved - step.proposing.reserved
                self._store(step, {"reserved": freed}, _NOTHING_ASKED)
                return None
            return self._order(step)
        if is_canceled:
            self.asking.orders.cancel(one.row_id for one in step.proposing.questions)
        return self._read(step, is_canceled=is_canceled)

    def _reserve(self, step: _Step) -> RunStep | None:
        """Set aside what the next questions may cost; end the proposal where there is no room."""
        planned = None
        about = f"questions#{step.proposing.stage}#{step.proposing.repairs}"
        if step.prompt is not None and self._is_read(step, about):
            planned = self.asking.plan(
                step.caller, step.run, step.proposal, step.proposing, step.prompt
            )
        if planned is None:
            self._give_up(step, {"refused": unasked(step.proposing, "not_askable")})
            return None
        most = sum(question.most for question, _ in planned)
        if most > step.run.room:
            refused = unasked(step.proposing, None)
            self._give_up(step, {"refused": refused, "out_of_money": True})
            return None
        changes = {
            "state": "reserved",
            "questions": [question for question, _ in planned],
            "rows": packed_rows(row for _, row in planned),
        }
        self._store(step, {"reserved": step.run.reserved + most}, changes)
        return None

    def _give_up(self, step: _Step, changes: Mapping[str, Any]) -> None:
        """Ask nothing any more; a step that is killed finds the same again."""
        over = {"stage": "over", "candidates": (), **changes}
        step.proposing = step.proposing.model_copy(update=over)

    def _order(self, step: _Step) -> RunStep | None:
        """Enqueue what is asked, and note that it is."""
        assert step.proposing.rows is not None, "what is reserved has its rows"
        rows = unpacked_rows(step.proposing.rows)
        try:
            self.asking.order(
                step.caller, step.run, step.proposal, step.proposing, rows, step.prompt or ""
            )
        except TooManyOpenRowsError:
            return self._waiting(step.run, _FULL_SECONDS, "open_requests")
        except UnavailableError as error:
            return self._waiting(step.run, math.ceil(error.retry_after_seconds or 1), None)
        asked = _after(
            step.proposing, {"state": "asked", "rows": None, "asked_at": self.clock.now()}
        )
        if not self.repository.change_alone(step.run, asked):
            raise ChangedError
        step.proposing = asked
        return None

    def _read(self, step: _Step, *, is_canceled: bool) -> RunStep | None:
        """Read what was answered, once all of it has ended."""
        ids = [one.row_id for one in step.proposing.questions]
        rows = self.asking.orders.last(ids)
        waits = [id_ for id_ in ids if id_ in rows and not rows[id_].has_ended]
        if waits:
            seconds = next_look(step.proposing.asked_at, self.clock.now()) - self.clock.now()
            whole = max(1, math.ceil(seconds.total_seconds()))
            because = waiting_reason(self.asking.orders, step.run.organization_id, waits[0])
            return self._waiting(
                step.run, min(whole, _CANCELING_SECONDS) if is_canceled else whole, because
            )
        found = self.asking.look(step.proposing) if self._is_read(step, ids[0]) else {}
        paid = sum(row.cost_nano_usd for row in rows.values())
        changes = {
            "spent": step.run.spent + paid,
            "reserved": step.run.reserved - step.proposing.reserved,
            "lost": 0,
        }
        read = after_answers(step.run.id, step.proposing, step.prompt or "", found)
        self._store(step, changes, {**_NOTHING_ASKED, **read, "erasing": ids})
        return None

    def _is_read(self, step: _Step, key: str) -> bool:
        """Return whether something is read, which is noted where steps were killed before."""
        if step.run.is_killer(key):
            return False
        if step.careful:
            step.run = self.guard.note(step.run, key)
        return True

    def _end(self, step: _Step) -> RunStep:
        """End the run, and store what is kept, unless it was canceled."""
        run, proposing = step.run, step.proposing
        status: DeckRunStatus = "completed"
        because: DeckRunStop | None = None
        if run.cancel_requested_at is not None:
            status = "canceled"
        elif run.failing_at is not None:
            status = "failed"
        elif proposing.out_of_money or proposing.stage != "over":
            status, because = "stopped", "cap" if proposing.out_of_money else "deadline"
            proposing = proposing.model_copy(update={"refused": unasked(proposing, None)})
        writes, proposal = self.storing.of(run, step.proposal, proposing, keeps=not run.ends_early)
        if status == "completed" and not proposal.grader_ids:
            status = "failed"
        changes = {
            "status": status,
            "stopped_because": because,
            "waiting_because": None,
            "proposal": proposal,
            "ended_at": self.clock.now(),
            "revision": run.revision + 1,
        }
        others = [*writes, self.repository.deleted(run)]
        if not self.repository.change(run, run.model_copy(update=changes), others=others):
            raise ChangedError
        logger.info("run ended", run_id=run.id, status=status, spent=run.spent)
        return RunStep(done=True)

    def _store(self, step: _Step, run: Mapping[str, Any], proposing: Mapping[str, Any]) -> None:
        """Store changes of the run and of the proposal together."""
        changed = _after(step.proposing, proposing)
        repairs = step.proposal.model_copy(update={"repairs": changed.repairs})
        update = {**run, "proposal": repairs, "revision": step.run.revision + 1}
        after = step.run.model_copy(update=update)
        if not self.repository.change(step.run, after, changed):
            raise ChangedError
        step.run, step.proposal, step.proposing = after, repairs, changed

    def _waiting(self, run: Run, seconds: int, because: DeckRunWait | None) -> RunStep:
        due_at = self.clock.now() + timedelta(seconds=seconds) + START_WITHIN
        waiting = {"waiting_because": because, "due_at": due_at, "steps_begun": 0}
        self._changed(run, waiting)
        return RunStep(done=False, wait_seconds=seconds)

    def _changed(self, run: Run, changes: Mapping[str, Any]) -> Run:
        after = run.model_copy(update={**changes, "revision": run.revision + 1})
        if not self.repository.change(run, after):
            raise ChangedError
        return after


def _after(proposing: Proposing, changes: Mapping[str, Any]) -> Proposing:
    return proposing.model_copy(update={**changes, "revision": proposing.revision + 1})
