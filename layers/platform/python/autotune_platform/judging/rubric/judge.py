"""A language model judges: each question is a row of the ledger, and the run waits for its end.

The model is never asked from here. A row's id follows from what is asked, so that a run after a
crash, or another run for the same completions, finds what was asked and pays nothing twice.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial

from aws_lambda_powertools import Logger

from autotune.protocol.completions import ReasonCode
from autotune.protocol.llm_requests import LlmErrorCode
from autotune.protocol.rubrics import RubricConfiguration
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.rubrics import ANSWER, Rubric
from autotune_platform.completions.models import Completion
from autotune_platform.judging.judge import (
    Awaited,
    Judged,
    NeedsNoPermit,
    Remainder,
    Resumed,
    Round,
)
from autotune_platform.judging.rubric.answers import is_asked_again, read_answer
from autotune_platform.judging.rubric.questions import key_of, question, row_id
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.ordering import Ordered, RowOrders
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    InvalidRequestError,
    NotFoundError,
    TooManyOpenRowsError,
    UnavailableError,
)
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.verdicts.judgements import Judgement

logger = Logger()

_ENQUEUERS = 8
_JUDGED_TOGETHER = 25
_SECONDS_TO_STOP = 15
_FULL_SECONDS = 60
# A run looks again after an eighth of the time that has passed since it asked.
_LOOKS_OF_A_WAIT = 8
_FIRST_LOOK = timedelta(seconds=20)
_LAST_LOOK = timedelta(minutes=15)

_UNREADABLE: frozenset[ReasonCode] = frozenset(
    {"model_answer_unreadable", "model_answer_out_of_range"}
)
_REASONS: Mapping[LlmErrorCode, ReasonCode] = {
    "rejected": "model_rejected",
    "content_filtered": "model_refused",
    "unsupported_in_batch": "model_rejected",
    "canceled": "model_canceled",
    "account": "model_connection_lost",
    "expired": "deadline_exceeded",
    "platform_error": "platform_error",
}
"""Of codes of the ledger; the others are of what was tried five times."""


@dataclass
class _Asking:
    """What one round of questions came to."""

    judgements: dict[str, Judgement] = field(default_factory=dict)
    waiting: dict[str, Awaited] = field(default_factory=dict)
    untried: list[str] = field(default_factory=list)
    wait_seconds: int = 0

    def put_off(self, completion_id: str, seconds: int | None) -> None:
        """Leave a completion for later."""
        self.untried.append(completion_id)
        self.wait_seconds = max(self.wait_seconds, seconds or 1)


@part
class RubricJudge(NeedsNoPermit):
    """Asks models through the ledger, and reads what they answered.

    Args:
        made_orders: returns the ledger's part, which most processes that grade never need.
    """

    made_orders: Callable[[], RowOrders]
    clock: Clock = SYSTEM_CLOCK

    @property
    def orders(self) -> RowOrders:
        """What asks, and finds what was asked."""
        return self.made_orders()

    def resume(self, round_: Round, undecided: Sequence[str]) -> Generator[Judged, None, Resumed]:
        """Yield what rows have come to; return what was never asked, and what is under way."""
        organization_id = round_.asker.organization_id
        uses = cache(lambda: self.orders.money.uses(organization_id))
        unasked: list[str] = []
        waiting: dict[str, Awaited] = {}
        for some in groups(undecided, _JUDGED_TOGETHER):
            ids = {id_: row_id(id_, round_.asker, organization_id) for id_ in some}
            found = self.orders.look(ids.values())
            judgements: dict[str, Judgement] = {}
            for completion_id, ordered_id in ids.items():
                ordered = found.get(ordered_id)
                if ordered is None:
                    unasked.append(completion_id)
                elif ordered.row.has_ended:
                    judgement = _judgement(ordered)
                    if _is_to_be_asked_again(ordered, judgement) and self.orders.ask_again(ordered):
                        waiting[completion_id] = Awaited(
                            self.clock.now() + _FIRST_LOOK, round_.attempt
                        )
                    else:
                        judgements[completion_id] = judgement
                elif self.orders.end_without_money(ordered.row, uses()):
                    judgements[completion_id] = Judgement(reason_code="budget_exhausted")
                else:
                    waiting[completion_id] = self._awaited(ordered.row, round_)
            if judgements:
                yield Judged(
                    asker=round_.asker,
                    judgements=judgements,
                    attempts=round_.attempt,
                    share_reasoning=round_.grader.share_reasoning,
                    stored=partial(
                        self.orders.erase,
                        [id_ for one in judgements for id_ in found[ids[one]].ids],
                    ),
                )
        return Resumed(unasked=unasked, waiting=waiting)

    def judge(
        self, round_: Round, completions: Sequence[Completion]
    ) -> Generator[Judged, None, Remainder]:
        """Have a row asked about each completion; yield those about which none can be."""
        if not completions:
            return Remainder(asked=False)
        asking = _Asking()
        self._ask(round_, completions, asking)
        if asking.judgements:
            yield Judged(asker=round_.asker, judgements=asking.judgements, attempts=round_.attempt)
        return Remainder(
            untried=asking.untried,
            waiting=asking.waiting,
            wait_seconds=asking.wait_seconds,
            asked=len(asking.untried) < len(completions),
        )

    def _ask(self, round_: Round, completions: Iterable[Completion], asking: _Asking) -> None:
        stored = round_.grader.rubric
        assert stored is not None, "a rubric grader has its configuration"
        rubric = Rubric(RubricConfiguration.model_validate(stored), field="rubric")
        organization_id = round_.asker.organization_id
        connection = self.orders.connection(organization_id, rubric.configuration.connection_id)
        try:
            caller = self.orders.caller_for(organization_id)
        except NotFoundError:
            connection = None
        look_at = self.clock.now() + _FIRST_LOOK

        def ask_one(completion: Completion) -> None:
            if connection is None:
                lost = Judgement(reason_code="model_connection_lost")
                asking.judgements[completion.id] = lost
                return
            if round_.seconds_left() < _SECONDS_TO_STOP:
                asking.put_off(completion.id, None)
                return
            key = key_of(completion.id, round_.asker)
            try:
                request = question(rubric, completion, round_, connection)
                self.orders.order(caller, key, request)
            except CompletionFaultError as fault:
                asking.judgements[completion.id] = Judgement(reason_code=fault.reason_code)
            except InvalidRequestError as error:
                # The fields alone: what is expected may quote the text.
                fields = [one.field for one in error.fields]
                logger.warning("question refused", grader_id=round_.grader.id, fields=fields)
                asking.judgements[completion.id] = Judgement(reason_code="model_rejected")
            except TooManyOpenRowsError:
                asking.put_off(completion.id, _FULL_SECONDS)
            except UnavailableError as error:
                asking.put_off(completion.id, error.retry_after_seconds)
            else:
                asking.waiting[completion.id] = Awaited(look_at, round_.attempt)

        in_parallel(ask_one, list(completions), at_most=_ENQUEUERS)

    def _awaited(self, row: Row, round_: Round) -> Awaited:
        """Return when to look at a row again: nobody is woken by its end."""
        now = self.clock.now()
        wait = min(max((now - row.created_at) / _LOOKS_OF_A_WAIT, _FIRST_LOOK), _LAST_LOOK)
        return Awaited(now + wait, round_.attempt)


def _is_to_be_asked_again(ordered: Ordered, judgement: Judgement) -> bool:
    """Return whether an answer cannot be read, and its question says that it is asked again then.

    It is read as it was asked, whatever its grader's configuration is by now.
    """
    if ordered.asked is None or judgement.reason_code not in _UNREADABLE:
        return False
    return is_asked_again(ordered.asked.input["variables"][ANSWER])


def _judgement(ordered: Ordered) -> Judgement:
    """Return what a row that has ended says of its completion."""
    row = ordered.row
    version = row.labels.get("version") or None
    reason: ReasonCode | None = None
    if row.status != "completed":
        code = row.error.code if row.error else ""
        reason = next((one for name, one in _REASONS.items() if name == code), "model_unavailable")
    elif row.finish_reason == "refusal":
        reason = "model_refused"
    elif ordered.asked is None or ordered.answered is None:
        reason = "platform_error"
    if reason is not None or ordered.asked is None or ordered.answered is None:
        return Judgement(reason_code=reason)
    latency = round((row.updated_at - row.created_at).total_seconds() * 1000)
    form = ordered.asked.input["variables"][ANSWER]
    try:
        score = read_answer(ordered.answered.raw_output, form)
    except CompletionFaultError as fault:
        return Judgement(
            reason_code=fault.reason_code, reported_version=version, grader_latency_ms=latency
        )
    return Judgement(score=score, reported_version=version, grader_latency_ms=latency)
