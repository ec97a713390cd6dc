"""From the opinions of a panel's members, and a reviewer's answer, to the panel's verdict.

Everything follows from what is stored: opinions first, then a review where the policy asks for
one, then the verdict. Resolving a panel again, after a crash or beside another run, comes to the
same result and changes nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from autotune.protocol.completions import DecidedBy
from autotune.protocol.reviews import ReviewReason
from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.models import Preliminary, Review, draw, review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.scoring.aggregation import Outcome, outcome_of
from autotune_platform.verdicts.models import CompletionHeader, Opinion, Verdict, VerdictKey
from autotune_platform.verdicts.panels import Panel, PanelRecords
from autotune_platform.verdicts.service import VerdictService

_CONCURRENT_WRITES = 4
_UNANSWERED = Outcome("failed", reason_code="review_expired")


@dataclass(frozen=True)
class _Case:
    """A completion without a verdict of which all is known, or that a person judges alone.

    Attributes:
        opinions: one of each member in the panel's order; none where a person is the member.
        outcome: what they come to; None where there are none.
        reason: why a person is to look at it, None where nobody has to.
    """

    completion: CompletionHeader
    panel: Panel
    opinions: list[Verdict]
    outcome: Outcome | None
    reason: ReviewReason | None

    @property
    def review_id(self) -> str:
        return review_id(self.completion.id, self.panel.id, self.completion.generation)

    @property
    def is_without_person(self) -> bool:
        """Whether a person was to judge alone and cannot any more: else they have no opinion."""
        return self.panel.is_human and self.outcome is not None


@part
class PanelResolver:
    """Writes panels' verdicts where all is known, and asks a person where the policy says so."""

    verdicts: VerdictService
    panels: PanelRecords
    reviews: ReviewRecords
    clock: Clock = SYSTEM_CLOCK

    def resolve(
        self, headers: Mapping[str, CompletionHeader], *, run_id: str | None
    ) -> dict[str, datetime]:
        """Write final verdicts where all is known; return what waits for a person, and until when.

        Completions of no panel, those that have a verdict and those that still miss a member's
        opinion are left alone.

        Args:
            headers: completions, by id.
            run_id: the run to be woken when a person has answered what is asked now.
        """
        cases = list(self._cases(headers))
        asked = {case.review_id: case for case in cases if case.reason is not None}
        reviews = self.reviews.find_many(asked) if asked else {}
        waiting: dict[str, datetime] = {}

        def resolve_one(case: _Case) -> None:
            review = reviews.get(case.review_id)
            if case.is_without_person:
                # Closed first: an answer that was just accepted counts.
                closed = self.reviews.expire(review) if review is not None else None
                if closed is None or closed.answer is None:
                    self._decide(case)
                    return
                review = closed
            if case.reason is not None and review is None:
                now = self.clock.now()
                review = _request(case, run_id, now)
                if review.expires_at <= now:  # nobody could answer in time
                    self._decide(case, _on_expiry(case, review), "expiry")
                    return
                review = self.reviews.request(review)
            if review is None:
                self._decide(case)
                return
            until = self._apply(case, review)
            if until is not None:
                waiting[case.completion.id] = until

        in_parallel(resolve_one, cases, at_most=_CONCURRENT_WRITES)
        return waiting

    def _cases(self, headers: Mapping[str, CompletionHeader]) -> Iterator[_Case]:
        panels = self.panels.get_many(header.grader_id for header in headers.values())
        judged = {
            id_: panels[one.grader_id] for id_, one in headers.items() if one.grader_id in panels
        }
        generations = {id_: headers[id_].generation for id_ in judged}
        decided = self.verdicts.find_many(
            VerdictKey(id_, panel.id, panel.version, generations[id_])
            for id_, panel in judged.items()
        )
        left = {id_: panel for id_, panel in judged.items() if id_ not in decided}
        opinions = self.verdicts.opinions_of(left.items(), generations)
        for id_, panel in left.items():
            given = opinions.get(id_, [])
            if len(given) == len(panel.members):
                outcome = outcome_of(panel, given)
                human: ReviewReason | None = "human" if panel.is_human else None
                reason = human or reason_for_review(panel, id_, outcome, given)
                yield _Case(headers[id_], panel, given, outcome, reason)
            elif panel.is_human:
                yield _Case(headers[id_], panel, [], None, "human")

    def _apply(self, case: _Case, review: Review) -> datetime | None:
        """Write the verdict that a review comes to; return until when it waits for an answer."""
        if review.state == "open" and review.expires_at <= self.clock.now():
            review = self.reviews.expire(review)
        if review.state == "open":
            return review.expires_at
        if review.correctable_until is not None:
            if review.correctable_until > self.clock.now():
                return review.correctable_until
            review = self.reviews.seal(review)
        if review.answer is not None:
            answer = review.answer
            self._ask_another(case, review)
            outcome = Outcome("scored", answer.value, answer.confidence, answer.dimensions)
            self._decide(
                case, outcome, "person", review_id=review.id, reasoning=answer.explanation or None
            )
        else:
            self._decide(case, _on_expiry(case, review), "expiry", review_id=review.id)
        return None

    def _ask_another(self, case: _Case, review: Review) -> None:
        """Ask for a second opinion where one was drawn: before the verdict, or nobody would."""
        if review.second_id is None:
            return
        policy, now = case.panel.review or ReviewPolicy(), self.clock.now()
        expires_at = now + timedelta(seconds=policy.expires_after_seconds)
        self.reviews.request(review.second_opinion(created_at=now, expires_at=expires_at))

    def _decide(
        self,
        case: _Case,
        outcome: Outcome | None = None,
        decided_by: DecidedBy | None = None,
        *,
        review_id: str | None = None,
        reasoning: str | None = None,
    ) -> None:
        outcome = outcome or case.outcome or _UNANSWERED
        completion = case.completion
        is_own = outcome is case.outcome and len(case.opinions) == 1
        alone = case.opinions[0] if is_own else None
        self.verdicts.add(
            Verdict(
                completion_id=completion.id,
                organization_id=completion.organization_id,
                batch_id=completion.batch_id,
                index=completion.index,
                alone=completion.alone,
                task_id=completion.task_id,
                model_id=completion.model_id,
                grader_id=completion.grader_id,
                grader_version=completion.grader_version,
                generation=completion.generation,
                state=outcome.state,
                value=outcome.value,
                confidence=outcome.confidence,
                dimensions=outcome.dimensions,
                reasoning=alone.reasoning if alone else reasoning,
                reason_code=outcome.reason_code,
                reported_version=alone.reported_version if alone else None,
                grader_latency_ms=alone.grader_latency_ms if alone else None,
                source_request_id=alone.source_request_id if alone else None,
                attempts=max((opinion.attempts for opinion in case.opinions), default=0),
                opinions=_opinions(case),
                decided_by=decided_by or ("grader" if alone else "panel"),
                review_id=review_id,
                submitted_at=completion.started_at,
                decided_at=self.clock.now(),
            )
        )


