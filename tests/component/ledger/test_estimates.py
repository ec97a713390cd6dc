"""An estimate says what one attempt of each request costs, and what all that may follow would."""

from autotune.protocol.limits import MAX_LLM_ATTEMPTS, MAX_LLM_REASKS
from tests.support.ledger import Ledger, row

LABELS = {"type": "label", "labels": ["good", "bad"]}


def test_the_worst_case_counts_every_attempt_and_whatever_is_asked_again(ledger: Ledger) -> None:
    connection = ledger.connect()
    kept = row(connection, verdict=LABELS)
    reasked = row(connection, verdict={**LABELS, "onParseFailure": "reask"})
    found = []
    for rows in ([kept], [reasked], [kept, reasked]):
        answer = ledger.platform.call("POST", "/api/v1/llm-estimates", {"requests": rows})
        found.append((answer.json["boundNanoUsd"], answer.json["worstCaseNanoUsd"]))
    one = found[0][0]
    assert found[0] == (one, one * MAX_LLM_ATTEMPTS)
    assert found[1] == (one, one * MAX_LLM_ATTEMPTS * (1 + MAX_LLM_REASKS))
    assert found[2] == (2 * one, found[0][1] + found[1][1])
