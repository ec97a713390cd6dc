"""A version that graduated answers a growing share of callers, then all, or goes back by itself."""

from datetime import UTC, datetime

import pytest

from autotune_platform.apprentice.canary import STEP_PAIRS
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.evidence import folded
from autotune_platform.apprentice.folding.settings import rules_of
from tests.component.ledger.test_events import delivered
from tests.support.apprentice_folding import Apprentice
from tests.support.subscribers import loopback_subscriber

RULES = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}
TRAINING = {"backend": "linear", "fineTuneBatchSize": 50, "canary": [0.05, 0.25, 1]}
TASK = "/api/v1/apprentice/tasks/intents"
LOCAL = {"answers": "local", "phase": 3, "check": "done", "cost_nano_usd": 1}


class Canaries(Apprentice):
    """A task whose versions take some dozens of pairs."""

    def put(self, **fields):
        own = {"thresholds": RULES, "confidence": {"falseAlarmPairs": 100}, "training": TRAINING}
        super().put(**{**own, **fields})

    def fold(self, count, score=1.0, *, version=1, in_canary=False, at=None):
        """Fold pairs of a version, made just now."""
        made = {"created_at": at or datetime.now(UTC), "in_canary": in_canary}
        known = {**LOCAL, "local_version": version} if in_canary else {}
        runs = [self.answered(score, version=version, **made, **known) for _ in range(count)]
        self.store(runs)
        self.follow()

    def standing(self, version=1):
        status = self.platform.call("GET", f"{TASK}/status").json["status"]
        (own,) = [one for one in status["versions"] if one["number"] == version]
        return {**own, "status": status}

    def version(self, number=1):
        return self.platform.call("GET", f"{TASK}/versions/{number}").json["version"]


@pytest.fixture
def task(platform, ledger):
    made = Canaries(platform, ledger.connect())
    made.add_version(1)
    made.fold(60)
    return made


@pytest.fixture
def heard(platform):
    """What webhooks heard, of which share, since this was asked before."""
    with loopback_subscriber() as subscriber:
        types = ["model.promoted", "apprentice.alarm", "apprentice.canary"]
        wish = {"url": subscriber.url, "eventTypes": types}
        secret = platform.call("POST", "/api/v1/webhooks", wish).json["secret"]
        known = 0

        def hear():
            nonlocal known
            events = delivered(platform, subscriber, secret)
            new, known = events[known:], len(events)
            return [
                (one["event"], one["data"].get("change", ""), one["data"].get("share"))
                for one in new
            ]

        yield hear


def test_it_goes_from_share_to_share_and_then_serves_by_itself(heard, task):
    seen = []
    for _ in range(3):
        found = task.standing()
        canary = found["canary"]
        seen.append((canary["step"], canary["steps"], canary["share"], canary["pairs"]))
        assert found["status"]["canary"] == 1
        assert task.version()["canaryAt"] is None
        task.fold(STEP_PAIRS, in_canary=True)

    assert seen == [(1, 3, 0.05, 0), (2, 3, 0.25, 0), (3, 3, 1, 0)]
    found = task.standing()
    assert (found["stage"], found["canary"]) == ("serves", None)
    assert (found["status"]["phase"], found["status"]["serving"]) == (3, 1)
    version = task.version()
    assert (version["canaryAt"], version["promotedBy"]) == (60 + 3 * STEP_PAIRS, "autotune")
    assert sorted(heard(), key=str) == [
        ("apprentice.canary", "advanced", 0.25),
        ("apprentice.canary", "advanced", 1),
        ("apprentice.canary", "began", 0.05),
        ("model.promoted", "", None),
    ]
    task.follow()
    assert heard() == []


def test_pairs_from_outside_the_canary_bring_it_no_further(task):
    task.fold(100)
    task.fold(STEP_PAIRS - 1, in_canary=True)
    canary = task.standing()["canary"]
    assert (canary["step"], canary["pairs"], canary["pairsNeeded"]) == (1, 29, 30)


