"""Webhooks hear of alarms and promotions, once each."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.apprentice.folding import service
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.storage.counting import MAX_ADDITIONS
from tests.component.ledger.test_events import delivered
from tests.support.apprentice_folding import Apprentice
from tests.support.subscribers import loopback_subscriber

RULES = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}


@pytest.fixture
def subscriber():
    with loopback_subscriber() as made:
        yield made


@pytest.fixture
def apprentice(platform, ledger):
    made = Apprentice(platform, ledger.connect())
    made.put(thresholds=RULES, confidence={"falseAlarmPairs": 100})
    made.add_version(1)
    return made


@pytest.fixture
def heard(apprentice, subscriber):
    """What was delivered since this was asked before."""
    wish = {"url": subscriber.url, "eventTypes": ["model.promoted", "apprentice.alarm"]}
    secret = apprentice.platform.call("POST", "/api/v1/webhooks", wish).json["secret"]
    known = 0

    def hear():
        nonlocal known
        events = delivered(apprentice.platform, subscriber, secret)
        new, known = events[known:], len(events)
        return new

    return hear


def fold(apprentice, score, number):
    """Fold runs made just now: a subscriber hears of what came after it subscribed."""
    now = datetime.now(UTC)
    apprentice.store(apprentice.answered(score, created_at=now) for _ in range(number))
    apprentice.follow()


def promote(apprentice):
    [stored] = apprentice.evidence.all_of(apprentice.task.id)
    apprentice.add_version(1, canary_at=stored.sequence)
    apprentice.follow()
    apprentice.follow()


def test_a_version_is_promoted_once_it_serves(apprentice, heard):
    fold(apprentice, 1, 60)
    assert heard() == []
    promote(apprentice)
    [event] = heard()
    assert event["event"] == "model.promoted"
    shown = {**event["data"], "promotedAt": None}
    assert shown == {
        "taskId": apprentice.task.id,
        "taskName": "intents",
        "version": 1,
        "pairs": 60,
        "meanAgreement": 1.0,
        "promotedAt": None,
    }


def test_an_alarm_is_published_once_and_the_next_promotion_again(apprentice, heard):
    fold(apprentice, 1, 60)
    promote(apprentice)
    heard()
    fold(apprentice, 0.3, 40)
    apprentice.follow()
    [event] = heard()
    assert (event["event"], event["data"]["kind"]) == ("apprentice.alarm", "alarm")
    assert 60 < event["data"]["sequence"] <= 100
    fold(apprentice, 1, 150)
    promote(apprentice)
    assert [one["event"] for one in heard()] == ["model.promoted"]


def test_the_audit_log_has_alarms_and_promotions_once_each(apprentice):
    """Whoever had no webhook finds what happened as well."""
    fold(apprentice, 1, 60)
    promote(apprentice)
    fold(apprentice, 0.3, 40)
    for _ in range(2):
        apprentice.platform.publish_events()
    log = apprentice.platform.call("GET", "/api/v1/audit", query={"limit": 200}).json["entries"]
    alarm, promotion, canary = (one for one in log if one["kind"] == "event")
    assert (promotion["action"], promotion["data"]["pairs"]) == ("model_promoted", 60)
    assert (alarm["action"], alarm["data"]["kind"]) == ("apprentice_alarm", "alarm")
    assert (canary["action"], canary["data"]["change"]) == ("apprentice_canary", "began")
    assert {one["data"]["taskId"] for one in (alarm, promotion, canary)} == {apprentice.task.id}
    assert "taskName" not in alarm["data"]
    query = {"action": "apprentice_alarm"}
    found = apprentice.platform.call("GET", "/api/v1/audit", query=query).json["entries"]
    assert found == [alarm]


def changes(apprentice):
    """What is shown of version 1: what its pairs did to it."""
    path = "/api/v1/apprentice/tasks/intents/versions/1"
    return apprentice.platform.call("GET", path).json["version"]["changes"]


def test_a_version_is_shown_with_what_its_pairs_did_to_it(apprentice):
    assert changes(apprentice) == []
    fold(apprentice, 1, 60)
    promote(apprentice)
    fold(apprentice, 0.3, 40)
    fold(apprentice, 1, 150)
    apprentice.follow()

    began, promoted, alarm, again = changes(apprentice)
    assert (began["kind"], began["share"], began["meanAgreement"]) == ("canary_began", 0.25, 1.0)
    assert 0 < began["sequence"] <= 60
    assert (promoted["kind"], promoted["sequence"], promoted["share"]) == ("promoted", 60, None)
    assert (alarm["kind"], 60 < alarm["sequence"] <= 100) == ("alarm", True)
    assert alarm["meanAgreement"] < 1
    assert (again["kind"], alarm["sequence"] < again["sequence"] <= 250) == ("canary_began", True)
    assert sorted(one["at"] for one in (began, promoted, alarm, again)) == [
        one["at"] for one in (began, promoted, alarm, again)
    ]
    listed = apprentice.platform.call("GET", "/api/v1/apprentice/tasks/intents/versions")
    assert [one["changes"] for one in listed.json["versions"]] == [None]


def test_a_canary_that_an_alarm_ends_is_shown_with_both(apprentice):
    fold(apprentice, 1, 60)
    fold(apprentice, 0.3, 40)

    began, *ended = changes(apprentice)
    assert began["kind"] == "canary_began"
    assert {one["kind"]: one["share"] for one in ended} == {
        "alarm": None,
        "canary_rolled_back": 0.0,
    }
    assert len({one["sequence"] for one in ended}) == 1


def test_each_share_of_a_canary_is_shown(apprentice):
    fold(apprentice, 1, 60)
    now = datetime.now(UTC)
    apprentice.store(
        apprentice.answered(1, in_canary=True, local_version=1, created_at=now) for _ in range(60)
    )
    apprentice.follow()

    shown = [(one["kind"], one["share"]) for one in changes(apprentice)]
    assert shown == [("canary_began", 0.25), ("canary_advanced", 1.0), ("promoted", None)]


def test_the_last_things_alone_are_shown_of_many(apprentice):
    fold(apprentice, 1, 60)
    [first] = VersionRepository(apprentice.table).changes(apprentice.task.id, 1, limit=10)
    for sequence in range(1_000, 1_100):
        change = first.model_copy(update={"sequence": sequence})
        assert apprentice.evidence.write([apprentice.evidence.change(change)]) is None

    assert [one["sequence"] for one in changes(apprentice)] == list(range(1_000, 1_100))


def test_what_happened_at_one_pair_is_shown_in_the_order_of_its_dates(apprentice):
    fold(apprentice, 1, 60)
    promote(apprentice)
    _, promoted = VersionRepository(apprentice.table).changes(apprentice.task.id, 1, limit=10)
    at = promoted.at + timedelta(minutes=1)
    fallen = promoted.model_copy(update={"kind": "coverage", "share": 0.4, "at": at})
    assert apprentice.evidence.write([apprentice.evidence.change(fallen)]) is None

    kinds = [one["kind"] for one in changes(apprentice)]
    assert kinds == ["canary_began", "promoted", "coverage"]


def test_what_happens_to_a_version_fits_with_its_runs_whatever_else_is_written(
    apprentice, monkeypatch
):
    """A transaction has room for a hundred writes, and none of these leave any."""
    monkeypatch.setattr(service, "MOST_WRITES", MAX_ADDITIONS - 1)
    fold(apprentice, 1, 60)
    promote(apprentice)
    fold(apprentice, 0.3, 40)

    [stored] = apprentice.evidence.all_of(apprentice.task.id)
    assert stored.sequence == 100
    assert [one["kind"] for one in changes(apprentice)] == ["canary_began", "promoted", "alarm"]


def test_an_emergency_is_published_and_takes_the_version_out(apprentice, heard):
    fold(apprentice, 0, 120)
    [event] = heard()
    assert event["data"]["kind"] == "emergency"
    assert [one["kind"] for one in changes(apprentice)] == ["emergency"]
    fold(apprentice, 0, 120)
    assert heard() == []


def test_alarms_of_a_version_in_shadow_are_not_published(apprentice, heard):
    fold(apprentice, 0.3, 200)
    [stored] = apprentice.evidence.all_of(apprentice.task.id)
    assert '"alarms":0' not in stored.state
    assert heard() == []
    assert changes(apprentice) == []


def asked(apprentice, number, confidence, local):
    """Count runs that no chance drew, with how sure the version was."""
    now = datetime.now(UTC)
    alone = {"is_drawn": False, "phase": 3, "local_version": 1, "created_at": now}
    said = {"local": local, "local_confidence": confidence}
    apprentice.store(apprentice.answered(**alone, **said) for _ in range(number))
    apprentice.follow()


def gated(apprentice, **fields):
    apprentice.put(
        thresholds=RULES,
        confidence={"falseAlarmPairs": 100},
        local={"backend": "linear", "gate": "confidence"},
        sampling={"decay": "exponential", "minFloor": 0.5},
    )
    gate = {"confidence": 0.8, "coverage": 0.9, "least_coverage": 0.75}
    apprentice.add_version(1, gate=gate, backend="linear", **fields)


def test_a_version_that_is_sure_of_fewer_inputs_is_heard_of_once_and_audited(apprentice, heard):
    gated(apprentice)
    fold(apprentice, 1, 60)
    asked(apprentice, 80, 0.1, "unsure")
    apprentice.follow()

    [event] = heard()
    assert event["event"] == "apprentice.alarm"
    data = {**event["data"], "raisedAt": None}
    assert 0 <= data.pop("coverage") < 0.75
    assert data == {
        "taskId": apprentice.task.id,
        "taskName": "intents",
        "version": 1,
        "kind": "coverage",
        "sequence": 60,
        "meanAgreement": 1.0,
        "leastCoverage": 0.75,
        "raisedAt": None,
    }
    query = {"action": "apprentice_alarm"}
    [entry] = apprentice.platform.call("GET", "/api/v1/audit", query=query).json["entries"]
    assert entry["data"]["kind"] == "coverage"
    *_, shown = changes(apprentice)
    assert (shown["kind"], shown["share"]) == ("coverage", event["data"]["coverage"])


def test_of_a_version_in_shadow_nobody_hears_how_many_inputs_it_is_sure_of(apprentice, heard):
    gated(apprentice)
    asked(apprentice, 80, 0.1, "unsure")
    [stored] = apprentice.evidence.all_of(apprentice.task.id)
    assert '"alarms":1' in stored.coverage
    assert heard() == []
