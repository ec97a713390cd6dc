"""A person is asked where graders are unsure; their answer, or their silence, ends the wait."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune.protocol.limits import MAX_DEADLINE_SECONDS
from autotune_platform.judging.human.models import Review, review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.scoring import GradingEnvironment
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.storage.registry import RECORD
from autotune_platform.storage.table import Table
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.scoring import ResolverParts
from functions.scoring import sweep_batches
from tests.component.scoring.conftest import Trio
from tests.support.clock import TurnedClock
from tests.support.graders import scoring
from tests.support.lambdas import handler

pytestmark = pytest.mark.usefixtures("due_at_once")

DISAGREEMENT = {"disagreementAbove": 0.5, "instructions": "Look twice."}
NOTHING = {"closed": 0, "redriven": 0, "failed": 0, "postponed": 0}


@pytest.fixture(autouse=True)
def _disagreeing(trio: Trio) -> None:
    for grader, value in zip(trio.graders, (1.0, 0.75, 0.25), strict=True):
        grader.disease = scoring(value)


def resolver(*, after: timedelta = timedelta(0)) -> PanelResolver:
    """Return the service as it is at a later time."""
    made = ResolverParts(GradingEnvironment.parse()).resolver
    made.clock = TurnedClock(after)
    return made


def resolve(completion_id: str, *, after: timedelta = timedelta(0)) -> dict[str, datetime]:
    headers = CompletionParts(GradingEnvironment.parse()).completions.headers
    return resolver(after=after).resolve(headers([completion_id]), run_id=None)


def review_of(trio: Trio, completion_id: str) -> Review:
    records = ReviewRecords(Table("completions", clients.dynamodb()))
    headers = CompletionParts(GradingEnvironment.parse()).completions.headers
    panel_id = headers([completion_id])[completion_id].grader_id
    id_ = review_id(completion_id, panel_id)
    return records.find_many([id_])[id_]


def answer(review: Review, **fields: Any) -> None:
    """Record a reviewer's answer, as reviews do."""
    said = {
        "value": 0.25,
        "confidence": 1.0,
        "reviewer_id": "key_1",
        "answered_at": datetime.now(UTC).isoformat(),
        **fields,
    }
    changes = {"state": "answered", "answer": said}
    assert Table("completions", clients.dynamodb()).update(review.id, "review", changes) is not None


def asked(trio: Trio, **review: Any) -> str:
    """Have a completion go to a person; return its id."""
    accepted, runs = trio.start(trio.new_task(review={**DISAGREEMENT, **review}))
    for run in runs.values():
        assert trio.platform.grade(run)["remaining"] == 0
    (completion_id,) = accepted["completionIds"]
    assert trio.verdict(completion_id)["state"] == "pending"
    return completion_id


def test_a_person_is_asked_with_what_graders_came_to(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(review=DISAGREEMENT))
    for run in runs.values():
        trio.platform.grade(run)
    (completion_id,) = accepted["completionIds"]
    review = review_of(trio, completion_id)
    assert (review.state, review.reason) == ("open", "disagreement")
    assert review.instructions == "Look twice."
    *_, last = runs.values()
    assert review.run_id == last["run_id"]
    assert review.batch_id == accepted["batchId"]
    assert review.expires_at - review.created_at == timedelta(days=3)
    assert review.preliminary is not None
    assert (review.preliminary.state, review.preliminary.value) == ("scored", pytest.approx(2 / 3))
    assert [opinion.grader_id for opinion in review.preliminary.opinions] == trio.ids
    stored = Table("completions", clients.dynamodb()).get(review.id, "review")
    assert stored is not None
    assert stored["review_state"] == f"{review.organization_id}#open"
    assert stored["review_time"].endswith(f"#{review.id}")


def test_who_is_sure_and_agrees_asks_nobody(trio: Trio) -> None:
    trio.graders[2].disease = scoring(0.6)
    (verdict,) = trio.score(trio.new_task(review={**DISAGREEMENT, "confidenceBelow": 0.9}))
    assert (verdict["state"], verdict["reviewId"]) == ("scored", None)


def test_the_persons_answer_is_the_verdict_and_opinions_stay(trio: Trio) -> None:
    completion_id = asked(trio)
    review = review_of(trio, completion_id)
    assert resolve(completion_id) == {completion_id: review.expires_at}

    answer(review, value=0.125, explanation="half right")
    assert resolve(completion_id) == {}

    verdict = trio.verdict(completion_id)
    assert (verdict["state"], verdict["decidedBy"]) == ("scored", "person")
    assert verdict["reviewId"] == review.id
    assert (verdict["score"]["value"], verdict["score"]["confidence"]) == (0.125, 1.0)
    assert verdict["score"]["reasoning"] == "half right"
    assert [opinion["value"] for opinion in verdict["opinions"]] == [1.0, 0.75, 0.25]


