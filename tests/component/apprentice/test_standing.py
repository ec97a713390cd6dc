"""What a process knows of a task follows from what is stored, and is read cheaply."""

from datetime import timedelta

import pytest

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.phases import Phase, Stage
from autotune_platform.apprentice.sampling import Reason
from autotune_platform.apprentice.standing import Standings
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.errors import NotFoundError
from tests.support.apprentice_folding import NOON, Apprentice
from tests.support.killing import Killer

RULES = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}


class Later(Clock):
    def __init__(self):
        self.seconds = 0

    def now(self):
        return NOON + timedelta(seconds=self.seconds)


@pytest.fixture
def apprentice(platform, ledger):
    made = Apprentice(platform, ledger.connect())
    made.put(thresholds=RULES, confidence={"maxWindowAge": "1d"})
    return made


@pytest.fixture
def standings(apprentice):
    return Standings(
        tasks=TaskRepository(apprentice.table), evidence=apprentice.evidence, clock=Later()
    )


def fold(apprentice, score, number, **fields):
    apprentice.store(apprentice.answered(score, **fields) for _ in range(number))
    apprentice.follow()


def read(standings, apprentice):
    return standings.read(apprentice.organization_id, apprentice.name)


def test_a_task_goes_through_its_phases_as_its_pairs_say(apprentice, standings):
    apprentice.add_version(1)
    fold(apprentice, 1, 49)
    assert read(standings, apprentice).derived.phase is Phase.REMOTE
    fold(apprentice, 1, 1)
    found = read(standings, apprentice)
    assert (found.examples, found.derived.phase) == (50, Phase.BOTH)
    assert found.derived.is_canary
    assert found.rates[1].reason is Reason.NOT_GRADUATED
    apprentice.add_version(1, canary_at=50)
    found = read(standings, apprentice)
    assert (found.derived.phase, found.derived.serving) == (Phase.LOCAL, 1)
    assert found.rate(1) < 1
    assert found.served[1].model == "small-1"
    fold(apprentice, 0.3, 100)
    found = read(standings, apprentice)
    assert found.derived.phase is Phase.BOTH
    assert found.versions[1].version.stage is Stage.SHADOW


def test_what_is_old_is_sampled_again(apprentice, standings):
    apprentice.add_version(1, canary_at=60)
    fold(apprentice, 1, 60)
    assert read(standings, apprentice).rates[1].reason in (Reason.DECAY, Reason.FLOOR)
    standings.clock.seconds = 86_401
    found = read(standings, apprentice)
    assert found.rates[1].reason is Reason.STALE
    assert found.derived.phase is Phase.LOCAL


def test_evidence_of_other_rules_serves_nobody_until_it_is_folded_by_these(apprentice, standings):
    apprentice.add_version(1, canary_at=60)
    fold(apprentice, 1, 60)
    apprentice.put(thresholds={**RULES, "phase2ToPhase3": 0.55})
    found = read(standings, apprentice)
    assert (found.derived.phase, found.versions[1].is_refolded) == (Phase.BOTH, False)
    apprentice.follow()
    found = read(standings, apprentice)
    assert (found.derived.phase, found.versions[1].is_refolded) == (Phase.LOCAL, True)


def test_versions_of_another_definition_are_none(apprentice, standings):
    apprentice.add_version(1, canary_at=60)
    fold(apprentice, 1, 60)
    apprentice.put(thresholds=RULES, systemPrompt="Other words.")
    apprentice.follow()
    found = read(standings, apprentice)
    assert (found.derived.phase, found.examples, dict(found.versions)) == (Phase.REMOTE, 0, {})
    apprentice.add_version(2)
    found = read(standings, apprentice)
    assert found.versions[2].rules.attempt == 1


def test_a_task_is_read_by_two_calls_and_remembered(apprentice, standings):
    apprentice.add_version(1)
    killer = Killer()
    first = standings.of(apprentice.organization_id, "intents")
    assert killer.called == ["GetItem", "GetItem", "Query"]
    assert standings.of(apprentice.organization_id, "intents") is first
    standings.known.clear()
    standings.of(apprentice.organization_id, "intents")
    assert killer.called[3:] == ["GetItem", "Query"]


def test_a_name_that_is_no_task_is_asked_for_each_time(apprentice, standings):
    with pytest.raises(NotFoundError):
        standings.of(apprentice.organization_id, "wishes")
    wishes = Apprentice(apprentice.platform, apprentice.connection_id, "wishes")
    assert standings.of(apprentice.organization_id, "wishes").task.id == wishes.task.id
