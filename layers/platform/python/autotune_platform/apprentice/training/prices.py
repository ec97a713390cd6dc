"""What an hour of an instance costs that trains: set aside before a job, and paid after it."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal

from autotune_platform.runtime.parts import part

REGION = "us-east-1"
# On demand, in US dollars, of SageMaker's training instances in REGION, of 2026-11. AWS changes
# them seldom; whoever deploys names others, and those of other regions, as ``training-prices``.
USD_AN_HOUR: Mapping[str, str] = {
    "ml.m5.large": "0.115",
    "ml.m5.xlarge": "0.23",
    "ml.m5.2xlarge": "0.461",
    "ml.m5.4xlarge": "0.922",
    "ml.c5.xlarge": "0.204",
    "ml.c5.2xlarge": "0.408",
    "ml.g4dn.xlarge": "0.7364",
    "ml.g4dn.2xlarge": "0.94",
    "ml.g5.xlarge": "1.408",
    "ml.g5.2xlarge": "1.515",
    "ml.g5.4xlarge": "2.03",
    "ml.g5.8xlarge": "3.06",
    "ml.g5.12xlarge": "7.09",
    "ml.p3.2xlarge": "3.825",
}
_NANO = 1_000_000_000
_HOUR = 3_600


@part
class InstancePrices:
    """Prices that are known where this runs.

    Attributes:
        region: where instances are; the table is of one region alone.
        given: US dollars an hour by instance type, of whoever deploys; they win.
    """

    region: str
    given: Mapping[str, str]

    def find(self, instance_type: str) -> int | None:
        """Return the price of an hour in billionths of a US dollar; None where none is known."""
        table = USD_AN_HOUR if self.region == REGION else {}
        usd = self.given.get(instance_type, table.get(instance_type))
        return None if usd is None else int((Decimal(usd) * _NANO).to_integral_value(ROUND_CEILING))


def price_of(seconds: int, price_nano_usd: int) -> int:
    """Return what so many seconds cost, in billionths of a US dollar, rounded up."""
    return -(-seconds * price_nano_usd // _HOUR)
