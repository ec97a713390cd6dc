"""The same question is scored once: asked twice, at once, after a crash; and anew after a day."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.completions.models import Batch, Completion
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.completions.submission import SubmissionService
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runtime.errors import UnavailableError
from tests.component.rewards.conftest import Rewarded
from tests.support.killing import Killed, Killer


def test_the_same_question_is_asked_once(rewarded: Rewarded) -> None:
    assert rewarded.ask("a", "b", "a") == [None, None, None]
    assert rewarded.ask("b", "c") == [None, None]
    rewarded.platform.score_everything()
    assert sorted(rewarded.responses_graded()) == ["a", "b", "c"]
    first, second, third = rewarded.ask("a", "b", "a")
    assert first is not None
    assert second is not None
    assert first == third
    assert first.completion_id != second.completion_id
    assert rewarded.platform.queued() == []


def test_those_who_ask_at_the_same_time_wait_for_one_completion(rewarded: Rewarded) -> None:
    services: list[RewardScoring] = [rewarded.reward_scoring() for _ in range(8)]
    rewarded.reward_url()  # whose secret is fetched once
    with ThreadPoolExecutor(len(services)) as threads:
        asked = [threads.submit(rewarded.ask, "a", "b", f"own {n}") for n in range(len(services))]
    for one in asked:
        one.result()
    rewarded.platform.score_everything()
    assert sorted(rewarded.responses_graded()) == sorted(
        ["a", "b", *(f"own {n}" for n in range(len(services)))]
    )


def test_a_day_later_it_is_asked_anew(rewarded: Rewarded) -> None:
    rewarded.ask("a")
    rewarded.platform.score_everything()
    rewarded.clock.ahead = timedelta(hours=23)
    assert rewarded.ask("a")[0] is not None
    rewarded.clock.ahead = timedelta(hours=25)
    assert rewarded.ask("a") == [None]
    rewarded.platform.score_everything()
    assert rewarded.responses_graded() == ["a", "a"]
    assert rewarded.ask("a")[0] is not None


def test_claims_are_removed_by_the_table(rewarded: Rewarded) -> None:
    rewarded.ask("a")
    items = boto3.resource("dynamodb").Table("registry").scan()["Items"]
    (claim,) = [item for item in items if item["pk"].startswith("question#")]
    left = int(claim["expires_at"]) - rewarded.clock.now().timestamp()
    assert left == pytest.approx(86_400, abs=5)


def test_a_task_that_changed_is_asked_anew(rewarded: Rewarded) -> None:
    rewarded.ask("a")
    rewarded.platform.score_everything()
    rewarded.platform.call("PATCH", f"/api/v1/tasks/{rewarded.task_id}", {"description": "d"})
    assert rewarded.ask("a") == [None]


@pytest.mark.concurrent
def test_of_those_who_find_a_failure_one_asks_anew(rewarded: Rewarded) -> None:
    rewarded.ask("fail")
    rewarded.platform.score_everything()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: rewarded.ask("fail"), range(4)))
    assert found == [[None]] * 4
    rewarded.platform.score_everything()
    assert rewarded.responses_graded() == ["fail", "fail"]


@pytest.mark.parametrize("responses", [("a",), ("a", "b", "c")], ids=["one", "three"])
def test_a_crash_at_any_step_neither_loses_a_question_nor_asks_it_twice(
    rewarded: Rewarded, responses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time is turned for claims alone; the dead attempt's batch is as old as they are.
    monkeypatch.setattr("autotune_platform.completions.submission._LONGEST_ATTEMPT_SECONDS", 0)
    killer = Killer()
    rewarded.ask(*(f"{one} first" for one in responses))
    steps = list(killer.called)
    assert {"PutItem", "BatchWriteItem", "SendMessageBatch", "UpdateItem"} <= set(steps)
    rewarded.platform.score_everything()
    for step in range(len(steps)):  # before each, and so after each
        where = f"{steps[step]}, step {step}"
        questions = [f"{one} {where}" for one in responses]
        rewarded.clock.ahead = timedelta(0)
        killer.kill("before-call", after=step)
        with pytest.raises(Killed):
            rewarded.ask(*questions)
        killer.spare()
        rewarded.ask(*questions)  # at once: nobody knows yet that the other is dead
        rewarded.clock.ahead = timedelta(seconds=61)
        rewarded.ask(*questions)
        rewarded.ask(questions[0])
        rewarded.platform.score_everything()
        assert all(rewarded.ask(*questions)), where
        asked = [one for one in rewarded.responses_graded() if one in questions]
        assert sorted(asked) == sorted(questions), where


def test_what_a_question_costs(rewarded: Rewarded) -> None:
    rewarded.ask("warm")  # what is fetched once is fetched by now
    killer = Killer()
    rewarded.ask("a")
    first = Counter(killer.called)
    killer.called.clear()
    rewarded.platform.score_everything()
    killer.called.clear()
    rewarded.ask("a")
    assert first["PutItem"] == 2  # the claim, and the batch
    assert first["UpdateItem"] == 1  # still ours
    assert first["TransactWriteItems"] == 1  # accepted, and undecided
    assert first["Query"] == 1  # how many are undecided, once in ten seconds
    assert first["BatchWriteItem"] == first["SendMessageBatch"] == 1
    # The reward URL and the task; the claim, its batch and the verdict.
    assert Counter(killer.called) == {"GetItem": 2, "BatchGetItem": 3}


def test_a_claim_holds_no_text(rewarded: Rewarded) -> None:
    rewarded.ask("planted")
    for table in ("registry", "audit"):
        kept = boto3.resource("dynamodb").Table(table).scan()["Items"]
        assert "planted" not in repr(kept)


def test_a_store_that_refuses_holds_nobody_up(
    rewarded: Rewarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = "autotune_platform.completions.queues.ChunkQueues.send"
    with monkeypatch.context() as broken:
        broken.setattr(sending, _refuse)
        with pytest.raises(ConnectionError):
            rewarded.ask("a")
    rewarded.ask("a")
    rewarded.platform.score_everything()
    assert rewarded.ask("a")[0] is not None


def _refuse(*_: object) -> None:
    raise ConnectionError


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (SubmissionService, "submit"),
        (CompletionRepository, "add_batch"),
        (CompletionRepository, "add_all"),
        (ChunkQueues, "send"),
    ],
    ids=["before its batch", "adding its batch", "adding its completions", "queueing them"],
)
def test_an_attempt_that_is_slow_and_alive_asks_nothing_that_another_took_over(
    rewarded: Rewarded, owner: type, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time is turned for claims alone; the slow attempt's batch is as old as they are.
    monkeypatch.setattr("autotune_platform.completions.submission._LONGEST_ATTEMPT_SECONDS", 0)
    done = getattr(owner, step)
    attempts: list[str] = []

    def hang(*arguments: Any, **named: Any) -> Any:
        attempts.append(step)
        if len(attempts) == 1:
            rewarded.clock.ahead = timedelta(seconds=61)
            rewarded.ask("a", "b")
        return done(*arguments, **named)

    monkeypatch.setattr(owner, step, hang)
    with suppress(UnavailableError):
        rewarded.ask("a", "b")
    rewarded.platform.score_everything()
    assert sorted(rewarded.responses_graded()) == ["a", "b"]
    assert all(rewarded.ask("a", "b"))


def test_what_is_about_to_be_queued_is_not_given_up_by_who_read_it_before(
    rewarded: Rewarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.completions.submission._LONGEST_ATTEMPT_SECONDS", 0)
    add_all, send = CompletionRepository.add_all, ChunkQueues.send
    read: list[Batch] = []

    def add(self: CompletionRepository, completions: list[Completion]) -> None:
        batch = self.get_batch(completions[0].batch_id)
        assert batch is not None
        read.append(batch)
        add_all(self, completions)

    def queue(*arguments: Any) -> None:
        with pytest.raises(UnavailableError):
            rewarded.reward_scoring().submissions.resume(read[0])
        send(*arguments)

    monkeypatch.setattr(CompletionRepository, "add_all", add)
    monkeypatch.setattr(ChunkQueues, "send", queue)
    rewarded.ask("a")
    rewarded.platform.score_everything()
    assert rewarded.responses_graded() == ["a"]
