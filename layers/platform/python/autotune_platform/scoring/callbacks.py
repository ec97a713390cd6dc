"""Acting on what graders send later: verdicts are written, panels resolved, runs woken."""

import hashlib
from collections.abc import Mapping

from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.http.callbacks import Callbacks, ProvenCall
from autotune_platform.judging.http.calls import Call
from autotune_platform.runs.waits import RunWaits
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.verdicts.models import CompletionHeader, overdue
from autotune_platform.verdicts.service import VerdictService

_NOBODY_WAITS = "nothing waits for an answer to this request any more"


@part
class CallbackService:
    """Takes graders' later answers, once the http judge has proven whose they are."""

    callbacks: Callbacks
    batches: OpenBatches
    completions: CompletionService
    verdicts: VerdictService
    writer: VerdictWriter
    resolver: PanelResolver
    waits: RunWaits
    clock: Clock = SYSTEM_CLOCK

    def prove(self, call_id: str, headers: Mapping[str, str], body: bytes) -> ProvenCall:
        """Return the call that something came about, which its grader has to have signed for it.

        Raises:
            RequestTooLargeError: it is over the limit of any grader's answer.
            NotFoundError: there is no such call, or this is not signed by its grader for it.
        """
        return self.callbacks.prove(call_id, headers, body)

    def answer(self, proven: ProvenCall, body: bytes) -> Call:
        """Take the answer to a call; the same answer again is answered as it was before.

        Raises:
            InvalidRequestError: it is not of the protocol; a better one may follow.
            ConflictError: it was answered otherwise, or nothing waits for an answer any more.
        """
        with self.verdicts.listing():
            return self._answer(proven, body)

    def _answer(self, proven: ProvenCall, body: bytes) -> Call:
        judgements = self.callbacks.read(proven.call, body)
        call = self._expire_if_overdue(proven.call)
        undecided = self._undecided(call)
        if call.state == "open" and undecided:
            if len(overdue(undecided.values(), self.clock.now())) == len(undecided):
                late = {id_: judgements[id_] for id_ in undecided}
                self.writer.write(call, undecided, late, attempts=call.attempts)
                self._go_on(call)
                raise ConflictError("the completions' deadlines have passed; the answer is dropped")
            recorded = self.callbacks.record(call, body)
            if recorded is not None:
                dropped = [judgements[id_] for id_ in call.completion_ids if id_ not in undecided]
                self.writer.count_late(call, dropped)
                self._follow_up(recorded, proven)
                return recorded
            call = self.callbacks.get(call)
        if call.answer_sha256 == hashlib.sha256(body).hexdigest():
            # The function that recorded it may have died: what it left is done now.
            self._follow_up(call, proven)
            return call
        if call.state == "answered":
            raise ConflictError("this request was answered before, and not with these bytes")
        self.writer.count_late(call, judgements.values())
        raise ConflictError(_NOBODY_WAITS)

    def heartbeat(self, proven: ProvenCall, body: bytes) -> Call:
        """Take a sign of life, which puts off when the next one is due.

        Raises:
            InvalidRequestError: it is about another request.
            ConflictError: nothing waits for an answer any more.
        """
        self.callbacks.require_heartbeat_of(proven.call, body)
        with self.verdicts.listing():
            call = self.callbacks.postpone(self._expire_if_overdue(proven.call))
        if call is None or call.state != "open" or not self._undecided(call):
            raise ConflictError(_NOBODY_WAITS)
        return call

    def _expire_if_overdue(self, call: Call) -> Call:
        """End a call whose time is up, as the run would that waits for it."""
        current = self.callbacks.current(call)
        if current.state == "expired" and call.state == "open":
            undecided = list(self._undecided(current))
            self.writer.apply(self.callbacks.expired(current, undecided, current))
            self._go_on(current)
        return current

    def _follow_up(self, call: Call, proven: ProvenCall) -> None:
        """Do what follows from a recorded answer, which nothing can lose any more."""
        self.batches.have_looked_at(call.batch_ids)
        for judged in self.callbacks.judged(call, proven.grader):
            self.writer.apply(judged)
        self._go_on(call)

    def _undecided(self, call: Call) -> dict[str, CompletionHeader]:
        return self.completions.headers(self.verdicts.undecided(call.completion_ids, call))

    def _go_on(self, call: Call) -> None:
        """Have the panel decide whose member was asked, and wake the run that waits."""
        if call.panel_id is not None:
            headers = self.completions.headers(call.completion_ids)
            self.resolver.resolve(headers, run_id=call.run_id)
        self.waits.wake(call.run_id)
