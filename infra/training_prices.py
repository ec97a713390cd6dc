"""What an hour of an instance costs that trains small models, as whoever deploys knows it."""

import json
import re
from collections.abc import Mapping
from typing import Final

REGION: Final = "us-east-1"
# On demand, in US dollars, of SageMaker's training instances in REGION, of 2026-11. AWS changes
# them seldom; those of other regions, and of other types, are given as ``training-prices``.
USD_AN_HOUR: Final[Mapping[str, str]] = {
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
_INSTANCE = re.compile(r"ml\.[a-z0-9-]{1,30}\.[a-z0-9-]{1,30}")
_USD = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,6})?")


class InvalidPricesError(ValueError):
    """The context value ``training-prices`` is no prices of instances."""


def training_prices(given: object, *, region: str) -> Mapping[str, str]:
    """Returns US dollars an hour by type of instance.

    Args:
        given: Context value ``training-prices``: a JSON object such as
            ``{"ml.g6.xlarge": "1.13"}``, or one in ``cdk.json``; it wins over what is known.
        region: Where instances are.

    Raises:
        InvalidPricesError: It is something else.
    """
    try:
        own = json.loads(given) if isinstance(given, str) else (given or {})
    except ValueError as error:
        raise InvalidPricesError(f"training-prices is {given!r}, expected JSON") from error
    if not isinstance(own, dict):
        raise InvalidPricesError(f"training-prices is {given!r}, expected an object of prices")
    for instance, price in own.items():
        if _INSTANCE.fullmatch(instance) is None or _USD.fullmatch(str(price)) is None:
            raise InvalidPricesError(
                f"training-prices has {instance}: {price!r}, expected such as "
                '"ml.g5.xlarge": "1.408", in US dollars an hour'
            )
    known = USD_AN_HOUR if region == REGION else {}
    return {**known, **{name: str(price) for name, price in own.items()}}
