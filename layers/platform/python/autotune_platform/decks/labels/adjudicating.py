"""Where people are apart: another person decides, who has seen no judge's result."""

from autotune.protocol.deck_feedback import AdjudicateRequest, TruthState
from autotune_platform.access.models import Caller
from autotune_platform.decks.labels.deriving import with_adjudication
from autotune_platform.decks.labels.drifting import DriftWatch
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Adjudication, Lease, Truth, criteria_digest
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import (
    LabelRepository,
    give_back,
    nothing_shown,
    put_adjudication,
    put_truth,
)
from autotune_platform.decks.models import DeckGrader, GraderVersion
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 8


@part
class AdjudicationService:
    """Lists ground truths, and has people decide those that ratings leave open."""

    graders: LabelledGraders
    samples: SamplePool
    labels: LabelRepository
    watch: DriftWatch
    clock: Clock = SYSTEM_CLOCK

    def adjudicate(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        sample_id: str,
        request: AdjudicateRequest,
    ) -> tuple[Truth, str]:
        """Decide what counts as true of a sample; what was decided before stays on record.

        Returns:
            The truth, and the digest of the grader's current criteria.

        Raises:
            NotFoundError: there is no such deck, grader or sample, or it is another
                organisation's.
            InvalidRequestError: the grader has no such version, or they were not shown it.
            ConflictError: there is nothing to decide, the caller has seen the judge's result, or
                somebody else holds the sample.
            UnavailableError: others keep changing the same truth.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        version = self.graders.version(grader, request.version)
        current = self.graders.criteria(grader)
        for _ in BUSY.attempts(_ATTEMPTS):
            truth = self._decided(caller, grader, version, sample_id, request, current)
            if truth is not None:
                return truth, current
        raise UnavailableError("others are changing the same truth", retry_after_seconds=1)

    def list(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        state: TruthState | None,
        to_review: bool,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[Truth], str, str | None]:
        """Return a page of truths, the digest of the current criteria, and the next page's token.

        Args:
            state: in this state alone.
            to_review: those alone that rest on words given under other criteria.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        current = self.graders.criteria(grader)
        truths, token = self.labels.truth_page(grader.id, limit=limit, next_token=next_token)
        wanted = [
            truth
            for truth in truths
            if state in {None, truth.state} and (not to_review or truth.rests_on_other(current))
        ]
        return wanted, current, token

    def _decided(
        self,
        caller: Caller,
        grader: DeckGrader,
        version: GraderVersion,
        sample_id: str,
        request: AdjudicateRequest,
        current: str,
    ) -> Truth | None:
        truth = self.labels.truth(grader.id, sample_id)
        if truth is None:
            self.samples.get(grader.deck_id, sample_id)
            raise ConflictError("nobody has rated this sample yet")
        if truth.adjudication and _is_repeated(truth.adjudication, caller, request):
            return truth
        own = self._own_lease(caller, grader, sample_id)
        if self.labels.shown(grader.id, [(sample_id, caller.principal_id)]):
            raise ConflictError(
                "you were shown the judge's result of this sample; somebody who was not decides"
            )
        _require_open(truth, current)
        given = [] if own is None else [own.version]
        self.graders.require_shown(grader, version.version, *given)
        adjudication = Adjudication(
            score=request.score,
            version=version.version,
            criteria=criteria_digest(version.rubric),
            saw_result=False,
            at=self.clock.now(),
            by=caller.principal_id,
            explanation=request.explanation,
        )
        after = with_adjudication(truth, adjudication)
        writes = [
            put_truth(after, revision=truth.revision),
            put_adjudication(after, adjudication),
            nothing_shown(grader.id, sample_id, caller.principal_id),
        ]
        if own is not None:
            writes.append(give_back(grader.id, own))
        if not self.labels.store(writes):
            return None
        if truth.state == "to_adjudicate" and after.counts:
            self.watch.after_label(grader, sample_id)
        return after

    def _own_lease(self, caller: Caller, grader: DeckGrader, sample_id: str) -> Lease | None:
        """Return the caller's lease; one that ran out is theirs while nobody else takes it.

        Raises:
            ConflictError: somebody else holds the sample, or a reviewer was not given it.
        """
        lease = self.labels.lease(grader.id, sample_id)
        if lease is not None and lease.holder == caller.principal_id:
            return lease
        if lease is not None and lease.until > self.clock.unix():
            raise ConflictError("another person has this sample at the moment")
        if caller.role == "reviewer":
            raise ConflictError("a reviewer decides on samples that feedback/next gave them")
        return None


def _require_open(truth: Truth, current: str) -> None:
    """Require that there is something to decide.

    Of what claims rest on, the first decision counts: who decides again may have read them.

    Raises:
        ConflictError: there is not.
    """
    if truth.rests_on_other(current):
        return
    if truth.adjudication is not None and truth.was_drawn:
        raise ConflictError(
            "this sample is decided; of held-out samples that were drawn, the first decision under "
            "the same criteria counts"
        )
    if truth.adjudication is None and truth.state != "to_adjudicate" and not truth.is_corrected:
        raise ConflictError("people agree on this sample, under the current criteria")


def _is_repeated(decided: Adjudication, caller: Caller, request: AdjudicateRequest) -> bool:
    said = (decided.by, decided.score, decided.explanation)
    return said == (caller.principal_id, request.score, request.explanation)
