"""Scores questions of trainers, each once a day, however often and by whomever it is asked."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.access.models import Caller
from autotune_platform.completions.models import Batch
from autotune_platform.completions.service import CompletionService
from autotune_platform.completions.submission import SubmissionService
from autotune_platform.rewards.models import Question, RewardUrl
from autotune_platform.rewards.repository import ClaimRepository, QuestionClaim
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError, TaskDeletedError, UnavailableError
from autotune_platform.runtime.long_poll import LongPoll
from autotune_platform.runtime.parts import part
from autotune_platform.tasks.models import Task
from autotune_platform.tasks.service import TaskService
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.service import VerdictService

DURABLE_WITHIN = timedelta(minutes=1)
"""How long a claim's submission may be missing before its attempt is taken for dead."""

_POLL = LongPoll(first_seconds=0.1, usual_seconds=1, longest_seconds=5, looks_of_a_wait=30)


@dataclass
class _Flow:
    """The flow of one request: its questions by fingerprint, and what was found for them."""

    caller: Caller
    task: Task
    model_id: str
    questions: Mapping[str, Question]
    claims: dict[str, QuestionClaim] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def undecided(self) -> list[str]:
        return [one for one in self.questions if one not in self.verdicts]

    @property
    def open_claims(self) -> dict[str, QuestionClaim]:
        """The claims of undecided questions, as they were last read."""
        return {one: self.claims[one] for one in self.undecided if one in self.claims}


