"""A language model judges: each question is a row of the ledger, and the run waits for its end.

The model is never asked from here. A row's id follows from what is asked, so that a run after a
crash, or another run for the same completions, finds what was asked and pays nothing twice.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial

from aws_lambda_powertools import Logger

from autotune.protocol.completions import ReasonCode
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.rubrics import ANSWER
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
from autotune_platform.judging.rubric.level_scoring import ASKED, level_judgement
from autotune_platform.judging.rubric.levels import read_levels, reason_of, repair_notice
from autotune_platform.judging.rubric.questions import Questions, key_of, row_id
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
                    if self._is_asked_again(ordered, judgement):
                        waiting[completion_id] = Awaited(
                            self.clock.now() + _FIRST_LOOK, round_.attempt
                        )
                    else:
                        judgements[completion_id] = judgement
                elif self.orders.end_without_money(ordered.row, uses()):
                    judgements[completion_id] = Judgement(
                        reason_code="budget_exhausted", source_request_id=ordered.row.id
                    )
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
        organization_id = round_.asker.organization_id
        connection = self.orders.connection(organization_id, stored["connectionId"])
        try:
            caller = self.orders.caller_for(organization_id)
        except NotFoundError:
            connection = None
        if connection is None:
            lost = Judgement(reason_code="model_connection_lost")
            asking.judgements |= {completion.id: lost for completion in completions}
            return
        questions = Questions(round_, connection)
        look_at = self.clock.now() + _FIRST_LOOK

        def ask_one(completion: Completion) -> None:
            if round_.seconds_left() < _SECONDS_TO_STOP:
                asking.put_off(completion.id, None)
                return
            try:
                asked = questions.about(completion)
            except CompletionFaultError as fault:
                asked = Judgement(reason_code=fault.reason_code)
            if isinstance(asked, Judgement):
                asking.judgements[completion.id] = asked
            elif self._ordered(caller, completion, round_, asked, asking):
                asking.waiting[completion.id] = Awaited(look_at, round_.attempt)

        in_parallel(ask_one, list(completions), at_most=_ENQUEUERS)

    def _ordered(
        self,
        caller: Caller,
        completion: Completion,
        round_: Round,
        request: EnqueueLlmRequest,
        asking: _Asking,
    ) -> bool:
        """Have a row asked about a completion; return whether it is, and note what else it is."""
        try:
            self.orders.order(caller, key_of(completion.id, round_.asker), request)
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
            return True
        return False

    def _is_asked_again(self, ordered: Ordered, judgement: Judgement) -> bool:
        """Ask once more where an answer cannot be read and more can come of that; return whether.

        It is read as it was asked, whatever its grader's configuration is by now.
        """
        if ordered.asked is None:
            return False
        variables = ordered.asked.input["variables"]
        if ASKED in variables:
            fault = read_levels(ordered.row, ordered.answered).fault
            return fault is not None and self.orders.ask_again(
                ordered, notice=repair_notice(fault), at_most=1
            )
        return (
            judgement.reason_code in _UNREADABLE
            and is_asked_again(variables[ANSWER])
            and self.orders.ask_again(ordered)
        )

    def _awaited(self, row: Row, round_: Round) -> Awaited:
        """Return when to look at a row again: nobody is woken by its end."""
        now = self.clock.now()
        wait = min(max((now - row.created_at) / _LOOKS_OF_A_WAIT, _FIRST_LOOK), _LAST_LOOK)
        return Awaited(now + wait, round_.attempt)


def _judgement(ordered: Ordered) -> Judgement:
    """Return what a row that has ended says of its completion."""
    row = ordered.row
    version = row.labels.get("version") or None
    reason: ReasonCode | None = None
    if row.status != "completed":
        reason = reason_of(row.error.code if row.error else "")
    elif row.finish_reason == "refusal":
        reason = "model_refused"
    elif ordered.asked is None or ordered.answered is None:
        reason = "platform_error"
    if reason is not None or ordered.asked is None or ordered.answered is None:
        return Judgement(reason_code=reason, source_request_id=row.id)
    latency = round((row.updated_at - row.created_at).total_seconds() * 1000)
    variables = ordered.asked.input["variables"]
    if ASKED in variables:
        return level_judgement(
            read_levels(row, ordered.answered),
            variables,
            version=version,
            latency_ms=latency,
            request_id=row.id,
        )
    try:
        score = read_answer(ordered.answered.raw_output, variables[ANSWER])
    except CompletionFaultError as fault:
        return Judgement(
            reason_code=fault.reason_code,
            reported_version=version,
            grader_latency_ms=latency,
            source_request_id=row.id,
        )
    return Judgement(
        score=score,
        reported_version=version,
        grader_latency_ms=latency,
        source_request_id=row.id,
    )
