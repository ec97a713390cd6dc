"""What hostile bodies and answers take of a function's memory, measured in processes of their own.

``python -m tests.security.peaks`` prints all figures.
"""

import sys

import pytest

from tests.security.peaks import PARSERS, measure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a process's peak")

MOST_MB = 300
"""Of a function's 512 MB: the rest is boto3's, which these processes do not load all of."""

MOST_ERROR_BYTES = 16_000


@pytest.mark.parametrize("parser", PARSERS)
def test_what_a_parser_takes_is_bounded(parser: str) -> None:
    # ``make memory`` takes more fields of each route.
    taken = measure(parser, fields=1)
    assert taken.statuses, "nothing hostile was sent"
    assert taken.peak_mb < MOST_MB, vars(taken)
    assert taken.largest_answer < MOST_ERROR_BYTES, vars(taken)
    assert "500" not in taken.statuses, vars(taken)
    if parser == "api:completions":
        assert taken.statuses.get("503"), "no valid batch of many values came as far as the service"
