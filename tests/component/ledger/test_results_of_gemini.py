"""How Gemini's batch jobs end, and what each line of their results becomes, against the fake."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autotune_platform.ledger.calls import Answer
from autotune_platform.ledger.job_sizes import JOB_SIZES
from autotune_platform.ledger.jobs.contract import (
    Line,
    Running,
)
from tests.support.gemini_jobs import (
    JOBS,
    MODEL,
    Scene,
    answers,
    gemini_scenes,
    ids,
    refusals,
)

FAULTS = ("429", "500", "timeout", "answer_lost")


@pytest.fixture
def scenes() -> Iterator[Callable[..., Scene]]:
    with gemini_scenes() as made:
        yield made


@pytest.fixture
def scene(scenes: Callable[..., Scene]) -> Scene:
    return scenes()


def test_results_may_come_later_than_the_end(scene: Scene) -> None:
    scene.arm("output_id_later", params={"seconds": 600})
    ended = scene.start().ended()
    assert (ended.how, ended.results, ended.succeeded) == ("completed", [], 10)
    assert len(scene.ended(after=600).results) == 1


def test_results_may_never_come(scene: Scene) -> None:
    scene.arm("completed_without_output")
    ended = scene.start().ended(after=90_000)
    assert (ended.how, ended.results, ended.succeeded) == ("completed", [], 10)


@pytest.mark.parametrize("trap", ["counts_zero", "counts_absent"])
def test_counts_that_cannot_be_are_none(scene: Scene, trap: str) -> None:
    scene.arm(trap)
    ended = scene.start().ended()
    assert (ended.succeeded, ended.total) == (None, None)
    assert len(answers(scene.lines(ended))) == 10


def test_zeros_are_left_out_of_counts(scene: Scene) -> None:
    scene.arm("row_error", rows=list(range(10)), params={"status": 400})
    ended = scene.start().ended()
    assert (ended.succeeded, ended.total) == (0, 10)


@pytest.mark.parametrize("trap", ["expires_partial", "expires_empty"])
def test_an_expired_job_has_no_results(scene: Scene, trap: str) -> None:
    scene.arm(trap)
    ended = scene.start().ended()
    assert (ended.how, ended.results, ended.succeeded, ended.total) == ("expired", [], 0, 10)
    assert scene.world.executions == []


def test_a_job_that_takes_two_days_expires(scene: Scene) -> None:
    scene.world.timing.run_seconds = 60 * 3600
    scene.start()
    assert scene.look(after=47 * 3600) == Running()
    assert scene.ended(after=2 * 3600).how == "expired"
    assert JOB_SIZES["gemini"].ends_within.total_seconds() == 48 * 3600


def test_a_job_that_is_late_succeeds(scene: Scene) -> None:
    scene.arm("succeeds_late")
    scene.start()
    assert scene.look(after=86_400) == Running()
    assert scene.ended(after=5_000).how == "completed"


def test_a_canceled_job_has_no_results(scene: Scene) -> None:
    scene.start()
    assert JOBS.cancel(scene.session, scene.job) is None
    ended = scene.ended()
    assert (ended.how, ended.results, ended.succeeded) == ("canceled", [], 0)
    assert JOBS.cancel(scene.session, scene.job) is None
    assert scene.world.executions == []


def test_a_job_may_complete_though_it_was_canceled(scene: Scene) -> None:
    scene.arm("cancel_completes")
    scene.start()
    assert JOBS.cancel(scene.session, scene.job) is None
    ended = scene.ended()
    assert ended.how == "completed"
    assert len(answers(scene.lines(ended))) == 10


def test_a_poison_row_fails_the_job_and_no_line_is_named(scene: Scene) -> None:
    scene.arm("poison_row", rows=[3])
    ended = scene.start().ended()
    assert (ended.how, ended.results, ended.lines) == ("failed", (), {})
    assert ended.refusal is not None
    assert ended.refusal.code == "rejected"
    assert not ended.refusal.may_be_paid


@pytest.mark.parametrize(
    ("status", "code", "sent"),
    [
        (400, "rejected", 3),
        (401, "account", 16),
        (403, "account", 7),
        (404, "rejected", 5),
        (429, "rate_limited", 8),
        (500, "provider_error", 13),
        (503, "provider_error", 14),
        (0, "provider_error", 2),
    ],
)
def test_a_row_that_failed(scene: Scene, status: int, code: str, sent: int) -> None:
    scene.arm("row_error", rows=[4], params={"status": status})
    ended = scene.start().ended()
    content = scene.fetch(ended)
    assert f'"error": {{"code": {sent},'.encode() in content
    lines = scene.lines(ended)
    (refusal,) = refusals(lines)
    assert (refusal.code, refusal.may_be_paid) == (code, False)
    assert [one.custom_id for one in lines if one and one.outcome == refusal] == ["row4"]
    assert (ended.succeeded, ended.total) == (9, 10)


def test_credit_that_ends_midway(scene: Scene) -> None:
    scene.arm("credit_ends")
    lines = scene.lines(scene.start().ended())
    assert len(answers(lines)) == 5
    assert Counter(one.code for one in refusals(lines)) == {"rate_limited": 5}


def test_lines_in_any_order_doubled_unknown_foreign_and_missing(
    scenes: Callable[..., Scene],
) -> None:
    scenes(rows=1, nonce="other").start()
    scene = scenes()
    for trap in (
        "rows_shuffled",
        "rows_doubled_alike",
        "rows_doubled_conflicting",
        "rows_unknown_id",
        "rows_foreign_id",
    ):
        scene.arm(trap)
    scene.arm("rows_missing", rows=[2])
    lines = scene.lines(scene.start().ended())
    found = Counter(ids(lines))
    assert len(answers(lines)) == len(lines) == 13
    assert set(found) == {f"row{number}" for number in range(10) if number != 2} | {"nobody-0"}
    sprung = {one.trap for one in scene.world.traps.firings}
    assert {"rows_shuffled", "rows_doubled_conflicting", "rows_foreign_id"} < sprung


@pytest.mark.parametrize(
    ("trap", "params", "whole", "broken"),
    [
        ("jsonl_cut", {}, 5, 1),
        ("jsonl_bad_utf8", {}, 9, 1),
        ("jsonl_empty_lines", {}, 10, 0),
        ("jsonl_long_line", {"bytes": 10_000_000}, 10, 0),
    ],
)
def test_lines_that_are_spoiled(
    scene: Scene, trap: str, params: dict[str, Any], whole: int, broken: int
) -> None:
    ended = scene.start().ended()
    scene.arm(trap, params=params)
    lines = scene.lines(ended)
    assert len(answers(lines)) == whole
    assert [one.code for one in refusals(lines)] == ["result_malformed"] * (
        trap == "jsonl_long_line"
    )
    assert lines.count(None) == broken


def test_kinds_of_answers(scene: Scene) -> None:
    for row, trap in enumerate(
        ["finish_length", "finish_refusal", "cached_tokens", "other_model", "no_usage"]
    ):
        scene.arm(trap, rows=[row])
    lines = scene.lines(scene.start().ended())
    found = {line.custom_id: line.outcome for line in lines if line}
    kinds = [found[f"row{number}"] for number in range(6)]
    assert all(isinstance(one, Answer) for one in kinds)
    length, refused, cached, other, unused, plain = answers([Line("", one) for one in kinds])
    assert (length.finish_reason, refused.finish_reason) == ("length", "refusal")
    assert plain.usage is not None
    assert plain.usage.cached_input_tokens == 0
    assert cached.usage is not None
    assert cached.usage.cached_input_tokens > 0
    assert (plain.served_model, unused.usage) == (MODEL, None)
    assert other.served_model not in {None, MODEL}
