"""Versions are trained, prove themselves, serve and go, amid faults; all in one process.

Three tasks. ``learning`` has a linear model, which regresses in its canary, comes back, and is
followed by one that is rolled back amid traffic. ``poisoned`` has a paid model whose labels are
permuted. ``jobs`` has its models trained and hosted at the local SageMaker, whose jobs and hosts
are processes and fail in each way that they can (``tests.chaos.life_jobs``). Functions are killed
at any of their calls of AWS and throttled, streams, messages and requests come twice.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.life_world import POISON, World
from tests.chaos.student import intent_of, permuted_intent_of
from tests.chaos.texts import TEXT
from tests.support.apprentice import configuration as usual

LEARNING, POISONED, JOBS = "learning", "poisoned", "jobs"
TASKS = "/api/v1/apprentice/tasks"
THRESHOLDS = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}
"""A version graduates on 12 pairs that agree, and regresses by 9 that do not."""

IMPORTED = 140
"""Examples that are brought: half of them are on the side that is learned from."""

TAUGHT = 36
"""Runs of the paid model alone, half of which judge: a hold-out needs eleven."""

NOTHING_USD = "0.000001"
AT_ONCE, MOST_MORE = 5, 12
Word = Callable[[str], str]
Status = Mapping[str, Any]


class NeverError(Exception):
    """A task does not come to stand as it should."""


@dataclass
class Life:
    """Does with tasks what their owners and callers do.

    Attributes:
        hasten: has hosts that are being made looked at.
        taken: cases that were sent, with the name of their task.
        moved: what keys had two runs.
        stuck: what tasks did not come to.
        outcomes: what befell a training, with what may come of it, and what did.
        struck: how often each thing happened that has to happen.
    """

    world: World
    hasten: Callable[[], None]
    say: Callable[[str], None]
    taken: dict[str, str] = field(default_factory=dict)
    run_ids: dict[str, str] = field(default_factory=dict)
    repeated: int = 0
    moved: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    outcomes: dict[str, tuple[Collection[str], str]] = field(default_factory=dict)
    struck: Counter[str] = field(default_factory=Counter)

    def put(self, task: str, made: Mapping[str, Any]) -> str:
        """Put a task; return its id."""
        answer = self.world.call("PUT", f"{TASKS}/{task}", made)
        assert answer["status"] == 200, answer
        self.world.forget()
        return str(answer["task"]["id"])

    def send(self, task: str, runs: int, *, word: Word = intent_of) -> None:
        """Send so many inputs; some wait for the queue, some are sent again."""
        world = self.world
        for number in range(runs):
            case = self.start(task, word, wait=0 if world.draw.random() < 0.3 else 20)
            if world.draw.random() < 0.1:
                self._run(task, case, word, wait=0)
                self.repeated += 1
            if number % AT_ONCE == AT_ONCE - 1:
                self.catch_up()
        self.catch_up()

    def start(self, task: str, word: Word, *, wait: int) -> str:
        """Send one input; return its case. Without waiting it is in the queue then."""
        case = f"case-{len(self.taken):05d}"
        self.taken[case] = task
        self._run(task, case, word, wait=wait)
        return case

    def catch_up(self) -> None:
        """Have what waits in the queue answered, and what ended counted."""
        self.world.work()
        self.world.follow()
        # Answers that are to be checked were sent by who counted them.
        self.world.work()
        self.world.follow()

    def _run(self, task: str, case: str, word: Word, *, wait: int) -> None:
        answer = self.world.call(
            "POST",
            f"{TASKS}/{task}/runs",
            {"input": {"text": f"{case} {TEXT} {word(case)}"}},
            headers={"idempotency-key": case},
            query={"wait": wait} if wait else {},
        )
        if "run" in answer:
            before = self.run_ids.setdefault(case, answer["run"]["id"])
            if before != answer["run"]["id"]:
                self.moved.append(f"{case} is {before} and {answer['run']['id']}")

    def teach(self, task: str, *, word: Word = intent_of, label: Word = intent_of) -> None:
        """Have the paid model answer, and import examples.

        In this order: with those a training begins by itself, and answers of the paid model alone
        can judge what comes of it.
        """
        for _ in range(MOST_MORE):
            if (missing := TAUGHT - self.status(task)["examples"]) <= 0:
                break
            self.send(task, missing, word=word)
        self.bring(task, label)

    def bring(self, task: str, label: Word = intent_of, *, first: int = 0) -> None:
        """Import examples, and the same once more."""
        cases = [f"case-9{number:04d}" for number in range(first, first + IMPORTED)]
        lines = [
            {
                "input": {"text": f"{case} {TEXT} {intent_of(case)}"},
                "output": {"intent": label(case)},
            }
            for case in cases
        ]
        body = "\n".join(map(json.dumps, lines)).encode()
        for _ in range(2):
            answer = self.world.call("POST", f"{TASKS}/{task}/examples", raw=body)
            assert answer["status"] == 201, answer
            assert not answer["rejected"], answer
        self.struck["examples brought twice"] += IMPORTED

    def train(
        self, task: str, what: str, may: Collection[str], *, by_itself: bool = False
    ) -> Mapping[str, Any]:
        """Have a training run to its end; return it, and note what came of it.

        Args:
            task: whose it is.
            what: what befalls it.
            may: what may come of it: its state, with its error or objection.
            by_itself: whether nobody begins it.
        """
        self.begin(task, by_itself=by_itself)
        self.world.train(self.hasten)
        return self.ended(task, what, may)

    def begin(self, task: str, *, by_itself: bool = False) -> Mapping[str, Any]:
        """Begin a training, asked for twice; return it."""
        if by_itself:
            self.world.invoke("sweep_trainings")
        else:
            for _ in range(2):
                answer = self.world.call("POST", f"{TASKS}/{task}/trainings")
                assert answer["status"] in (202, 409), answer
        return self.newest(task)

    def newest(self, task: str) -> Mapping[str, Any]:
        """Return the last training of a task."""
        found: list[Mapping[str, Any]] = self.world.call("GET", f"{TASKS}/{task}/trainings")[
            "trainings"
        ]
        return found[0] if found else {"state": "none", "number": 0}

    def ended(self, task: str, what: str, may: Collection[str]) -> Mapping[str, Any]:
        """Note what came of the last training."""
        found = self.newest(task)
        why = found.get("error") or next(iter(found.get("objections", ())), "")
        self.outcomes[what] = (may, f"{found['state']} {why}".strip())
        self.struck[f"trainings {found['state']}"] += 1
        self.say(f"{task}: {what}: {self.outcomes[what][1]}")
        self.world.forget()
        return found

    def status(self, task: str) -> Status:
        """Return where a task stands."""
        found: Status = self.world.call("GET", f"{TASKS}/{task}/status")["status"]
        return found

    def stands(
        self, task: str, what: str, is_so: Callable[[Status], bool], *, word: Word = intent_of
    ) -> None:
        """Send inputs until a task stands so, and count that.

        Raises:
            NeverError: it does not, however many there are.
        """
        for _ in range(MOST_MORE):
            if is_so(status := self.status(task)):
                self.struck[what] += 1
                self.say(f"{task}: {what}: {_told(status)}")
                self.world.forget()
                return
            self.send(task, AT_ONCE, word=word)
        raise NeverError(f"{task}: {what}: {_told(self.status(task))}")

    def change(self, task: str, version: int, how: str) -> None:
        """Promote a version, retire it or roll it back, twice."""
        for _ in range(2):
            self.world.call("POST", f"{TASKS}/{task}/versions/{version}/{how}")


def _told(status: Status) -> str:
    return f"phase {status['phase']}, serving {status['serving']}, canary {status['canary']}"


def configuration(connection_id: str, **fields: Any) -> dict[str, Any]:
    """Return what is put for a task, but for its ``training``."""
    return usual(
        connection_id,
        **{
            "thresholds": THRESHOLDS,
            "confidence": {"falseAlarmPairs": 100},
            "budgets": {"daily": "0.5"},
            **fields,
        },
    )


def training(**fields: Any) -> dict[str, Any]:
    """Return a task's ``training``."""
    return {
        "backend": "linear",
        "fineTuneBatchSize": 50,
        "holdout": 0.5,
        # Of a hold-out this small no narrower one could be shown.
        "noninferiorityMargin": 0.5,
        **fields,
    }