def test_an_answer_whose_verdict_was_never_written_is_applied_by_the_next_round(
    trio: Trio,
) -> None:
    accepted, runs = trio.start(trio.new_task(review=DISAGREEMENT))
    for run in runs.values():
        trio.platform.grade(run)
    (completion_id,) = accepted["completionIds"]
    answer(review_of(trio, completion_id))
    trio.platform.grade(runs[trio.ids[0]])
    assert trio.verdict(completion_id)["decidedBy"] == "person"
    assert len(trio.graders[0].asked_ids) == 1


@pytest.mark.parametrize(
    ("on_expiry", "state", "value", "reason"),
    [
        ("keep", "scored", pytest.approx(2 / 3), None),
        ("abstain", "abstained", None, None),
        ("fail", "failed", None, "review_expired"),
    ],
)
def test_silence_ends_as_the_task_says(
    trio: Trio, on_expiry: str, state: str, value: Any, reason: str | None
) -> None:
    completion_id = asked(trio, onExpiry=on_expiry, expiresAfterSeconds=60)
    assert resolve(completion_id, after=timedelta(seconds=50)) != {}
    assert resolve(completion_id, after=timedelta(seconds=70)) == {}
    verdict = trio.verdict(completion_id)
    assert (verdict["state"], verdict["reasonCode"]) == (state, reason)
    assert (verdict["score"] or {"value": None})["value"] == value
    assert (verdict["decidedBy"], len(verdict["opinions"])) == ("expiry", 3)
    assert review_of(trio, completion_id).state == "expired"


def test_an_answer_that_came_before_the_end_wins_over_it(trio: Trio) -> None:
    completion_id = asked(trio, onExpiry="fail", expiresAfterSeconds=60)
    answer(review_of(trio, completion_id))
    resolve(completion_id, after=timedelta(hours=1))
    assert trio.verdict(completion_id)["decidedBy"] == "person"


def test_keeping_what_nobody_scored_fails(trio: Trio) -> None:
    task_id = trio.new_task(review={"confidenceBelow": 0.5, "expiresAfterSeconds": 60})
    for grader in trio.graders:
        grader.disease = lambda _: None
    accepted, runs = trio.start(task_id, {"metadata": {"abstain": True}})
    for run in runs.values():
        trio.platform.grade(run)
    (completion_id,) = accepted["completionIds"]
    assert review_of(trio, completion_id).reason == "low_confidence"
    resolve(completion_id, after=timedelta(seconds=70))
    verdict = trio.verdict(completion_id)
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "review_expired")


def test_a_person_has_no_longer_than_the_completion(trio: Trio) -> None:
    task_id = trio.new_task(review=DISAGREEMENT, deadlineSeconds=120)
    accepted, runs = trio.start(task_id)
    for run in runs.values():
        trio.platform.grade(run)
    (completion_id,) = accepted["completionIds"]
    review = review_of(trio, completion_id)
    header = CompletionParts(GradingEnvironment.parse()).completions.headers([completion_id])
    assert review.expires_at == header[completion_id].deadline