def test_one_that_turns_bad_goes_back_by_itself(heard, task):
    task.fold(STEP_PAIRS + 5, in_canary=True)
    heard()
    task.fold(20, 0.2, in_canary=True)

    found = task.standing()
    assert (found["stage"], found["canary"], found["alarms"]) == ("shadow", None, 1)
    assert (found["status"]["phase"], found["status"]["canary"]) == (2, None)
    assert task.version()["state"] == "hosted"
    assert sorted(heard(), key=str) == [
        ("apprentice.alarm", "", None),
        ("apprentice.canary", "rolled_back", 0),
    ]
    task.fold(150)
    assert heard() == [("apprentice.canary", "began", 0.05)]
    assert task.standing()["canary"]["step"] == 1


def test_the_incumbent_serves_all_others_and_on_if_a_canary_goes_back(task):
    task.fold(3 * STEP_PAIRS, in_canary=True)
    task.add_version(2)
    task.fold(120, version=2)
    found = task.standing(2)
    assert (found["stage"], found["status"]["serving"]) == ("canary", 1)
    task.fold(20, 0.2, version=2, in_canary=True)
    status = task.standing(2)["status"]
    assert (status["phase"], status["serving"], status["canary"]) == (3, 1, None)
    assert (status["candidate"], task.standing(1)["stage"]) == (2, "serves")


def test_what_a_process_knew_of_a_version_promotes_none_that_a_person_retired(task, heard):
    task.fold(2 * STEP_PAIRS, in_canary=True)
    task.fold(1, in_canary=True)  # after its last step, what is known is read anew
    heard()
    assert task.platform.call("POST", f"{TASK}/versions/1/retire").status == 200
    # Records of the stream came to another process first: this one knows the version as hosted.
    now = datetime.now(UTC)
    known = {**LOCAL, "local_version": 1, "in_canary": True, "created_at": now}
    runs = [task.answered(1.0, **known) for _ in range(STEP_PAIRS - 1)]
    task.store(runs)
    kept = [one for one in task.records() if one["dynamodb"]["Keys"]["pk"]["S"][:4] == "apr_"]
    task.follow(kept)

    assert (task.version()["state"], task.version()["canaryAt"]) == ("retired", None)
    assert task.standing()["pairs"] == 60 + 3 * STEP_PAIRS
    assert heard() == []


def test_a_person_may_promote_before_its_last_share(task, heard):
    answer = task.platform.call("POST", f"{TASK}/versions/1/promote")
    assert answer.status == 200
    task.follow()
    assert task.standing()["stage"] == "serves"
    task.fold(STEP_PAIRS, in_canary=True)
    assert [one for one in heard() if one[1] == "advanced"] == []
    assert task.version()["promotedBy"] != "autotune"


def test_without_training_it_waits_for_a_person(platform, ledger):
    task = Canaries(platform, ledger.connect())
    task.put(training=None, local={"backend": "vllm", "url": "http://127.0.0.1:9"})
    task.add_version(1)
    task.fold(60)
    task.fold(4 * STEP_PAIRS, in_canary=True)
    canary = task.standing()["canary"]
    assert (canary["share"], canary["isAutomatic"]) == (0.05, False)
    assert task.version()["canaryAt"] is None


def test_fewer_shares_end_a_canary_that_is_behind_them(task):
    task.fold(STEP_PAIRS, in_canary=True)
    assert task.standing()["stage"] == "canary"
    task.put(training={"backend": "linear", "fineTuneBatchSize": 50, "canary": [1]})
    task.follow()
    assert task.standing()["stage"] == "serves"
    assert task.version()["promotedBy"] == "autotune"


def test_rebuilt_it_is_what_is_stored(task):
    task.fold(STEP_PAIRS + 7, in_canary=True)
    (stored,) = task.evidence.all_of(task.task.id)
    put = TaskRepository(task.table).configuration(task.task.id, task.task.version)
    rules = rules_of(put.document, attempt=1)
    rebuilt = folded(task.evidence.pairs(task.task.id, 1), rules)
    assert stored.evidence(rules) == rebuilt
    assert (rebuilt.canary.steps, rebuilt.canary.pairs) == (1, 7)
