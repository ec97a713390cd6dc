"""Each invariant of the lives of versions holds on a good example and fails on a bad one."""

from datetime import UTC, datetime
from typing import Any

import pytest

from autotune_platform.apprentice.evidence import Rules
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.phases import Stage
from autotune_platform.apprentice.training.models import (
    LastTraining,
    TrainedModel,
    Training,
    TrainingJob,
)
from autotune_platform.apprentice.versions.models import ModelVersion
from tests.chaos import life_invariants as lived
from tests.chaos import student_job
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.life_watch import Seen, Watch, Watched, as_it_ended, group_of, months

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
AT = NOW.timestamp()
DOCUMENT: dict[str, Any] = {
    "thresholds": {
        "phase1ToPhase2": 5,
        "phase2ToPhase3": 0.6,
        "coachingTrigger": 0.5,
        "emergencyThreshold": 0.1,
    },
    "confidence": {"alpha": 0.05, "falseAlarmPairs": 100},
    "local": {"gate": "none"},
}
RULES = {1: Rules(graduation=0.6, coaching=0.5, emergency=0.1, false_alarm_pairs=100)}
GOOD = [1.0] * 14
"""Of which the twelfth has a version graduate."""


def training(number: int, state: str = "hosted", **fields: Any) -> Training:
    ends: dict[str, dict[str, Any]] = {
        "hosted": {"version": number, "model": model(number)},
        "discarded": {"objections": ("agreement",), "model": model(number)},
        "failed": {"error": "algorithm_error"},
        "running": {},
    }
    made = {
        "id": f"trn_{number}",
        "organization_id": "org_1",
        "task_id": "apt_1",
        "task_name": "t",
        "number": number,
        "backend": "linear",
        "configuration_version": 1,
        "definition_hash": "h",
        "created_at": NOW,
        "created_by": "key",
        "due_at": NOW,
        "ended_at": NOW,
        "state": state,
        **ends[state],
    }
    return Training.model_validate({**made, **fields})


def model(number: int) -> TrainedModel:
    return TrainedModel(name=f"model-{number}", sha256="00", size_bytes=1, seconds=1)


def version(number: int, **fields: Any) -> ModelVersion:
    made = {
        "task_id": "apt_1",
        "organization_id": "org_1",
        "number": number,
        "definition_hash": "h",
        "backend": "linear",
        "model": f"model-{number}",
        "created_at": NOW,
        "created_by": "key",
    }
    return ModelVersion.model_validate({**made, **fields})


def job(*, reserved: int = 5) -> TrainingJob:
    return TrainingJob(
        name="autotune-trn-1-1",
        attempt=1,
        instance_type="ml.g5.xlarge",
        price_nano_usd=1,
        reserved_nano_usd=reserved,
        periods=("2026-11",),
        planned_at=NOW,
    )


def kept(scores: list[float] = GOOD, *runs: dict[str, Any]) -> Kept:
    pairs = [
        {
            "pk": "apt_1#pairs#000001",
            "sk": f"{number:010d}",
            "sequence": float(number),
            "score": score,
            "is_drawn": True,
            "at": AT + number,
        }
        for number, score in enumerate(scores, 1)
    ]
    return Kept.of([*pairs, *runs], [])


def run(id_: str = "apr_1", *, after: float, in_canary: bool = False) -> dict[str, Any]:
    at = datetime.fromtimestamp(AT + after, UTC).isoformat()
    return {
        "pk": id_,
        "sk": "run",
        "task_id": "apt_1",
        "answers": "local",
        "local_version": 1.0,
        "in_canary": in_canary,
        "created_at": at,
        "ended_at": at,
    }


def test_no_group_is_on_both_sides_and_no_job_has_a_hold_out() -> None:
    check = lived.no_row_held_out_is_learned
    groups: Any = {("apt_1", "train"): {"a"}, ("apt_1", "holdout"): {"b"}}
    jobs = {"job": ["s3://b/apprentice/apt_1/data/trn_1/train-0.jsonl.gz", "s3://b/bases/x"]}
    assert not check(groups, jobs).violations
    both: Any = {**groups, ("apt_1", "train"): {"a", "b"}}
    assert check(both, jobs).violations == ["apt_1 learns group b, which it holds out"]
    # Of another task it says nothing.
    assert not check({**groups, ("apt_2", "train"): {"b"}}, jobs).violations
    given = {"job": ["s3://b/apprentice/apt_1/data/trn_1/holdout-0.jsonl.gz"]}
    assert len(check(groups, given).violations) == 1
    assert len(check(groups, {"job": ["s3://b/apprentice/apt_1/data/"]}).violations) == 1
    assert check({}, {}).violations == ["no data set was seen"]


