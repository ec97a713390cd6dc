"""What callers ask of money: what was spent, what may be, and what requests would cost at most."""

from collections import Counter, defaultdict
from datetime import date

from autotune.protocol import llm_batches as wire
from autotune.protocol.limits import MAX_LLM_ATTEMPTS, MAX_LLM_REASKS
from autotune.protocol.llm_connections import nano_usd
from autotune_platform.access.models import Caller
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.ledger.costs import NO_ID, CostRepository
from autotune_platform.ledger.planning import PlannedRow, RowPlanner
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

MOST_COST_DAYS = 400


@part
class SpendingService:
    """Shows an organisation's costs, and keeps its budget."""

    planner: RowPlanner
    costs: CostRepository
    money: MoneyBudgets

    def spent(
        self,
        caller: Caller,
        *,
        group_by: wire.LlmCostGroup,
        trace_field: wire.LlmTraceField | None,
        first: date,
        last: date,
    ) -> list[wire.LlmCost]:
        """Return what was spent on some days, by day and group.

        Raises:
            InvalidRequestError: the days are in no order, or too many, or it is not said which id
                of traces costs are grouped by.
        """
        if (group_by == "trace") != (trace_field is not None):
            raise InvalidRequestError.of_field(
                "traceField", "given with groupBy=trace, and only then"
            )
        if last < first:
            raise InvalidRequestError.of_field("to", "a day that is not before from")
        if (last - first).days >= MOST_COST_DAYS:
            raise InvalidRequestError.of_field("from", f"at most {MOST_COST_DAYS} days before to")
        if trace_field is not None:
            name = {"experimentId": "experiment_id", "rubricId": "rubric_id"}[trace_field]
            return self._traced(caller.organization_id, name, first, last)
        sums: dict[tuple[str, str], wire.LlmCost] = {}
        for one in self.costs.between(caller.organization_id, first, last):
            names = {
                "day": one.day,
                "model": one.model,
                "purpose": one.purpose,
                "connection": one.connection_id,
            }
            key = (one.day, names[group_by])
            before = sums.get(key) or wire.LlmCost(day=key[0], group=key[1])
            sums[key] = before.model_copy(
                update={
                    name: getattr(before, name) + getattr(one, name)
                    for name in wire.LLM_COST_NUMBERS
                }
            )
        return [sums[key] for key in sorted(sums)]

    def _traced(
        self, organization_id: str, name: str, first: date, last: date
    ) -> list[wire.LlmCost]:
        # In this order: what is settled between the two reads is in the whole day's sum for sure.
        traced = self.costs.traced_between(organization_id, name, first, last)
        rest: dict[str, Counter[str]] = defaultdict(Counter)
        for whole in self.costs.between(organization_id, first, last):
            rest[whole.day].update(
                {field: getattr(whole, field) for field in wire.LLM_COST_NUMBERS}
            )
        for one in traced:
            rest[one.day].subtract({field: getattr(one, field) for field in wire.LLM_COST_NUMBERS})
        found = [
            wire.LlmCost(group=one.trace_id, **one.model_dump(exclude={"trace_id"}))
            for one in traced
        ]
        found += [
            wire.LlmCost(day=day, group=NO_ID, **numbers)
            for day, numbers in rest.items()
            if any(numbers.values())
        ]
        return sorted(found, key=lambda one: (one.day, one.group))

    def budget(self, caller: Caller) -> wire.LlmBudget:
        """Return the organisation's budget, and what its present periods have used."""
        uses = self.money.uses(caller.organization_id)
        limits = {f"{use.period}_usd": _usd(use.limit) for use in uses}
        periods = [
            wire.LlmBudgetUse(
                period=use.period,
                name=use.name,
                limit_nano_usd=use.limit,
                spent_nano_usd=use.spent,
                reserved_nano_usd=use.reserved,
            )
            for use in uses
        ]
        return wire.LlmBudget(limits=wire.LlmBudgetLimits.model_validate(limits), periods=periods)

    def set_budget(self, caller: Caller, limits: wire.LlmBudgetLimits) -> wire.LlmBudget:
        """Replace the limits of the organisation's budget."""
        self.money.set_limits(
            caller.organization_id,
            MoneyLimits(
                **{
                    name.removesuffix("_usd"): nano_usd(amount)
                    for name, amount in limits.model_dump(exclude_none=True).items()
                }
            ),
        )
        return self.budget(caller)

    def estimate(self, caller: Caller, request: wire.EstimateLlmRequests) -> wire.LlmEstimate:
        """Return what requests cost at most, each once and as often as may be; nothing is stored.

        Raises:
            InvalidRequestError: one of them cannot be asked.
        """
        ids = [f"llm_{place}" for place in range(len(request.requests))]
        planned = self.planner.plan(caller, request.requests, ids, alone=False)
        bound = sum(one.row.bound_nano_usd for one in planned)
        room = self.money.room(caller.organization_id)
        return wire.LlmEstimate(
            rows=len(planned),
            input_bytes=sum(one.row.input_bytes for one in planned),
            bound_nano_usd=bound,
            worst_case_nano_usd=sum(map(_worst_case, planned)),
            fits=room is None or bound <= room,
        )


def _worst_case(planned: PlannedRow) -> int:
    verdict = planned.text.verdict
    is_reasked = verdict is not None and verdict.get("on_parse_failure") == "reask"
    requests = 1 + (MAX_LLM_REASKS if is_reasked else 0)
    return planned.row.bound_nano_usd * MAX_LLM_ATTEMPTS * requests


def _usd(nano: int | None) -> str | None:
    if nano is None:
        return None
    whole, rest = divmod(nano, 1_000_000_000)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")
