"""Waiting for scores: what it reads meanwhile, and how soon it hears of what became of others."""

import json
from typing import Any

import pytest

from autotune_platform.completions.submission import SubmissionService
from autotune_platform.rewards.repository import ClaimRepository, QuestionClaim
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runtime import clients
from tests.component.rewards.conftest import Rewarded


def _keys_read() -> list[int]:
    """Return the number of items that each call of BatchGetItem asks for from now on."""
    read: list[int] = []

    def count(params: dict[str, Any], **_: Any) -> None:
        asked = json.loads(params["body"])["RequestItems"]
        read.extend(len(of_table["Keys"]) for of_table in asked.values())

    clients.dynamodb().meta.events.register("before-call.dynamodb.BatchGetItem", count)
    return read


@pytest.mark.parametrize(("seconds", "most_polls"), [(10, 14), (60, 60), (840, 230)], ids=str)
def test_one_question_is_read_for_all_and_ever_less_often(
    rewarded: Rewarded, passing_time: list[float], seconds: int, most_polls: int
) -> None:
    responses = [f"r{index}" for index in range(30)]
    rewarded.ask(*responses)
    read = _keys_read()
    assert rewarded.ask(*responses, wait_seconds=seconds) == [None] * 30
    # Claims, their one batch and verdicts; one verdict for all while it waits; and all at the end.
    assert (read[:3], read[-1]) == ([30, 1, 30], 30)
    assert set(read[3:-1]) == {1}
    assert len(passing_time) <= most_polls
    assert sum(passing_time) == pytest.approx(seconds)
    assert max(passing_time) <= max(1, min(seconds / 30, 5))


def test_what_is_decided_while_others_are_not_is_heard_of_in_time(
    rewarded: Rewarded, passing_time: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewarded.ask("a")
    rewarded.platform.score_everything()
    looks = RewardScoring._may_have_news

    def is_worth(self: RewardScoring, flow: Any) -> bool:
        if sum(passing_time) > 20:
            rewarded.platform.score_everything()
        return looks(self, flow)

    monkeypatch.setattr(RewardScoring, "_may_have_news", is_worth)
    found = rewarded.ask("b", "a", "c", wait_seconds=100)
    assert all(found)
    assert sum(passing_time) < 23


def test_whose_claim_fails_meanwhile_is_asked_without_waiting_out_the_minute(
    rewarded: Rewarded, passing_time: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, find = SubmissionService.submit, ClaimRepository.find
    as_it_was: list[dict[str, QuestionClaim]] = []
    asked_after: list[float] = []
    fingerprints: list[list[str]] = []

    def fail_once(self: SubmissionService, *arguments: Any, **named: Any) -> Any:
        if as_it_was:
            asked_after.append(sum(passing_time))
            return submit(self, *arguments, **named)
        as_it_was.append(
            find(rewarded.reward_scoring().claims, fingerprints[0], rewarded.clock.now())
        )
        raise ConnectionError

    def find_late(self: ClaimRepository, wanted: Any, now: Any) -> dict[str, QuestionClaim]:
        fingerprints.append(list(wanted))
        if len(fingerprints) == 2:  # read before the other attempt failed
            return as_it_was[0]
        return find(self, fingerprints[-1], now)

    monkeypatch.setattr(SubmissionService, "submit", fail_once)
    monkeypatch.setattr(ClaimRepository, "find", find_late)
    with pytest.raises(ConnectionError):
        rewarded.ask("a")
    assert rewarded.ask("a", wait_seconds=100) == [None]
    assert [seconds < 1 for seconds in asked_after] == [True]
    rewarded.platform.score_everything()
    assert rewarded.responses_graded() == ["a"]
