"""A task with a grader, a reward URL for it, and a clock for claims that a test sets."""

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from autotune_platform.access.capabilities import bearer_of
from autotune_platform.rewards.models import Question, RewardUrl
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.runtime.environment.rewards import RewardEnvironment
from autotune_platform.verdicts.models import Verdict
from autotune_platform.wiring.reward_urls import RewardUrlParts
from autotune_platform.wiring.rewards import RewardScoringParts
from functions.rewards import answer_trainers
from tests.support.clock import TurnedClock
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import Answer
from tests.support.platform import Platform


class ClaimClock(TurnedClock):
    """Turned by tests for the age of claims; where ``passes`` is set, a sleep passes at once."""

    passes = False

    def monotonic(self) -> float:
        return sum(self.slept) if self.passes else time.monotonic()

    def sleep(self, seconds: float) -> None:
        if self.passes:
            super().sleep(seconds)
        else:
            time.sleep(seconds)


@dataclass
class Rewarded:
    """One reward URL, called by its path or beneath the handler."""

    platform: Platform
    grader: LoopbackGrader
    task_id: str
    path: str
    clock: ClaimClock = field(default_factory=ClaimClock)

    def openrlhf(self, *asked: tuple[str, str, Any], **options: Any) -> Answer:
        """Ask about prompts, responses and labels."""
        body = {
            "query": [prompt + response for prompt, response, _ in asked],
            "prompts": [prompt for prompt, _, _ in asked],
            "labels": [label for _, _, label in asked],
        }
        return self.platform.ask(f"{self.path}/openrlhf", body, **options)

    def slime(self, response: str = "r", **fields: Any) -> Answer:
        """Ask about one response."""
        body = {"prompt": "p", "response": response, "label": None, **fields}
        return self.platform.ask(f"{self.path}/slime", body)

    def reward_scoring(self) -> RewardScoring:
        """Return a service of its own, as another process has."""
        service = RewardScoringParts(RewardEnvironment.parse()).reward_scoring
        service.clock = self.clock
        return service

    def reward_url(self) -> RewardUrl:
        proving = RewardUrlParts(SubmissionEnvironment.parse()).reward_urls
        return proving.prove(self.path.removeprefix("/r/"))

    def ask(self, *responses: str, wait_seconds: float = 0) -> list[Verdict | None]:
        questions = [Question("p", response, {}, "f", "f", "f") for response in responses]
        url = self.reward_url()
        scoring = self.reward_scoring()
        return scoring.score(bearer_of(url), url, questions, wait_seconds=wait_seconds)

    def responses_graded(self) -> list[str]:
        """The responses that the grader was asked about, in order, with repetitions."""
        return [
            completion["response"]
            for _, asked in self.grader.requests
            for completion in asked.get("completions", [asked.get("completion")])
        ]


def scoring_by_text(grader: LoopbackGrader) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Judge by the response alone: what it names as state, or a value that follows from it."""

    def judge(completion: dict[str, Any]) -> dict[str, Any]:
        response = completion["response"]
        if "abstain" in response:
            return {"abstained": True}
        if "fail" in response:
            return {"error": "secret words"}
        return {"score": {"value": value_of(response), "confidence": 0.9}}

    return judge


def value_of(response: str) -> float:
    """Return the score of a response, one of 101."""
    told = re.fullmatch(r"v(\d\.\d+)", response)
    if told:
        return float(told[1])
    return hashlib.sha256(response.encode()).digest()[0] % 101 / 100


@pytest.fixture
def rewarded(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> Rewarded:
    monkeypatch.setattr("autotune.protocol.retry.time.sleep", lambda _: None)
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 50})
    grader.judge = scoring_by_text(grader)  # type: ignore[method-assign]
    task_id = platform.new_task(grader_id)
    made = Rewarded(platform, grader, task_id, platform.new_reward_url(task_id))
    answer_trainers.parts().reward_scoring.clock = made.clock
    return made


@pytest.fixture
def passing_time(rewarded: Rewarded) -> list[float]:
    """Turn the clock where somebody would wait; return how long each of the waits was."""
    rewarded.clock.passes = True
    return rewarded.clock.slept