def _request(case: _Case, run_id: str | None, now: datetime) -> Review:
    assert case.reason is not None
    policy = case.panel.review or ReviewPolicy()
    completion, outcome = case.completion, case.outcome
    expires_at = now + timedelta(seconds=policy.expires_after_seconds)
    return Review(
        id=case.review_id,
        organization_id=completion.organization_id,
        completion_id=completion.id,
        batch_id=completion.batch_id,
        task_id=completion.task_id,
        panel_id=case.panel.id,
        generation=completion.generation,
        run_id=run_id,
        reason=case.reason,
        preliminary=Preliminary(
            state=outcome.state,
            value=outcome.value,
            confidence=outcome.confidence,
            dimensions=outcome.dimensions,
            opinions=_opinions(case),
        )
        if outcome
        else None,
        instructions=policy.instructions,
        created_at=now,
        expires_at=min(expires_at, completion.deadline),
        on_expiry=policy.on_expiry,
    )


def _on_expiry(case: _Case, review: Review) -> Outcome:
    match review.on_expiry:
        case "keep" if case.outcome is not None and case.outcome.state == "scored":
            return case.outcome
        case "abstain":
            return Outcome("abstained")
        case _:
            return _UNANSWERED


def _opinions(case: _Case) -> list[Opinion]:
    return [
        Opinion(
            grader_id=opinion.grader_id,
            grader_version=opinion.answered_version,
            weight=member.weight,
            state=opinion.state,
            value=opinion.value,
            confidence=opinion.confidence,
            reason_code=opinion.reason_code,
            source_request_id=opinion.source_request_id,
        )
        for member, opinion in zip(case.panel.members, case.opinions, strict=False)
    ]


# 0.9 - 0.6 is meant to be no more than 0.3.
_ROUNDING = 1e-9


def reason_for_review(
    panel: Panel, completion_id: str, outcome: Outcome, opinions: Sequence[Verdict]
) -> ReviewReason | None:
    """Return why a person is to look at what graders answered; None where nobody has to.

    The answer follows from the arguments alone, so that a repetition comes to the same.
    """
    policy = panel.review
    if policy is None:
        return None
    if policy.confidence_below is not None and outcome.state in ("scored", "abstained"):
        # Who abstains is sure of nothing; what failed is sent to nobody for that, because an
        # outage would send everything.
        confidence = outcome.confidence or 0.0
        if confidence < policy.confidence_below and not _same(confidence, policy.confidence_below):
            return "low_confidence"
    if policy.disagreement_above is not None:
        spread = _spread(opinions)
        if spread > policy.disagreement_above and not _same(spread, policy.disagreement_above):
            return "disagreement"
    if policy.sampled_share is not None and draw("review", completion_id) < policy.sampled_share:
        return "sampled"
    return None


def _spread(opinions: Sequence[Verdict]) -> float:
    values = [opinion.value for opinion in opinions if opinion.value is not None]
    return max(values) - min(values) if values else 0.0


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=0, abs_tol=_ROUNDING)
