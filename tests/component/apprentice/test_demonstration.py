"""What ``make apprentice-demo`` decides in one process is what the functions decide."""

import json

import pytest

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from benchmarks.apprentice.ours import Apprenticeship
from benchmarks.apprentice.playing import AT_ONCE, Played
from benchmarks.apprentice.streams import made_up, shifting
from benchmarks.apprentice.tasks import Asked
from benchmarks.apprentice.teacher import Teacher, answer_of
from tests.providers.answers import Reply
from tests.support.apprentice_folding import Apprentice
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.trainings import TASK
from tests.support.trainings import trainings as make_trainings

SETTINGS = {
    "local": {"backend": "linear", "gate": "confidence", "timeoutMs": 20_000},
    "thresholds": {
        "phase1ToPhase2": 100,
        "phase2ToPhase3": 0.6,
        "coachingTrigger": 0.5,
        "emergencyThreshold": 0.05,
    },
    "confidence": {"windowSize": 20, "falseAlarmPairs": 100},
    "sampling": {"decay": "exponential", "minFloor": 0.2},
    "training": {"backend": "linear", "fineTuneBatchSize": 60, "holdout": 0.4, "canary": [0.5, 1]},
}


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


class Deployed:
    """The functions, answering a stream."""

    def __init__(self, trainings, stream):
        self.trainings, self.runs = trainings, trainings.runs
        self.stream = stream
        self.table = Table("apprentice", clients.dynamodb())
        self.taught = {query.text: query.taught for query in stream.queries}
        self.runs.ledger.fake.world.answers.answerer = self.answer
        self.followed = len(Apprentice.records())

    def answer(self, ask):
        text = ask.texts[-1].split("? ", 1)[1]
        return Reply(answer_of(self.taught[text]), has_token=False)

    def play(self):
        ended = []
        for place, query in enumerate(self.stream.queries, 1):
            answer = self.runs.start({"text": query.text}, key=str(query.place), wait=20)
            assert answer.status == 200, answer.text
            run = self.runs.stored(answer.json["run"]["id"])
            if run.check == "due":
                self.runs.work(run.id)
            ended.append(self.runs.stored(run.id))
            if place % AT_ONCE == 0 or place == len(self.stream.queries):
                self.follow()
        return ended

    def follow(self):
        records = Apprentice.records()
        Apprentice.follow(None, records[self.followed :])
        self.followed = len(records)
        self.promote()
        if handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))["began"]:
            self.trainings.steps(self.trainings.executions()[0])
        forget_processes()  # which know a task for 30 seconds

    def promote(self):
        for one in EvidenceRepository(self.table).all_of(self.trainings.task_id):
            if one.state and json.loads(one.state)["graduated_at"]:
                answer = self.trainings.platform.call(
                    "POST", f"{TASK}/versions/{one.version}/promote"
                )
                assert answer.status == 200, answer.text


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
    stream = shifting(made_up(domains=4, intents=3, each=30), 1)
    deployed = Deployed(trainings, stream)
    asked = asked_of(trainings)
    ended = deployed.play()

    ours = Apprenticeship(Played(asked, Teacher(stream.queries)))
    ours.answer(stream.queries)

    assert [decided(run) for run in ours.played.runs] == [decided(run) for run in ended]
    stored = EvidenceRepository(deployed.table).all_of(asked.task.id)
    known = ours.played.known.evidence
    assert {one.version: json.loads(one.state)["wealth"] for one in stored} == {
        number: json.loads(one.state)["wealth"] for number, one in known.items()
    }
    print(
        ours.trainings,
        ours.changes,
        ours.alarms,
        [e.evidence for e in ours.played.known.advances.values()],
    )
    assert {run.phase for run in ended} == {1, 2, 3}
