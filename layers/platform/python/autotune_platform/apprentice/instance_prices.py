"""What an hour of an instance costs that trains or hosts small models."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal

from autotune_platform.runtime.parts import part

_NANO = 1_000_000_000
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

    def of(self, instance_type: str, seconds: int) -> int | None:
        """Return what so many seconds cost; None where no price is known."""
        price = self.find(instance_type)
        return None if price is None else price_of(seconds, price)


def price_of(seconds: int, price_nano_usd: int) -> int:
    """Return what so many seconds cost, in billionths of a US dollar, rounded up."""
    return -(-seconds * price_nano_usd // _HOUR)


def reserved_for(max_runtime_s: int, price_nano_usd: int) -> int:
    """Return what is set aside for a job, in billionths of a US dollar.

    It is the price without spot: what is paid on spot is less.
    """
    return price_of(max_runtime_s + PAID_BEYOND_S, price_nano_usd)
