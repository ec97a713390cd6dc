"""How far reviewers of the same agree, with each other and with graders, and what each did."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta

from autotune.protocol.review_figures import AgreementWindow, ReviewAgreement, ReviewerProgress
from autotune_platform.access.models import Caller
from autotune_platform.judging.human.figures import (
    LEVELS,
    MILLIONTHS,
    TOLERANCE,
    ReviewFigures,
    pair_name,
)
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

_DAYS: Mapping[AgreementWindow, int] = {"1d": 1, "7d": 7, "30d": 30, "90d": 90}


@part
class ReviewAgreements:
    """Reads figures of an organisation's reviews from their counts."""

    figures: ReviewFigures
    clock: Clock = SYSTEM_CLOCK

    def of(
        self,
        caller: Caller,
        *,
        task_id: str | None,
        grader_id: str | None,
        window: AgreementWindow,
    ) -> ReviewAgreement:
        """Return how far two people agree, or a grader and people; of another's there is none.

        Raises:
            InvalidRequestError: both a task and a grader are named.
        """
        if task_id is not None and grader_id is not None:
            raise InvalidRequestError.of_field("graderId", "no taskId beside it")
        today = self.clock.now().astimezone(UTC).date()
        first_day = today - timedelta(days=_DAYS[window] - 1)
        counts = self.figures.agreement(
            caller.organization_id, task_id or grader_id, first_day=first_day, last_day=today
        )
        pairs, within = counts.get("pairs", 0), counts.get("within", 0)
        return ReviewAgreement(
            task_id=task_id,
            grader_id=grader_id,
            window=window,
            since=datetime.combine(first_day, time(), UTC),
            pairs=pairs,
            tolerance=TOLERANCE,
            within_tolerance=within,
            share_within_tolerance=within / pairs if pairs else None,
            mean_absolute_difference=counts.get("difference", 0) / pairs / MILLIONTHS
            if pairs
            else None,
            weighted_kappa=weighted_kappa(counts),
        )

    def progress(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[ReviewerProgress], str | None]:
        """Return what people did: a reviewer's own, and everybody's for whoever assigns reviews.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        now, organization_id = self.clock.now(), caller.organization_id
        if caller.role == "reviewer":
            return [self.figures.of_one(organization_id, caller.principal_id, now)], None
        return self.figures.of_all(organization_id, now, limit=limit, next_token=next_token)


def weighted_kappa(counts: Mapping[str, int]) -> float | None:
    """Return Cohen's kappa with quadratic weights (Cohen 1968, doi:10.1037/h0026256).

    It is 1 - observed / expected, where both are means of the squared distance of two levels: over
    the pairs as they are, and over all pairs of one answer and another.

    Args:
        counts: how many pairs there are of each two levels, by ``pair_name``.

    Returns:
        None without pairs, and where every answer is of the same level: chance explains all then.
    """
    levels = range(LEVELS)
    cells = {(a, b): counts.get(pair_name(a, b), 0) for a in levels for b in levels}
    total = sum(cells.values())
    firsts = [sum(cells[a, b] for b in levels) for a in levels]
    seconds = [sum(cells[a, b] for a in levels) for b in levels]
    observed = sum(number * (a - b) ** 2 for (a, b), number in cells.items()) * total
    expected = sum(firsts[a] * seconds[b] * (a - b) ** 2 for a, b in cells)
    return 1 - observed / expected if expected else None