def test_trainings_end_in_one_way() -> None:
    check = lived.each_training_ends_once
    good = [training(1), training(2, "discarded"), training(3, "failed"), training(4)]
    last = LastTraining(number=4, outcome="hosted")
    versions = {1: version(1), 4: version(4)}
    assert not check(good, last, versions, [1, 4]).violations
    bad: list[tuple[Any, ...]] = [
        ([*good[:3], training(4, "running", ended_at=None)], last, {1: version(1)}, [1]),
        ([*good[:3], training(4, error="canceled")], last, versions, [1, 4]),
        ([training(1), training(2, "failed", version=2), *good[2:]], last, versions, [1, 4]),
        ([training(1), training(2, "discarded", objections=()), *good[2:]], last, versions, [1, 4]),
        (good[:3], last, {1: version(1)}, [1]),
        (good, LastTraining(number=4, running=4, outcome="hosted"), versions, [1, 4]),
        (good, LastTraining(number=4, outcome="failed"), versions, [1, 4]),
        (good, last, {**versions, 5: version(5)}, [1, 4]),
        (good, last, {1: version(1)}, [1]),
        ([*good[:3], training(4, version=1)], last, {1: version(1)}, [1]),
        (good, last, {**versions, 4: version(4, model="model-3")}, [1, 4]),
        (good, last, versions, [1]),
    ]
    for case in bad:
        assert check(*case).violations, case
    # Versions that people registered are of no training.
    assert not check(good, last, {**versions, 5: version(5, backend="vllm")}, [1, 4]).violations


def test_money_for_trainings_is_spent_or_free() -> None:
    check = lived.money_for_trainings_adds_up
    one = training(1, spent_nano_usd=3)

    def month(nano_usd: int) -> dict[str, int]:
        return {"2026-11": nano_usd}

    assert not check([one], month(3), month(3)).violations
    assert check([one], month(3), month(2)).violations
    assert check([one], month(8), month(3)).violations == ["{'2026-11': 5} set aside"]
    given_up = training(2, "failed", error="platform_error", job=job())
    assert not check([one, given_up], month(3), month(3)).violations
    assert check([one, given_up], month(8), month(3)).violations
    assert check([training(3, "running", ended_at=None, job=job())], month(5), {}).violations
    # What was set aside in a month that is over was given back to the next one.
    moved = {"2026-11": 8, "2026-12": -5}
    assert check([one], moved, {"2026-11": 3, "2026-12": 0}).violations


@pytest.mark.parametrize(("error", "stays"), [("platform_error", True), ("job_failed", False)])
def test_a_job_is_paid_for_later_where_its_training_was_given_up(error: str, stays: bool) -> None:
    ended = training(1, "failed", error=error, job=job())
    paid = ended.model_copy(update={"spent_nano_usd": 3, "billable_seconds": 2, "job": None})
    assert (as_it_ended(ended) == as_it_ended(paid)) is stays
    assert as_it_ended(ended) != as_it_ended(paid.model_copy(update={"state": "discarded"}))


def test_a_phase_is_that_of_pairs() -> None:
    def found(scores: list[float], told: dict[str, Any], **fields: Any) -> list[str]:
        versions = {1: version(1, **fields)}
        return list(
            lived.phase_follows_from_pairs(
                kept(scores), "apt_1", DOCUMENT, versions, 9, told
            ).violations
        )

    shadow = {"phase": 2, "serving": None, "candidate": 1, "canary": None}
    canary = {**shadow, "canary": 1}
    serves = {"phase": 3, "serving": 1, "candidate": None, "canary": None}
    assert not found(GOOD[:11], shadow)
    assert not found(GOOD, canary)
    assert not found(GOOD, serves, canary_at=13)
    # What somebody stored of a phase, whatever the pairs say.
    assert found(GOOD[:11], canary)
    assert found(GOOD, shadow)
    assert found(GOOD[:11], serves, canary_at=13)
    # An alarm takes back what was passed before it.
    assert not found([*GOOD, *[0.0] * 9], shadow, canary_at=13)
    assert found([*GOOD, *[0.0] * 9], serves, canary_at=13)


