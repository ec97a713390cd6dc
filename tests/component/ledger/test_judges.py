"""The fakes of judges answer through the ledger, whose costs are their bill."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from autotune.protocol.levels import LevelsRubric
from autotune.protocol.llm_params import LlmParams
from autotune_platform.judging.rubric.conversations import SampleTexts, Turn
from autotune_platform.judging.rubric.levels import LevelsJudge, levels_request
from tests.component.ledger.test_reasking import run
from tests.judges.measuring import wire
from tests.judges.models import PLANTED_MODEL, serve_sick
from tests.judges.planted import Planted, verdict
from tests.judges.planted_samples import CURED, SYSTEM_PROMPT, samples
from tests.judges.prompts import SampleText
from tests.judges.sick import OTHER_MODEL, SYMPTOMS
from tests.support.ledger import Ledger
from tests.support.ledger import ledger as make_ledger
from tests.support.platform import Platform
from tests.unit.judges.test_prompts_of_the_platform import JUDGE

SAMPLES = [one.text for one in samples(12, seed=8)]
SURE = Planted(noise=0)
# Why the ledger reads no verdict; what is not named here it reads, and what is no level of it
# (`injection_echo_last`) only `judging/rubric/levels.py` knows.
PARSE_ERRORS = {
    **dict.fromkeys(["truncated", "cut_in_the_verdict", "without_end"], "output_cut"),
    **dict.fromkeys(["two_verdicts", "level_and_abstention"], "verdict_conflict"),
    **dict.fromkeys(["no_verdict", "refusal", "refusal_in_words", "empty"], "verdict_missing"),
    **dict.fromkeys(
        ["half_score", "half_in_words", "seven", "minus_four", "out_of_five", "in_words"],
        "label_unknown",
    ),
    "no_number": "verdict_empty",
}


@pytest.fixture
def ledger(platform: Platform) -> Iterator[Ledger]:
    with make_ledger(platform) as made:
        yield made


def enqueued(ledger: Ledger, samples: list[SampleText], **fields: Any) -> list[dict[str, Any]]:
    """Asks for the level of each sample, lets the ledger run, and returns its rows."""
    prices = {PLANTED_MODEL: {"inputUsd": "0.1", "outputUsd": "0.4"}}
    connection = ledger.connect(maxWaitSeconds=0, prices=prices, **fields)
    judge: LevelsJudge = SimpleNamespace(**{**vars(JUDGE), "params": LlmParams(max_tokens=3_000)})
    asked = []
    for sample in samples:
        texts = SampleTexts(turns=[Turn(role="user", text=sample.input)], response=sample.output)
        request = levels_request(
            LevelsRubric.model_validate(wire(CURED)),
            judge,
            texts,
            deck_prompt=SYSTEM_PROMPT,
            purpose="scoring",
        )
        made = request.model_dump(mode="json", by_alias=True, exclude_none=True)
        asked.append({**made, "connectionId": connection})
    answer = ledger.platform.call(
        "POST",
        "/api/v1/llm-requests/batch",
        {"requests": asked},
        headers={"idempotency-key": connection},
    )
    assert answer.status == 202, answer.text
    run(ledger)
    return [ledger.read(one) for one in answer.json["requestIds"]]


def test_levels_and_costs_of_a_planted_judge_are_those_of_its_bill(ledger: Ledger) -> None:
    serve_sick(ledger.fake.world, SURE)
    rows = enqueued(ledger, SAMPLES)
    for row, sample in zip(rows, SAMPLES, strict=True):
        level = verdict(CURED, sample, SURE)
        assert (row["status"], row.get("parsedVerdict")) == ("completed", level)
        assert row.get("abstained", False) == (level is None), row
    bill = ledger.fake.world.bill()
    assert bill["executions"] == len(SAMPLES)
    assert sum(row["costNanoUsd"] for row in rows) == bill["total_nano_usd"]


def test_ailments_of_a_judge_are_what_the_ledger_tells_of_its_rows(ledger: Ledger) -> None:
    serve_sick(ledger.fake.world, SURE)
    names = sorted(SYMPTOMS)
    marked = [
        SampleText(SAMPLES[1].input, f"{SAMPLES[1].output} [[sick:{name}*1]]") for name in names
    ]
    rows = dict(zip(names, enqueued(ledger, marked), strict=True))
    level = verdict(CURED, SAMPLES[1], SURE)
    assert level is not None
    found = {}
    for name, row in rows.items():
        assert row["status"] == "completed", name
        if row["parseError"]:
            assert row["parsedVerdict"] is None
            found[name] = row["parseError"]["code"]
        else:
            assert row["parsedVerdict"] == level, name
    assert found == PARSE_ERRORS
    assert rows["refusal"]["finishReason"] == "refusal"
    assert rows["other_model"]["servedModel"] == OTHER_MODEL
    assert [name for name, row in rows.items() if row["usage"]["assumed"]] == ["no_usage"]
    # Both were asked again, and only the second time cost something.
    assert [name for name, row in rows.items() if row["attempt"] > 1] == ["server_error"]
    struck = ledger.fake.world.more_controls[("GET", "/ailments")](ledger.fake.world, None)
    assert struck["struck"] == dict.fromkeys(names, 1)
    bill = ledger.fake.world.bill()
    assert bill["executions"] == len(names)
    told = sum(row["costNanoUsd"] for name, row in rows.items() if name != "no_usage")
    unknown = next(
        one.cost_nano_usd
        for one in ledger.fake.world.executions
        if rows["no_usage"]["providerRequestId"].endswith(one.token)
    )
    assert told == bill["total_nano_usd"] - unknown
    assert rows["no_usage"]["costNanoUsd"] >= unknown
