"""How long a task of the apprentice takes until a version graduates, on the wire.

Money is in billionths of a US dollar. Days are those of UTC.
"""

from datetime import date
from typing import Literal

from autotune.protocol.types import ResponseModel

ApprenticeProspect = Literal[
    "examples", "no_version", "few_pairs", "never", "beyond", "foretold", "canary", "serves"
]


class ApprenticeRange(ResponseModel):
    """Of 300 games that were played on from the pairs so far.

    Attributes:
        low: a tenth of them came to less.
        median: half of them did; None where they did not end.
        high: a tenth came to more; None where these did not end.
    """

    low: int | None
    median: int | None
    high: int | None


class ApprenticeDates(ResponseModel):
    """The same as days."""

    low: date | None
    median: date | None
    high: date | None


class ApprenticeEstimate(ResponseModel):
    """How long it is until a version graduates, and at what price.

    Attributes:
        prospect: ``examples`` where some are missing before any version is asked, ``no_version``
            where none is in shadow, ``few_pairs`` where fewer than twenty say too little, ``never``
            at the agreement so far, ``beyond`` where it takes more than 10,000 pairs in half of the
            games, ``foretold``; ``canary`` and ``serves`` where a version has graduated.
        version: which version it is about.
        agreement: the mean that is taken to go on.
        observed_pairs: from how many pairs that is known.
        examples_missing: before any version is asked.
        pairs: until it graduates.
        runs_a_day: on average over the last ``observed_days``, at most seven.
        pairs_a_day: the same of pairs of this version.
        call_nano_usd: what an answer of the paid model costs on average.
        cost_nano_usd: what the paid model is going to cost until then.
        dates: when it is likely to graduate, as runs come now.
        message: the same in words.
    """

    prospect: ApprenticeProspect
    version: int | None
    agreement: float | None
    observed_pairs: int
    examples_missing: int
    pairs: ApprenticeRange
    runs_a_day: float | None
    pairs_a_day: float | None
    observed_days: float
    call_nano_usd: int | None
    cost_nano_usd: ApprenticeRange
    dates: ApprenticeDates
    message: str


class ApprenticeEstimateResponse(ResponseModel):
    """An estimate."""

    estimate: ApprenticeEstimate
