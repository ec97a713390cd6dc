"""Versions that are trained, prove themselves, serve and go, while everything else goes on.

Three tasks, each on a thread of its own. ``learning`` has a linear model, which regresses in its
canary, comes back, and is followed by one that is rolled back. ``poisoned`` has a paid model whose
labels are permuted. ``jobs`` has its models trained and hosted at the local SageMaker
(``tests.chaos.jobs``).
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from autotune import AutotuneClient
from autotune.client.errors import APIError, AutotuneError, ConflictError
from autotune.protocol.apprentice_reports import ApprenticeStatus
from autotune.protocol.apprentice_trainings import ApprenticeTraining
from tests.chaos.apprentice_load import Load
from tests.chaos.patience import patience
from tests.chaos.student import INTENTS, intent_of, permuted_intent_of
from tests.chaos.teacher import POISON
from tests.chaos.texts import TEXT

LEARNING, POISONED, JOBS = "learning", "poisoned", "jobs"
THRESHOLDS = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}
"""A version graduates on 12 pairs that agree, and regresses by 9 that do not."""

CONFIDENCE = {"falseAlarmPairs": 100}
IMPORTED = 140
"""Examples that are brought: half of them are on the side that is learned from."""

TAUGHT = 36
"""Runs of the paid model alone, half of which judge: a hold-out needs eleven."""

GRADUATES, REGRESSES, GRADUATES_AGAIN, PASSES = 16, 14, 18, 34
"""Runs that it takes with some to spare, since one whose model fails is no pair."""

TRAINED_WITHIN, STANDS_WITHIN = 100.0, 25.0
_ENDS_WITHIN = 60.0
"""Seconds for what was begun while there was time."""

_AT_ONCE, _MORE, _MISSED = 3, 4, 4
_Result = TypeVar("_Result")


@dataclass
class Life:
    """What a task's thread does it with.

    Attributes:
        forget: has nobody know what they read of tasks before.
        seconds_left: until nothing more is begun.
        say: prints what came of something.
        outcomes: what befell a training, with what may come of it, and what did.
        struck: how often each thing happened that has to happen.
    """

    client: AutotuneClient
    load: Load
    forget: Callable[[], None]
    seconds_left: Callable[[], float]
    say: Callable[[str], None]
    outcomes: dict[str, tuple[Collection[str], str]] = field(default_factory=dict)
    struck: Counter[str] = field(default_factory=Counter)

    def send(self, task: str, runs: int, *, word: Callable[[str], str] = intent_of) -> None:
        """Send so many inputs."""
        self.load.send(task, runs, seconds_left=self.seconds_left, word=word, at_once=_AT_ONCE)

    def teach(
        self,
        task: str,
        *,
        word: Callable[[str], str] = intent_of,
        label: Callable[[str], str] = intent_of,
    ) -> None:
        """Have the paid model answer, and import examples once its answers are counted.

        In this order: with examples that are imported a training begins by itself, and answers of
        the paid model alone can judge what comes of it.
        """
        self.send(task, TAUGHT, word=word)
        until = time.monotonic() + STANDS_WITHIN * patience()
        while self.status(task).examples < TAUGHT - _MISSED and self._goes_on(until):
            time.sleep(1)
        self.bring(task, label)

    def bring(self, task: str, label: Callable[[str], str] = intent_of, *, first: int = 0) -> None:
        """Import examples, and the same once more."""
        examples = [
            {
                "input": {"text": f"{case} {TEXT} {intent_of(case)}"},
                "output": {"intent": label(case)},
            }
            for case in (f"case-9{number:04d}" for number in range(first, first + IMPORTED))
        ]
        for _ in range(2):
            insisting(lambda: self.client.apprentice.examples.add(task, examples))

    def train(self, task: str, what: str, may: Collection[str]) -> ApprenticeTraining:
        """Have the next training run to its end, whoever begins it, and note what came of it.

        Args:
            task: whose it is.
            what: what befalls it.
            may: what may come of it: its state, and its error or objection.
        """
        training = self.begun(task)
        return self.ended(task, training.number, what, may)

    def begun(self, task: str) -> ApprenticeTraining:
        """Begin a training twice at once, unless one is under way; return it."""

        def begin() -> None:
            with suppress(AutotuneError):
                self.client.apprentice.trainings.start(task)

        threads = [threading.Thread(target=begin) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        def newest() -> ApprenticeTraining:
            with suppress(ConflictError):
                return self.client.apprentice.trainings.start(task)
            return next(iter(self.client.apprentice.trainings.list(task)))

        found = insisting(lambda: next(iter(self.client.apprentice.trainings.list(task)), None))
        return found if found is not None and found.state == "running" else insisting(newest)

    def ended(self, task: str, number: int, what: str, may: Collection[str]) -> ApprenticeTraining:
        """Wait until a training has ended, and note what came of it."""
        until = time.monotonic() + TRAINED_WITHIN * patience()
        while True:
            found = insisting(lambda: self.client.apprentice.trainings.get(task, number))
            if found.state != "running" or not self._goes_on(until):
                break
            time.sleep(1)
        why = found.error or next(iter(found.objections), "")
        self.outcomes[what] = (may, f"{found.state} {why}".strip())
        self.struck[f"trainings {found.state}"] += 1
        self.say(f"{task}: {what}: {self.outcomes[what][1]}")
        return found

    def status(self, task: str) -> ApprenticeStatus:
        """Return where a task stands."""
        return insisting(lambda: self.client.apprentice.status(task))

    def stands(
        self,
        task: str,
        what: str,
        is_so: Callable[[ApprenticeStatus], bool],
        *,
        more: Callable[[str], str] | None = None,
    ) -> bool:
        """Wait until a task stands so, have all forget how it stood before, and count that.

        Args:
            more: the word of further inputs that are sent until it does; none are without it.
        """
        until = time.monotonic() + STANDS_WITHIN * patience()
        while not (found := is_so(self.status(task))) and self._goes_on(until):
            if more is not None:
                # A run whose worker was killed is a pair later, and whoever knew the task before
                # may have gone by that.
                self.forget()
                self.send(task, _MORE, word=more)
            time.sleep(1)
        self.struck[what] += found
        self.say(f"{task}: {what if found else f'no {what}'}")
        self.forget()
        return found

    def _goes_on(self, until: float) -> bool:
        """Return whether something may be waited for still."""
        return time.monotonic() < until and self.seconds_left() > -_ENDS_WITHIN


def insisting(ask: Callable[[], _Result], *, seconds: float = 40) -> _Result:
    """Ask until there is an answer: whoever answers may just be killed."""
    until = time.monotonic() + seconds * patience()
    while True:
        try:
            return ask()
        except AutotuneError as error:
            is_final = isinstance(error, APIError) and error.status < 429
            if is_final or time.monotonic() > until:
                raise
            time.sleep(0.5)


def configuration(
    connection_id: str, model: str, usd: str, *, training: Mapping[str, Any], **fields: Any
) -> dict[str, Any]:
    """Return the configuration of a task that is trained."""
    return {
        "description": "Tells what a customer wants.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {"intent": {"enum": list(INTENTS)}},
            "required": ["intent"],
        },
        "systemPrompt": "You tell intents apart.",
        "promptTemplate": "What does the customer want? {{text}}",
        "remote": {
            "primary": {
                "connectionId": connection_id,
                "model": model,
                "maxOutputTokens": 60,
                "timeoutS": 5,
                "maxRetries": 2,
            }
        },
        "local": {"backend": "linear", "timeoutMs": 10_000},
        "evaluator": {"type": "structured_match", "matchFields": ["intent"]},
        "thresholds": THRESHOLDS,
        "confidence": CONFIDENCE,
        "sampling": {"decay": "exponential"},
        "budgets": {"daily": usd},
        "training": {
            "backend": "linear",
            "fineTuneBatchSize": 50,
            "holdout": 0.5,
            # Of a hold-out this small no narrower one could be shown.
            "noninferiorityMargin": 0.5,
            **training,
        },
        **fields,
    }


def learn(life: Life, put: Callable[..., None]) -> None:
    """Live through a task's life.

    Args:
        life: what it is done with.
        put: puts the task with changes of ``training``.
    """
    life.teach(LEARNING)
    life.train(LEARNING, "a linear training", {"hosted"})
    if not life.stands(LEARNING, "versions in shadow", lambda now: now.candidate == 1):
        return
    life.send(LEARNING, GRADUATES)
    life.stands(LEARNING, "versions in canary", lambda now: now.canary == 1, more=intent_of)
    life.send(LEARNING, REGRESSES, word=permuted_intent_of)
    life.stands(
        LEARNING,
        "canaries that went back by themselves",
        lambda now: now.canary is None and now.candidate == 1,
        more=permuted_intent_of,
    )
    # Its shares are one after the other; now it takes all of it at once.
    put(canary=[1])
    life.send(LEARNING, GRADUATES_AGAIN)
    life.stands(LEARNING, "versions in canary", lambda now: now.canary == 1, more=intent_of)
    life.send(LEARNING, PASSES)
    life.stands(LEARNING, "versions that serve", lambda now: now.serving == 1, more=intent_of)
    life.bring(LEARNING, first=IMPORTED)
    life.train(LEARNING, "a linear training beside one that serves", {"hosted"})
    if not life.stands(LEARNING, "versions in shadow", lambda now: now.candidate == 2):
        return
    life.send(LEARNING, GRADUATES)
    life.stands(LEARNING, "versions in canary", lambda now: now.canary == 2, more=intent_of)
    with suppress(AutotuneError):
        insisting(lambda: life.client.apprentice.versions.promote(LEARNING, 2))
    life.stands(LEARNING, "versions that serve", lambda now: now.serving == 2)
    traffic = threading.Thread(target=life.send, args=(LEARNING, 10))
    traffic.start()
    with suppress(AutotuneError):
        insisting(lambda: life.client.apprentice.versions.roll_back(LEARNING, 2))
    traffic.join()
    life.stands(LEARNING, "rollbacks amid traffic", lambda now: now.serving == 1)
    life.send(LEARNING, 6)


def be_poisoned(life: Life) -> None:
    """Have a paid model whose labels are permuted teach, and be found out."""

    def word(case: str) -> str:
        return f"{intent_of(case)} {POISON}"

    life.teach(POISONED, word=word, label=permuted_intent_of)
    life.train(POISONED, "a poisoned teacher", {"discarded agreement"})
