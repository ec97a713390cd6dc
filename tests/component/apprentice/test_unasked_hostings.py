"""What no run asks any more is hosted for a day, and is made again once it is asked."""

from autotune_platform.apprentice.local.contract import LocalAnswer, Unavailable
from tests.support.apprentice_items import document

GOOD, BAD = (1.0,) * 120, (0.0,) * 60


def a_day_passes(hosted):
    """Have a day pass without a call, and what is taken down after it be gone."""
    hosted.sweep(minutes=31)
    for _ in range(2):
        hosted.sweep()
    hosted.sweep(hours=25)
    for _ in range(6):
        hosted.sweep()


def asked_until_answered(hosted, hosting):
    """Have callers ask a version each half a minute until it answers, and that be noted."""
    for _ in range(20):
        answer = hosted.ask(hosting)
        if isinstance(answer, LocalAnswer):
            assert answer.served_model == hosting.name
            hosted.sweep(seconds=30)
            assert hosted.state(hosting) == "ready"
            return
        hosted.sweep(seconds=30)
    raise AssertionError(answer)


def state_of(hosted, hosting):
    found = hosted.repository.find(hosted.task_id, hosting.name)
    return found.state, found.error


def test_a_version_that_raised_an_emergency_is_hosted_for_a_day_more(hosted):
    hosting = hosted.ready("1-aa", number=1)
    assert hosted.judge(1, *GOOD, *BAD, attempt=1).emergency_at
    hosted.sweep(hours=2)
    hosted.sweep(hours=20)
    assert hosted.state(hosting) == "ready"
    a_day_passes(hosted)
    assert state_of(hosted, hosting) == ("gone", "unasked")
    assert hosted.there() == set()

    # Nobody asks it, so it stays away however long that is, and calls of others do not wake it.
    other = hosted.ready("2-bb", number=2)
    hosted.sweep(minutes=40)
    assert isinstance(hosted.ask(other), Unavailable)
    asked_until_answered(hosted, other)
    assert state_of(hosted, hosting) == ("gone", "unasked")


def test_a_version_that_other_thresholds_have_asked_again_is_made_again(hosted):
    hosting = hosted.ready("1-aa", number=1)
    hosted.judge(1, *GOOD, *BAD, attempt=1)
    a_day_passes(hosted)
    assert hosted.there() == set()

    # Nothing is folded by these yet, so it is in shadow.
    thresholds = {**document()["thresholds"], "emergencyThreshold": 0.1}
    hosted.configure(2, thresholds=thresholds)
    assert isinstance(hosted.ask(hosting), Unavailable)
    asked_until_answered(hosted, hosting)
    a_day_passes(hosted)
    assert hosted.state(hosting) == "ready"


def test_one_call_is_enough_for_a_version_to_be_made_again(hosted):
    hosting = hosted.ready("1-aa", number=1)
    hosted.judge(1, *GOOD, *BAD, attempt=1)
    a_day_passes(hosted)
    hosted.configure(2, thresholds={**document()["thresholds"], "emergencyThreshold": 0.1})

    # It is noted with its minute, and the sweep comes late in each.
    hosted.sweep(seconds=75 - hosted.clock.now().second)
    hosted.clock.turn(seconds=25)
    assert isinstance(hosted.ask(hosting), Unavailable)
    hosted.sweep(seconds=35)
    for _ in range(6):
        hosted.sweep(seconds=60)
    assert hosted.state(hosting) == "ready"


def test_what_a_rollback_returns_to_stays_and_what_was_before_goes(hosted):
    versions = [hosted.ready(f"{at}-aa", number=at) for at in (1, 2, 3)]
    for number, hosting in enumerate(versions, 1):
        evidence = hosted.judge(number, *GOOD, attempt=number)
        assert evidence.graduated_at
        hosted.add_version(hosting, number, canary_at=evidence.sequence)
    a_day_passes(hosted)
    assert [hosted.state(one) for one in versions] == ["gone", "ready", "ready"]

    # An alarm has it graduate again, in which nobody asks it beside a later one.
    assert hosted.judge(2, *GOOD, *(0.6,) * 60, attempt=2).alarmed_at
    a_day_passes(hosted)
    assert [hosted.state(one) for one in versions] == ["gone", "gone", "ready"]
    hosted.retire(versions[2], 3)
    asked_until_answered(hosted, versions[0])