def test_nobody_is_asked_who_could_not_answer_in_time(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = trio.new_task(review={**DISAGREEMENT, "onExpiry": "abstain"}, deadlineSeconds=60)
    accepted, runs = trio.start(task_id)
    (completion_id,) = accepted["completionIds"]
    with monkeypatch.context() as broken:
        broken.setattr(PanelResolver, "resolve", lambda *_, **__: {})
        for run in runs.values():
            trio.platform.grade(run)
    assert resolve(completion_id, after=timedelta(seconds=61)) == {}
    verdict = trio.verdict(completion_id)
    assert (verdict["state"], verdict["decidedBy"]) == ("abstained", "expiry")
    assert verdict["reviewId"] is None


def test_what_is_canceled_while_a_person_looks_stays_canceled(trio: Trio) -> None:
    completion_id = asked(trio)
    trio.platform.call("POST", f"/api/v1/completions/{completion_id}/cancel")
    answer(review_of(trio, completion_id))
    assert resolve(completion_id) == {}
    assert trio.verdict(completion_id)["state"] == "canceled"


def test_the_sweeper_lets_people_take_their_time_and_ends_it(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    completion_id = asked(trio, expiresAfterSeconds=60)
    header = CompletionParts(GradingEnvironment.parse()).completions.headers([completion_id])
    batch_id = header[completion_id].batch_id
    for _ in range(7):
        assert trio.platform.operate("sweep_batches") == {**NOTHING, "postponed": 1}
        assert trio.platform.operate("sweep_batches") == NOTHING
        make_due(batch_id)
    assert trio.platform.queued() == []

    make_due(batch_id)
    sweeper_resolver(monkeypatch, timedelta(seconds=70))
    assert trio.platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert trio.verdict(completion_id)["decidedBy"] == "expiry"


def make_due(batch_id: str) -> None:
    table = Table("completions", clients.dynamodb())
    table.update(batch_id, "batch", {"due_at": "2020-01-01T00:00:00.000+00:00"})


def sweeper_resolver(monkeypatch: pytest.MonkeyPatch, ahead: timedelta) -> None:
    monkeypatch.setattr(sweep_batches.parts().resolver, "clock", TurnedClock(ahead))


@pytest.fixture
def human_id(trio: Trio) -> str:
    """A verified grader that is a person."""
    Table("registry", clients.dynamodb()).update(trio.ids[0], RECORD, {"kind": "human"})
    return trio.ids[0]


def test_a_human_grader_is_asked_through_a_review_and_never_called(
    trio: Trio, human_id: str
) -> None:
    accepted, runs = trio.start(trio.platform.new_task(human_id), {}, {})
    (run,) = runs.values()
    assert trio.platform.grade(run)["remaining"] == 0
    assert trio.graders[0].requests == []
    first, second = accepted["completionIds"]
    review = review_of(trio, first)
    assert (review.reason, review.preliminary, review.on_expiry) == ("human", None, "keep")

    answer(review, value=1.0)
    resolve(first)
    verdict = trio.verdict(first)
    assert (verdict["score"]["value"], verdict["decidedBy"]) == (1.0, "person")
    assert verdict["opinions"] == []

    resolve(second, after=timedelta(days=4))
    silent = trio.verdict(second)
    assert (silent["state"], silent["reasonCode"]) == ("failed", "review_expired")


def test_what_is_lost_beside_what_waits_is_driven_again_alone(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(review=DISAGREEMENT), {}, {})
    waits, lost = accepted["completionIds"]
    for run in runs.values():
        trio.platform.grade({**run, "completion_ids": [waits], "remaining": 1})
    assert trio.platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
    trio.platform.dispatch(trio.platform.queued())
    again = [run for run in trio.platform.runs() if run not in runs.values()]
    assert {tuple(run["completion_ids"]) for run in again} == {(lost,)}
    assert len(again) == 3


def test_a_persons_answer_counts_though_their_run_broke(trio: Trio, human_id: str) -> None:
    accepted, runs = trio.start(trio.platform.new_task(human_id), {}, {})
    (run,) = runs.values()
    trio.platform.grade(run)
    answered, open_ = accepted["completionIds"]
    answer(review_of(trio, answered), value=1.0)
    handler("functions.scoring.fail_run")(run, None)
    resolve(answered)
    assert trio.verdict(answered)["decidedBy"] == "person"
    assert trio.verdict(open_)["state"] == "pending"  # an answer needs no run
    answer(review_of(trio, open_), value=0.5)
    resolve(open_)
    assert trio.verdict(open_)["decidedBy"] == "person"


def test_a_recorded_answer_counts_although_the_text_has_expired(trio: Trio, human_id: str) -> None:
    accepted, runs = trio.start(trio.platform.new_task(human_id))
    trio.platform.grade(next(iter(runs.values())))
    (completion_id,) = accepted["completionIds"]
    answer(review_of(trio, completion_id), value=1.0)
    Table("completions", clients.dynamodb()).delete(completion_id, "content")
    assert trio.platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert trio.verdict(completion_id)["decidedBy"] == "person"


def test_a_panel_decides_at_the_deadline_with_whom_it_has(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(quorum=2))
    (completion_id,) = accepted["completionIds"]
    for run in list(runs.values())[:2]:
        trio.platform.grade(run)
    assert trio.platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
    trio.platform.queued()
    parts = sweep_batches.parts()
    late = TurnedClock(timedelta(seconds=MAX_DEADLINE_SECONDS + 1))
    parts.sweeper.clock = parts.recovery.clock = late
    assert trio.platform.operate("sweep_batches") == {**NOTHING, "failed": 1}
    verdict = trio.verdict(completion_id)
    assert (verdict["state"], verdict["decidedBy"]) == ("scored", "panel")
    reasons = Counter(one["reasonCode"] for one in verdict["opinions"])
    assert reasons == {None: 2, "deadline_exceeded": 1}


def test_an_answer_that_was_just_accepted_outlives_its_grader(
    trio: Trio, human_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted, runs = trio.start(trio.platform.new_task(human_id))
    (run,) = runs.values()
    trio.platform.grade(run)
    (completion_id,) = accepted["completionIds"]
    trio.platform.call("DELETE", f"/api/v1/graders/{human_id}")
    expire = ReviewRecords.expire

    def answered_first(self: ReviewRecords, review: Review) -> Review:
        answer(review, value=1.0)
        return expire(self, review_of(trio, completion_id))

    monkeypatch.setattr(ReviewRecords, "expire", answered_first)
    trio.platform.grade(run)
    assert trio.verdict(completion_id)["decidedBy"] == "person"


def test_what_waits_for_a_grader_who_was_deleted_ends_failed(trio: Trio, human_id: str) -> None:
    accepted, runs = trio.start(trio.platform.new_task(human_id))
    trio.platform.call("DELETE", f"/api/v1/graders/{human_id}")
    trio.platform.grade(next(iter(runs.values())))
    (verdict,) = trio.verdicts(accepted)
    assert verdict["state"] == "failed"
    assert [opinion["reasonCode"] for opinion in verdict["opinions"]] == ["grader_missing"]
