"""What an hour of an instance costs that trains: set aside before a job, and paid after it."""

import re
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

from autotune.protocol.llm_connections import nano_usd
from autotune_platform.runtime.parts import part

_BASE_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_NANO = 1_000_000_000
IN_JOBS = frozenset({"sagemaker", "huggingface"})
"""Backends whose models a job trains, by the same program; others cost nothing here."""
_HOUR = 3_600
PAID_BEYOND_S = 900
"""Instances are paid for a while before and after a job's program runs."""


@part
class InstancePrices:
    """Prices that are known where this runs.

    Attributes:
        usd: US dollars an hour by instance type.
    """

    usd: Mapping[str, str]

    def find(self, instance_type: str) -> int | None:
        """Return the price of an hour in billionths of a US dollar; None where none is known."""
        usd = self.usd.get(instance_type)
        return None if usd is None else int((Decimal(usd) * _NANO).to_integral_value(ROUND_CEILING))


def price_of(seconds: int, price_nano_usd: int) -> int:
    """Return what so many seconds cost, in billionths of a US dollar, rounded up."""
    return -(-seconds * price_nano_usd // _HOUR)


def reserved_for(max_runtime_s: int, price_nano_usd: int) -> int:
    """Return what is set aside for a job, in billionths of a US dollar.

    It is the price without spot: what is paid on spot is less.
    """
    return price_of(max_runtime_s + PAID_BEYOND_S, price_nano_usd)


def objection_to_paying(document: Mapping[str, Any], prices: InstancePrices) -> str | None:
    """Return why a job that may come of a configuration could not be paid for; None if each can."""
    training, monthly = document["training"], document["budgets"]["trainingMonthly"]
    if _BASE_MODEL.fullmatch(training["baseModel"]) is None:
        return "training.baseModel: a name such as organization/model, of letters, digits, ., _, -"
    if monthly is None:
        return "budgets.trainingMonthly: needed where instances are paid for"
    for instance in training["instanceTypes"]:
        price = prices.find(instance)
        if price is None:
            return (
                f"training.instanceTypes: no price is known for {instance}; whoever deploys gives "
                "it by training-prices"
            )
        needed = reserved_for(training["maxRuntimeS"], price)
        if needed > nano_usd(monthly):
            return (
                f"budgets.trainingMonthly is {monthly} US dollars, and {instance} for maxRuntimeS "
                f"may cost {needed / _NANO:.2f}"
            )
    return None
