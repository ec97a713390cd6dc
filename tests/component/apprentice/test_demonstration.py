"""What ``make apprentice-demo`` decides in one process is what the functions decide."""

import json
import random

import pytest

from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.configuration import service
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.runs import starting
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from benchmarks.apprentice import playing
from benchmarks.apprentice.ours import Apprenticeship
from benchmarks.apprentice.playing import AT_ONCE, Played
from benchmarks.apprentice.streams import Query, made_up
from benchmarks.apprentice.tasks import Asked
from benchmarks.apprentice.teacher import Teacher, answer_of
from tests.providers.answers import Reply
from tests.support.apprentice_folding import Apprentice
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.trainings import trainings as make_trainings

# So low that some hundreds of inputs show all that a version goes through.
SETTINGS = {
    "local": {"backend": "linear", "gate": "confidence", "timeoutMs": 20_000},
    "thresholds": {
        "phase1ToPhase2": 140,
        "phase2ToPhase3": 0.5,
        "coachingTrigger": 0.4,
        "emergencyThreshold": 0.05,
    },
    "confidence": {"windowSize": 20, "falseAlarmPairs": 100},
    "sampling": {"decay": "exponential", "minFloor": 0.2},
    "training": {"backend": "linear", "fineTuneBatchSize": 140, "holdout": 0.4, "canary": [1]},
}


def queries_with_a_shift(seed=1):
    """Three intents, with inputs among them that nobody can tell, until three others come."""
    chance = random.Random(seed)
    queries = made_up(domains=2, intents=3, each=120, seed=seed)
    seen, new = ([one for one in queries if one.domain == name] for name in ("d0", "d1"))
    chance.shuffle(seen)
    chance.shuffle(new)
    intents = sorted({query.intent for query in seen})
    asked = []
    for place, query in enumerate(seen[:250]):
        if chance.random() < 0.3:
            text = f"{chance.getrandbits(40):x} {chance.getrandbits(40):x}"
            intent = chance.choice(intents)
            asked.append(Query(10_000 + place, text, "d0", intent, intent))
        else:
            asked.append(query)
    return [*asked, *new[:60]]


@pytest.fixture
def trainings(runs, monkeypatch):
    """A task and its trainings; chance draws the same runs each time that this is tested."""

    def of_its_input(kind, *parts):
        return derived_id(kind, parts[-1])

    monkeypatch.setattr(service.secrets, "token_hex", lambda count: "5e" * count)
    for one in (starting, playing):
        monkeypatch.setattr(one, "derived_id", of_its_input)
    with make_trainings(runs, monkeypatch) as made:
        yield made


class Deployed:
    """The functions, answering a stream."""

    def __init__(self, trainings, queries):
        self.trainings, self.runs = trainings, trainings.runs
        self.queries = queries
        self.table = Table("apprentice", clients.dynamodb())
        self.taught = {query.text: query.taught for query in queries}
        self.runs.ledger.fake.world.answers.answerer = self.answer
        self.followed = len(Apprentice.records())

    def answer(self, ask):
        text = ask.texts[-1].split("? ", 1)[1]
        return Reply(answer_of(self.taught[text]), has_token=False)

    def play(self):
        ended = []
        for place, query in enumerate(self.queries, 1):
            answer = self.runs.start({"text": query.text}, key=str(query.place), wait=20)
            assert answer.status == 200, answer.text
            run = self.runs.stored(answer.json["run"]["id"])
            if run.check == "due":
                self.runs.work(run.id)
            ended.append(self.runs.stored(run.id))
            if place % AT_ONCE == 0 or place == len(self.queries):
                self.follow()
        return ended

    def follow(self):
        records = Apprentice.records()
        Apprentice.follow(None, records[self.followed :])
        self.followed = len(records)
        if handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))["began"]:
            self.trainings.steps(self.trainings.executions()[0])
        forget_processes()  # which know a task for 30 seconds


def asked_of(trainings):
    """The same task, as it is stored."""
    tasks = TaskRepository(Table("apprentice", clients.dynamodb()))
    task = tasks.find(trainings.platform.me()["organizationId"], "intents")
    connections = ConnectionRepository(Table("registry", clients.dynamodb()))
    return Asked(
        task=task,
        configuration=tasks.configuration(task.id, task.version),
        connection=connections.get(trainings.runs.connection_id),
    )


def decided(run):
    return {
        "phase": run.phase,
        "answers": run.answers,
        "drawn": run.is_drawn,
        "rate": run.sampling_rate,
        "canary": run.in_canary,
        "versions": (run.local_version, run.shadow_version),
        "outcomes": (run.local, run.shadow, run.remote),
        "escalated": run.escalated,
        "check": run.check,
        "pairs": run.pairs,
    }


def test_it_decides_as_the_functions_do(trainings):
    trainings.put(**SETTINGS)
    queries = queries_with_a_shift()
    deployed = Deployed(trainings, queries)
    asked = asked_of(trainings)
    ended = deployed.play()

    ours = Apprenticeship(Played(asked, Teacher(queries)))
    ours.answer(queries)

    played, known = ours.played.runs, ours.played.known
    for place, (one, other) in enumerate(zip(played, ended, strict=True)):
        assert decided(one) == decided(other), place
    stored = {one.version: one for one in EvidenceRepository(deployed.table).all_of(asked.task.id)}
    assert known.evidence.keys() == stored.keys()
    for number, one in known.evidence.items():
        assert evidence_in(one) == evidence_in(stored[number])
        assert one.scores == stored[number].scores
        assert coverage_in(one) == coverage_in(stored[number])
    versions = VersionRepository(deployed.table).all_of(asked.task.id)
    assert [(one.digest, one.gate, one.canary_at) for one in known.versions.values()] == [
        (one.digest, one.gate, one.canary_at) for one in versions
    ]
    # What is compared has all of it.
    assert {run.phase for run in ended} == {1, 2, 3}
    assert any(run.in_canary for run in ended)
    assert {run.check for run in ended} == {"none", "done"}
    assert any(json.loads(one.state)["alarms"] for one in stored.values())
    assert all(alarm["after"] > 250 for alarm in ours.alarms)


def evidence_in(stored):
    """Evidence without the times of its pairs, which are those of two clocks."""
    state = json.loads(stored.state)
    return {**state, "canary": {**state["canary"], "since": None}}


def coverage_in(stored):
    return {**json.loads(stored.coverage or "{}"), "alarmed_at": None}