def learn(life: Life, put: Callable[..., Any]) -> None:
    """Live through a task's life.

    Args:
        life: what it is done with.
        put: puts the task with changes of ``training``, and of its budget of a day.
    """
    put(canary=[0.5, 1])
    life.teach(LEARNING)
    life.train(LEARNING, "a training that begins by itself", {"hosted"}, by_itself=True)
    life.stands(LEARNING, "versions in shadow", lambda now: now["candidate"] == 1)
    # The version has shown nothing yet, and nobody else can be paid for.
    put(canary=[0.5, 1], daily=NOTHING_USD)
    life.send(LEARNING, AT_ONCE)
    put(canary=[0.5, 1])
    life.stands(LEARNING, "versions in canary", lambda now: now["canary"] == 1)
    life.stands(
        LEARNING,
        "canaries that go back by themselves",
        lambda now: (now["canary"], now["candidate"]) == (None, 1),
        word=permuted_intent_of,
    )
    life.stands(LEARNING, "versions in canary", lambda now: now["canary"] == 1)
    # Its shares are one after the other; now it takes all of it at once.
    put(canary=[1])
    life.stands(LEARNING, "versions that serve", lambda now: now["serving"] == 1)
    life.bring(LEARNING, first=IMPORTED)
    life.train(LEARNING, "a training beside a version that serves", {"hosted"})
    life.stands(LEARNING, "versions in shadow", lambda now: now["candidate"] == 2)
    life.stands(LEARNING, "versions in canary", lambda now: now["canary"] == 2)
    life.change(LEARNING, 2, "promote")
    life.stands(LEARNING, "versions that serve", lambda now: now["serving"] == 2)
    life.send(LEARNING, AT_ONCE)
    life.change(LEARNING, 2, "rollback")
    life.send(LEARNING, AT_ONCE)
    life.stands(LEARNING, "rollbacks amid traffic", lambda now: now["serving"] == 1)
    life.send(LEARNING, AT_ONCE)


def be_poisoned(life: Life, put: Callable[..., Any]) -> None:
    """Have a paid model whose labels are permuted teach, and be found out."""
    put()
    life.teach(POISONED, word=lambda case: f"{intent_of(case)} {POISON}", label=permuted_intent_of)
    life.train(POISONED, "a poisoned teacher", {"discarded agreement"})