def test_who_answers_had_graduated() -> None:
    def found(
        *runs: dict[str, Any], scores: list[float] = GOOD, seen: Any = (), forgot_at: float = 0
    ) -> list[str]:
        known = {("apt_1", 1): list(seen)}
        check = lived.only_validated_versions_answer
        forgot = [0.0, AT + forgot_at]
        return list(check(kept(scores, *runs), "apt_1", RULES, known, forgot).violations)

    serving = [Seen(AT, Stage.SHADOW, None), Seen(AT + 13, Stage.SERVES, 13)]
    assert not found(run(after=60), seen=serving)
    assert found(run(after=60), scores=GOOD[:11], seen=serving)
    assert found(run(after=11), seen=serving), "it graduated a second later"
    assert found(seen=serving) == ["no run of apt_1 was answered by a version"]
    # A version in its canary answers who was drawn for it.
    in_canary = [Seen(AT, Stage.SHADOW, None), Seen(AT + 13, Stage.CANARY, None)]
    assert not found(run(after=200, in_canary=True), seen=in_canary)
    assert found(run(after=200), seen=in_canary)
    # Of one that fell back a process may know how it stood before, until that is forgotten.
    fell = [*in_canary, Seen(AT + 100, Stage.SHADOW, None)]
    assert not found(run(after=120, in_canary=True), seen=fell)
    assert found(run(after=120, in_canary=True), seen=fell, forgot_at=110)


def hosting(name: str, state: str = "ready") -> Hosting:
    made = {
        "name": name,
        "kind": "base",
        "task_id": "apt_1",
        "artifact": "s3://b/x",
        "idle_minutes": 30,
        "state": state,
        "since": NOW,
        "due_at": NOW,
    }
    return Hosting.model_validate(made)


def test_hosts_are_somebodys() -> None:
    def found(hostings: list[Hosting], there: dict[str, str], stack: str = "autotune") -> list[str]:
        tags = {
            name: {"autotune:stack": stack, "autotune:hosting": of} for name, of in there.items()
        }
        return list(lived.no_host_is_nobodys(hostings, tags, stack="autotune").violations)

    assert not found([hosting("a"), hosting("b", "gone")], {"a": "a"})
    assert found([], {"a": "a"}) == ["a is hosted, and nobody wants it"]
    assert found([hosting("a", "gone")], {"a": "a"})
    assert found([hosting("a")], {"a": "a"}, stack="other")
    assert found([hosting("a"), hosting("b")], {"a": "a"}) == ["b is ready, and is not hosted"]
    assert found([hosting("a"), hosting("b")], {"a": "a", "b": "a"})
    assert not lived.nothing_is_hosted([], [hosting("a", "gone")]).violations
    assert lived.nothing_is_hosted(["a"], []).violations
    assert lived.nothing_is_hosted([], [hosting("a", "deleting")]).violations


def test_faults_come_to_their_ends() -> None:
    check = lived.each_came_to
    assert not check(
        {"a program that fails": ({"failed algorithm_error"}, "failed algorithm_error")}
    ).violations
    assert check({"a poisoned teacher": ({"discarded agreement"}, "hosted")}).violations
    assert not check({"killed": ({"hosted"}, "failed platform_error")}).violations
    assert check({"never ended": ({"hosted"}, "running")}).violations


def test_money_of_months_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "__post_init__", lambda _: None)

    def looked(committed: int) -> Watch:
        task = Watched("t", "apt_1", training_usd=10)
        item = {"committed#2026-11": committed, "committed#2026-11-27": 99}
        watch = Watch("org_1", [task], lambda _: item)
        watch.look_at_money(task)
        return watch

    assert not looked(10).money_finding().violations
    assert looked(11).money_finding().violations
    item = {"spent#2026-11": 3, "spent#2026-11-27": 9, "spent#2026-W48": 9}
    assert months(item, "spent#") == {"2026-11": 3}


def test_what_had_ended_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "__post_init__", lambda _: None)
    watch = Watch("org_1", [], lambda _: {})
    task, now = Watched("t", "apt_1"), [training(1)]
    monkeypatch.setattr(watch, "trainings", lambda _: now)
    watch.look_at_trainings(task)
    watch.look_at_trainings(task)
    assert (watch.ended_finding().checked, watch.ended_finding().violations) == (1, [])
    now[0] = training(1, "failed")
    watch.look_at_trainings(task)
    assert watch.ended_finding().violations == ["trn_1: hosted became failed"]


def test_groups_are_those_of_inputs() -> None:
    assert group_of({"input": {"text": "Lost  my card"}}) == group_of(
        {"input": {"text": "lost my CARD"}}
    )
    assert group_of({"input": {"text": "lost"}}) != group_of({"input": {"text": "found"}})


def test_the_program_of_jobs_is_whole() -> None:
    compile(student_job.TRAIN, "train.py", "exec")
