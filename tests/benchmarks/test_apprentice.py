"""The comparison of an apprentice with what others do, on intents that are made up."""

import json
from xml.etree import ElementTree

import pytest

from benchmarks.apprentice import rivals
from benchmarks.apprentice.expected import Expected
from benchmarks.apprentice.ours import Apprenticeship
from benchmarks.apprentice.playing import Played
from benchmarks.apprentice.report import picture, summary
from benchmarks.apprentice.results import failures, of_ours, of_rival
from benchmarks.apprentice.seeds import shift_of
from benchmarks.apprentice.streams import (
    DATA,
    Stream,
    known_queries,
    made_up,
    read_clinc,
    shifting,
    shuffled,
)
from benchmarks.apprentice.tasks import made
from benchmarks.apprentice.teacher import Teacher

# What is expected of a whole stream is not of some hundreds of inputs.
NOTHING = Expected(remote_last=1, accuracy_lost=1, has_delays=False)
# So low that some hundreds of inputs suffice.
SETTINGS = {
    "thresholds": {
        "phase1ToPhase2": 300,
        "phase2ToPhase3": 0.7,
        "coachingTrigger": 0.6,
        "emergencyThreshold": 0.2,
    },
    "confidence": {"windowSize": 50},
    "training": {
        "backend": "linear",
        "fineTuneBatchSize": 100,
        "holdout": 0.4,
        "canary": [0.3, 1],
    },
}


@pytest.fixture(scope="module")
def queries():
    return made_up(domains=4, intents=3, each=110)


def task(queries, name, **fields):
    return made({query.intent for query in queries}, name, **{**SETTINGS, **fields})


@pytest.fixture(scope="module")
def seed(queries):
    """One seed of all strategies."""
    stream = shuffled(queries, 1)
    asked = task(queries, "1")
    one = Apprenticeship(Played(asked, Teacher(queries)))
    one.answer(stream.queries)
    figures = of_ours(one.played, stream)
    said = rivals.small_model(stream, learned=300)
    return {
        "seed": 1,
        "data": "made up",
        "inputs": len(stream.queries),
        "ours": {**figures, "failures": failures(figures, promised=0.7)},
        "shift": shift_of(queries, 1, task(queries, "shift 1")),
        "allRemote": of_rival(rivals.all_remote(stream, asked.document)),
        **{
            name: {
                str(target): of_rival(found)
                for target, found in strategy(stream, asked.document, said, learned=300).items()
            }
            for name, strategy in (("cascade", rivals.cascade), ("router", rivals.router))
        },
    }


def test_ours_answers_and_keeps_its_promises(seed):
    ours, paid = seed["ours"], seed["allRemote"]
    assert ours["failures"] == []
    assert ours["localAnswers"] > 200
    assert ours["billNanoUsd"] == ours["ledgerNanoUsd"] < 0.9 * paid["billNanoUsd"]
    assert 0 < ours["mostCommitted"] < 1
    assert ours["savings"]["netNanoUsd"] > 0
    served = ours["versions"][0]
    assert 0.7 <= served["bound"] <= served["agreement"]
    assert served["graduatedAt"] <= served["canaryAt"]


def test_domains_that_never_came_raise_an_alarm_once_they_come(seed):
    shift = seed["shift"]
    assert shift["failures"] == []
    assert all(alarm["after"] > shift["shiftAfter"] for alarm in shift["alarms"])
    assert shift["delays"][0]["inputsAfter"] <= 200


def test_all_remote_is_as_right_as_the_paid_model(seed, queries):
    right = sum(query.taught == query.intent for query in queries) / len(queries)
    assert seed["allRemote"]["accuracy"] == pytest.approx(right)
    assert seed["allRemote"]["remoteShare"] == 1
    assert seed["allRemote"]["agreement"] is None
    assert 0.02 < 1 - right < 0.06


@pytest.mark.parametrize("name", ["cascade", "router"])
def test_others_ask_the_paid_model_more_where_more_is_wanted(seed, name):
    shares = [seed[name][str(target)]["remoteShare"] for target in rivals.TARGETS]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]
    assert all(share >= 300 / seed["inputs"] for share in shares)


def test_what_must_not_be_is_found(seed):
    figures = seed["ours"]
    (version, *_) = figures["versions"]
    for changed in (
        {"ledgerNanoUsd": figures["ledgerNanoUsd"] - 1},
        {"paidCalls": figures["paidCalls"] + 1},
        {"mostCommitted": 1.01},
        {"counted": {**figures["counted"], "local": 0}},
        {"versions": [{**version, "bound": version["agreement"] + 0.001}]},
        {"agreement": 0.69},
    ):
        assert len(failures({**figures, **changed}, promised=0.7)) == 1, changed


def test_what_failed_in_a_stream_fails_all(seed):
    assert summary([seed], NOTHING)["failures"] == []
    broken = {**seed, "seed": 2, "shift": {**seed["shift"], "failures": ["an alarm"]}}
    assert summary([seed, broken], NOTHING)["failures"] == ["seed 2, shift: an alarm"]


def test_an_alarm_before_the_shift_is_a_failure(queries):
    """As it would be if the others came later than they do."""
    queries_as_they_come = shifting(queries, 1).queries
    late = Stream(queries_as_they_come, len(queries_as_they_come))
    found = shift_of(queries, 1, task(queries, "shift 1"), stream=late)
    assert any(failure.startswith("an alarm before the shift") for failure in found["failures"])
    assert "no alarm after the shift" in found["failures"]


def test_the_picture_has_a_point_for_each_strategy(seed):
    root = ElementTree.fromstring(picture([seed]))
    dots = [one for one in root.iter() if one.tag.endswith("circle")]
    assert len(dots) == 2 + 2 * len(rivals.TARGETS) + 4
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(0 < float(dot.get("cx")) < width for dot in dots)
    assert all(0 < float(dot.get("cy")) < height for dot in dots)


def test_clinc_is_read_without_what_is_out_of_scope(tmp_path, monkeypatch):
    domains = {"bank": ["balance", "transfer"], "trip": ["flight"]}
    rows = [
        {"text": f"{name} {at}", "intent": name} for at in range(300) for name in ("balance", "oos")
    ]
    (tmp_path / "clinc_domains.json").write_text(json.dumps(domains))
    (tmp_path / "clinc150.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = read_clinc(tmp_path)
    assert {query.intent for query in found} == {"balance"}
    assert {query.taught for query in found} == {"balance", "transfer"}
    monkeypatch.setenv(DATA, str(tmp_path))
    assert known_queries() == ("CLINC150", found)
    monkeypatch.delenv(DATA)
    assert known_queries()[0] == "made up"
