"""What an hour of an instance costs that trains or hosts small models."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal

from autotune_platform.runtime.parts import part

_NANO = 1_000_000_000
_HOUR = 3_600


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