@part
class RewardScoring:
    """Claims questions, submits those that nobody else has claimed, and waits for all of them.

    A claim names the completion that will answer a question before that completion is submitted.
    If the same question comes again, in this request, in another or after a crash, it finds the
    claim and waits for the same completion. A request takes a claim over if its completion had
    failed when the request came, or if its submission was not stored within a minute.
    """

    claims: ClaimRepository
    tasks: TaskService
    submissions: SubmissionService
    completions: CompletionService
    verdicts: VerdictService
    clock: Clock = SYSTEM_CLOCK

    def score(
        self,
        caller: Caller,
        reward_url: RewardUrl,
        questions: Sequence[Question],
        *,
        wait_seconds: float,
    ) -> list[Verdict | None]:
        """Return the verdict on each question, None for those that have none in time.

        Args:
            caller: who bears the reward URL, from ``bearer_of``.
            wait_seconds: how long to wait for verdicts. Scoring goes on after that.

        Raises:
            TaskDeletedError: the task is deleted.
            InvalidRequestError: a question is over a limit of completions; nothing was submitted.
            ConflictError, UnavailableError: as for submissions.
        """
        flow = self._flow(caller, reward_url, questions)
        fingerprints = [one.fingerprint(flow.task, flow.model_id) for one in questions]
        flow.claims |= self.claims.find(flow.questions, self.clock.now())
        missing = self._poll(flow)
        # A failure that was there before this request is scored again; a later one is returned.
        missing += [one for one, verdict in flow.verdicts.items() if verdict.state == "failed"]
        looks = _POLL.looks(self.clock, seconds=wait_seconds)
        while True:
            self._claim_and_submit(flow, missing)
            is_last = next(looks, None) if flow.undecided else None
            if is_last is None:
                return [flow.verdicts.get(one) for one in fingerprints]
            missing = self._poll(flow) if is_last or self._may_have_news(flow) else []

    def _flow(self, caller: Caller, reward_url: RewardUrl, questions: Sequence[Question]) -> _Flow:
        try:
            task = self.tasks.get(caller, reward_url.task_id)
        except NotFoundError as error:
            raise TaskDeletedError("make a reward URL for another task") from error
        model_id = reward_url.model_id
        by_fingerprint = {one.fingerprint(task, model_id): one for one in questions}
        flow = _Flow(caller, task, model_id, by_fingerprint)
        for question in by_fingerprint.values():
            question.completion(task, model_id)  # refuses what cannot be submitted
        return flow

    def _may_have_news(self, flow: _Flow) -> bool:
        """Return whether to read all undecided questions again; one verdict decides that.

        It is the verdict of the last question, because most lists are decided from the first to the
        last. Reading it costs one read unit, while all cost hundreds. While a question is not
        submitted, all are read each time.
        """
        claims = list(flow.open_claims.values())
        if len(claims) < len(flow.undecided):
            return True
        if any(claim.batch_id not in flow.batches for claim in claims):
            return True
        last = claims[-1]
        key = flow.batches[last.batch_id].verdict_keys[last.index]
        return bool(self.verdicts.find_many([key]))

    def _poll(self, flow: _Flow) -> list[str]:
        """Add new verdicts; return the questions that no live submission will decide."""
        self._read_batches(flow)
        claims = flow.open_claims
        submissions = {claim.batch_id: claim.claimed_at for claim in claims.values()}
        lost = {
            batch_id
            for batch_id, claimed_at in submissions.items()
            if self._is_lost(flow, batch_id, claimed_at)
        }
        of_batch = {batch_id: batch.verdict_keys for batch_id, batch in flow.batches.items()}
        keys = {
            one: of_batch[claim.batch_id][claim.index]
            for one, claim in claims.items()
            if claim.batch_id in of_batch and claim.batch_id not in lost
        }
        found = self.verdicts.find_many(keys.values())
        flow.verdicts |= {one: found[key[0]] for one, key in keys.items() if key[0] in found}
        for batch_id in submissions:
            batch = flow.batches.get(batch_id)
            if batch is not None and batch.status != "accepted":
                del flow.batches[batch_id]  # it may change, so it is read again
        return [one for one in flow.undecided if one not in claims or claims[one].batch_id in lost]

    def _read_batches(self, flow: _Flow) -> None:
        """Read batches not yet seen as accepted, and again the claims on those that broke off."""
        wanted = {claim.batch_id for claim in flow.open_claims.values()}
        flow.batches |= self.completions.batches(wanted - flow.batches.keys())
        broken = []
        for one, claim in flow.open_claims.items():
            batch = flow.batches.get(claim.batch_id)
            if batch is None or batch.status in ("interrupted", "given_up"):
                broken.append(one)
        # Since a claim was read, its holder may have released it, or others have taken it over.
        if broken:
            for one in broken:
                del flow.claims[one]
            flow.claims |= self.claims.find(broken, self.clock.now())

    def _is_lost(self, flow: _Flow, batch_id: str, claimed_at: datetime) -> bool:
        """Return whether a submission will never be accepted.

        If its attempt died after all completions were stored, the submission is finished here. If
        the attempt was only slow, it finds that its submission was given up, and queues nothing.
        """
        batch = flow.batches.get(batch_id)
        if batch is not None and batch.status in ("accepted", "given_up"):
            return batch.status == "given_up"
        if self.clock.now() - claimed_at < DURABLE_WITHIN:
            return False
        if batch is None:
            return self.submissions.give_up(flow.task.organization_id, batch_id)
        try:
            return not self.submissions.resume(batch)
        except UnavailableError:  # somebody else is finishing it
            return False

    def _claim_and_submit(self, flow: _Flow, fingerprints: Sequence[str]) -> None:
        """Claim questions, and submit as one batch those that no other request claimed first."""
        if fingerprints:  # a claim costs a write, and a release another
            self.submissions.planner.require_graders(flow.caller, [flow.task])
        key = new_id("req")
        batch_id = derived_id("bat", flow.task.organization_id, key)
        claimed: list[QuestionClaim] = []
        for one in fingerprints:
            claim = QuestionClaim(
                fingerprint=one, batch_id=batch_id, index=len(claimed), claimed_at=self.clock.now()
            )
            before = flow.claims.pop(one, None)
            flow.verdicts.pop(one, None)
            if before is None:
                is_mine = self.claims.add(claim, self.clock.now())
            else:
                is_mine = self.claims.take_over(before, claim)
            if is_mine:
                claimed.append(claim)
                flow.claims[one] = claim
            else:
                flow.claims |= self.claims.find([one], self.clock.now())
        if claimed:
            self._submit(flow, claimed, idempotency_key=key)

    def _submit(
        self, flow: _Flow, claimed: Sequence[QuestionClaim], *, idempotency_key: str
    ) -> None:
        completions = [
            flow.questions[claim.fingerprint].completion(flow.task, flow.model_id)
            for claim in claimed
        ]
        try:
            self.submissions.submit(
                flow.caller,
                completions,
                priority="normal",
                idempotency_key=idempotency_key,
                fenced=True,
            )
        except Exception:
            # After any error the next request need not wait until the claims of this one expire.
            with suppress(UnavailableError, *REFUSALS):  # the first error is raised
                for claim in claimed:
                    released = claim.model_copy(
                        update={"claimed_at": self.clock.now() - DURABLE_WITHIN}
                    )
                    self.claims.take_over(claim, released)
            raise
