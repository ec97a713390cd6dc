"""What ``docs/ledger.md`` says of Autotune beside other clients is what it does today."""

import pytest

from benchmarks.llm_peers.cases import CASES
from benchmarks.llm_peers.stored import OURS, read
from tests.support.ledger_cases import run

# A case of each trap; the others take the same ways.
CHOSEN = (
    "create_answer_lost",
    "list_lags",
    "row_400",
    "completed_without_output",
    "expires_partial",
    "rows_doubled_conflicting",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_autotune_does_what_is_stored_of_it(name):
    (case,) = [one for one in CASES if one.name == name]
    stored = read()["clients"][OURS]["cases"][name]
    found = run(case).as_json()
    # In how many jobs rows go again, and how often these are looked at, depends on jitter.
    varying = {"calls": {}, "jobs": 0}
    assert {**found, **varying} == {**stored, **varying}
    assert found["met"]
