"""What is set aside for a job before it trains."""

import re
from collections.abc import Mapping
from typing import Any

from autotune.protocol.llm_connections import nano_usd
from autotune_platform.apprentice.instance_prices import InstancePrices, price_of

_BASE_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_NANO = 1_000_000_000
IN_JOBS = frozenset({"sagemaker", "huggingface"})
"""Backends whose models a job trains, by the same program; others cost nothing here."""
PAID_BEYOND_S = 900
"""Instances are paid for a while before and after a job's program runs."""


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
