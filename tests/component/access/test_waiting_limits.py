"""So many requests of an organisation wait, and functions are left to others."""

from contextlib import ExitStack

import pytest

from autotune_platform.budgets.waiting import VERIFICATIONS_AT_ONCE
from tests.component.access.test_limits import caller_of, limit, refused
from tests.support.clock import StandingClock
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import forget_processes
from tests.support.platform import Platform


@pytest.fixture
def waiting(platform: Platform, grader: LoopbackGrader) -> str:
    """A completion that stays pending, in an organisation of which one request may wait."""
    task_id = platform.new_task(platform.new_grader(grader))
    completion_id = platform.submit(task_id, {}).json["completionIds"][0]
    limit(platform, waitingRequests=1)
    return completion_id


def test_so_many_reads_of_an_organisation_wait_and_the_others_are_answered_at_once(
    platform: Platform, waiting: str
) -> None:
    from functions.completions import waiting_api

    clock = StandingClock()
    waiting_api.parts().completions.clock = clock
    path = f"/api/v1/completions/{waiting}/score"

    def slept() -> float:
        before = clock.unix()
        answer = platform.call("GET", path, query={"wait": 5})
        assert (answer.status, answer.json["verdict"]["state"]) == (200, "pending")
        return clock.unix() - before

    assert slept() > 4
    shares = waiting_api.parts().waiting
    with ExitStack() as held:
        caller = caller_of(platform)
        assert held.enter_context(shares.share(caller, 5)) == 5
        assert slept() < 0.5
    assert slept() > 4  # Its place was given back.


def test_a_place_of_a_function_that_was_killed_is_free_when_its_wait_would_have_ended(
    platform: Platform,
) -> None:
    from functions.rewards import answer_trainers

    shares = answer_trainers.parts().reward_answers._waiting
    clock = StandingClock()
    shares.slots.clock = clock
    caller = caller_of(platform)
    killed = shares.share(caller, 60)
    assert killed.__enter__() == 60
    with shares.share(caller, 60) as seconds:
        assert seconds == 0
    clock.sleep(90)
    with shares.share(caller, 60) as seconds:
        assert seconds == 60


def test_so_many_reads_of_all_organisations_wait_and_functions_are_left_to_others(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads that do not wait are served by the same functions, whoever holds most of them."""
    from functions.completions import waiting_api

    monkeypatch.setenv("WAITING_READS", "3")
    forget_processes()
    task_id = platform.new_task(platform.new_grader(grader))
    pending = platform.submit(task_id, {}).json["completionIds"][0]
    clock = StandingClock()
    waiting_api.parts().completions.clock = clock

    def slept() -> float:
        before = clock.unix()
        path = f"/api/v1/completions/{pending}/score"
        assert platform.call("GET", path, query={"wait": 5}).status == 200
        return clock.unix() - before

    shares = waiting_api.parts().waiting
    with ExitStack() as held:
        for name in ("second", "third", "fourth"):
            other = caller_of(platform, platform.new_organization(name))
            assert held.enter_context(shares.share(other, 5)) == 5
        assert slept() < 0.5
        fifth = caller_of(platform, platform.new_organization("fifth"))
        assert held.enter_context(shares.share(fifth, 5)) == 0
    assert slept() > 4  # All places were given back, also those of who found none of all.


def test_so_many_verifications_of_an_organisation_are_under_way_at_once(
    platform: Platform, grader: LoopbackGrader
) -> None:
    """A grader that hangs holds one of the few functions for half a minute."""
    from functions.graders import api

    grader_id = platform.new_grader(grader)
    other = platform.new_organization("second")
    path = f"/api/v1/graders/{grader_id}/verify"
    assert platform.call("POST", path).status == 200
    shares = api.parts().waiting
    with ExitStack() as held:
        for _ in range(VERIFICATIONS_AT_ONCE):
            held.enter_context(shares.verification(caller_of(platform), 26))
        answer = platform.call("POST", path)
        assert refused(answer, 429, "too_many_requests")["maximum"] == VERIFICATIONS_AT_ONCE
        assert answer.headers["retry-after"] == "5"
        # Another organisation's are not counted with them.
        with shares.verification(caller_of(platform, other), 26):
            pass
    assert platform.call("POST", path).status == 200
