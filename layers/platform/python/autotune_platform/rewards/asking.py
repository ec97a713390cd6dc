"""Having questions scored, each of them once, whoever asks it however often within a day."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.access.models import Caller
from autotune_platform.completions.models import Batch
from autotune_platform.completions.service import CompletionService
from autotune_platform.completions.submission import SubmissionService
from autotune_platform.rewards.models import Question, RewardUrl
from autotune_platform.rewards.repository import Claim, ClaimRepository
from autotune_platform.rewards.submitting import completion_of
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.errors import (
    NotFoundError,
    TaskDeletedError,
    UnavailableError,
)
from autotune_platform.tasks.models import Task
from autotune_platform.tasks.service import TaskService
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.service import VerdictService

DURABLE_WITHIN = timedelta(minutes=1)
"""How long a claim may point to a submission that is not there, before its attempt seems dead."""

_FIRST_POLL_SECONDS = 0.1
_POLL_SECONDS = 1.0
_SLOWEST_POLL_SECONDS = 5.0
# Who has waited for half a minute hears of a verdict a thirtieth of that later than it could.
_POLLS_OF_A_WAIT = 30


@dataclass
class _Course:
    """One request on its way: what it asks, by fingerprint, and what is known of it."""

    caller: Caller
    task: Task
    model_id: str
    questions: Mapping[str, Question]
    claims: dict[str, Claim] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def undecided(self) -> list[str]:
        return [one for one in self.questions if one not in self.verdicts]

    @property
    def open_claims(self) -> dict[str, Claim]:
        """Claims of what is undecided, as they were read last."""
        return {one: self.claims[one] for one in self.undecided if one in self.claims}


class Asking:
    """Claims questions, submits those that nobody else has claimed, and waits for all.

    A claim names the completion that answers a question before there is one. Whoever asks the same
    meanwhile, in this request, in another, or after a crash, finds the claim and waits for that
    completion. A claim is taken over where its completion failed before the request came, or where
    its submission was not stored within a minute.
    """

    def __init__(
        self,
        *,
        claims: ClaimRepository,
        tasks: TaskService,
        submissions: SubmissionService,
        completions: CompletionService,
        verdicts: VerdictService,
    ) -> None:
        self._claims = claims
        self._tasks = tasks
        self._submissions = submissions
        self._completions = completions
        self._verdicts = verdicts
        self.now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def ask(
        self, reward_url: RewardUrl, questions: Sequence[Question], *, wait_seconds: float
    ) -> list[Verdict | None]:
        """Return the verdict on each question, None where there is none in time.

        Args:
            wait_seconds: how long to wait for verdicts; what is asked goes on after that.

        Raises:
            TaskDeletedError: the task is gone.
            InvalidRequestError: a question is over a limit of completions; nothing was asked.
            ConflictError, UnavailableError: as for submissions.
        """
        began = time.monotonic()
        deadline = began + wait_seconds
        course = self._course(reward_url, questions)
        fingerprints = [one.fingerprint(course.task, course.model_id) for one in questions]
        course.claims |= self._claims.find(course.questions, self.now())
        missing = self._look(course)
        # A failure that this request waited for is told; one that it finds is asked about anew.
        missing += [one for one, verdict in course.verdicts.items() if verdict.state == "failed"]
        pause = _FIRST_POLL_SECONDS
        while True:
            self._ask_anew(course, missing)
            left = deadline - time.monotonic()
            if not course.undecided or left <= 0:
                return [course.verdicts.get(one) for one in fingerprints]
            time.sleep(min(pause, left))
            waited = time.monotonic() - began
            slowest = min(waited / _POLLS_OF_A_WAIT, _SLOWEST_POLL_SECONDS)
            pause = min(pause * 2, max(slowest, _POLL_SECONDS))
            is_over = time.monotonic() >= deadline
            missing = self._look(course) if is_over or self._is_worth_a_look(course) else []

    def _course(self, reward_url: RewardUrl, questions: Sequence[Question]) -> _Course:
        caller = caller_of(reward_url)
        try:
            task = self._tasks.get(caller, reward_url.task_id)
        except NotFoundError as error:
            raise TaskDeletedError("make a reward URL for another task") from error
        model_id = reward_url.model_id
        by_fingerprint = {one.fingerprint(task, model_id): one for one in questions}
        course = _Course(caller, task, model_id, by_fingerprint)
        for question in by_fingerprint.values():
            completion_of(question, course.task, course.model_id)
        return course

    def _is_worth_a_look(self, course: _Course) -> bool:
        """Tell by one question whether all are to be looked at again.

        It is the last one, because most lists are decided from the first on: it costs a unit where
        all cost hundreds. What is not submitted yet is worth a look each time.
        """
        claims = list(course.open_claims.values())
        if len(claims) < len(course.undecided):
            return True
        if any(claim.batch_id not in course.batches for claim in claims):
            return True
        last = claims[-1]
        place = course.batches[last.batch_id].verdict_keys[last.place]
        return bool(self._verdicts.find_many([place]))

    def _look(self, course: _Course) -> list[str]:
        """Add verdicts that have come; return what nobody is on the way to decide."""
        self._read_batches(course)
        claims = course.open_claims
        submissions = {claim.batch_id: claim.claimed_at for claim in claims.values()}
        lost = {
            batch_id
            for batch_id, claimed_at in submissions.items()
            if self._is_lost(course, batch_id, claimed_at)
        }
        keys = {batch_id: batch.verdict_keys for batch_id, batch in course.batches.items()}
        places = {
            one: keys[claim.batch_id][claim.place]
            for one, claim in claims.items()
            if claim.batch_id in keys and claim.batch_id not in lost
        }
        found = self._verdicts.find_many(places.values())
        course.verdicts |= {one: found[key[0]] for one, key in places.items() if key[0] in found}
        for batch_id in submissions:
            batch = course.batches.get(batch_id)
            if batch is not None and batch.status != "accepted":
                del course.batches[batch_id]  # as it was: it is read again
        return [
            one for one in course.undecided if one not in claims or claims[one].batch_id in lost
        ]

    def _read_batches(self, course: _Course) -> None:
        """Read the batches that are not known to be accepted, and claims on those that broke."""
        wanted = {claim.batch_id for claim in course.open_claims.values()}
        course.batches |= self._completions.batches(wanted - course.batches.keys())
        broken = []
        for one, claim in course.open_claims.items():
            batch = course.batches.get(claim.batch_id)
            if batch is None or batch.status in ("interrupted", "given_up"):
                broken.append(one)
        # Since a claim was read, who had it may have aged it, and others may have taken it over.
        if broken:
            for one in broken:
                del course.claims[one]
            course.claims |= self._claims.find(broken, self.now())

    def _is_lost(self, course: _Course, batch_id: str, claimed_at: datetime) -> bool:
        """Tell whether a submission will never be; one whose attempt died late is finished here.

        An attempt that was only slow finds that it was given up, and queues nothing.
        """
        batch = course.batches.get(batch_id)
        if batch is not None and batch.status in ("accepted", "given_up"):
            return batch.status == "given_up"
        if self.now() - claimed_at < DURABLE_WITHIN:
            return False
        if batch is None:
            return self._submissions.give_up(course.task.organization_id, batch_id)
        try:
            return not self._submissions.resume(batch)
        except UnavailableError:  # somebody else is finishing it
            return False

    def _ask_anew(self, course: _Course, fingerprints: Sequence[str]) -> None:
        """Claim questions, and submit as one batch those that no other request claimed first."""
        if fingerprints:  # claims cost a write each, and two where nothing comes of them
            self._submissions.require_graders(course.caller, [course.task])
        key = new_id("req")
        batch_id = derived_id("bat", course.task.organization_id, key)
        claimed: list[Claim] = []
        for one in fingerprints:
            claim = Claim(
                fingerprint=one, batch_id=batch_id, place=len(claimed), claimed_at=self.now()
            )
            before = course.claims.pop(one, None)
            course.verdicts.pop(one, None)
            if self._claim(before, claim):
                claimed.append(claim)
                course.claims[one] = claim
            else:
                course.claims |= self._claims.find([one], self.now())
        if claimed:
            self._submit(course, claimed, idempotency_key=key)

    def _claim(self, before: Claim | None, claim: Claim) -> bool:
        if before is None:
            return self._claims.add(claim, self.now())
        return self._claims.take_over(before, claim)

    def _submit(self, course: _Course, claimed: Sequence[Claim], *, idempotency_key: str) -> None:
        asked = [
            completion_of(course.questions[claim.fingerprint], course.task, course.model_id)
            for claim in claimed
        ]
        try:
            self._submissions.submit(
                course.caller,
                asked,
                priority="normal",
                idempotency_key=idempotency_key,
                fenced=True,
            )
        except Exception:
            # Whatever it was: who asks again need not wait until this attempt would be over.
            with suppress(UnavailableError, *REFUSALS):  # this error is the one to tell
                self._age(claimed)
            raise

    def _age(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            aged = claim.model_copy(update={"claimed_at": self.now() - DURABLE_WITHIN})
            self._claims.take_over(claim, aged)


def caller_of(reward_url: RewardUrl) -> Caller:
    """Return as whom the bearer of a reward URL asks."""
    return Caller(
        key_id=reward_url.id,
        organization_id=reward_url.organization_id,
        principal_id=reward_url.id,
        role="training_operator",
        request_id=new_id("req"),
        by_link=True,
    )
