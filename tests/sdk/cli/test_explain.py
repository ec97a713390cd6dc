"""``autotune explain`` and the examples of its guide, in this process."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from autotune.cli.story import Story
from autotune.protocol.completions import ReasonCode
from autotune.protocol.explanations import AskedGrader
from autotune.protocol.reasons import REASONS
from tests.support.graders import answering, deferring, healthy, loopback_grader

DOCS = Path(__file__).parents[3] / "docs"
# Longer than the slowest machine takes to ask for an explanation.
PATIENCE = {"retry-after": "120"}
_ID = re.compile(r"\b(cmp|bat|run|grd|task|rev|pnl)_[0-9a-v]{26}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \((in )?\d+ (s|min|h|days)( ago)?\)")


@pytest.fixture
def platform(api):
    """The platform, whose runs do one round when they are told to."""
    api.grading_seconds = None
    return api.platform


def submitted(platform, task_id, *completions):
    """Submit; return the batch's id, the completions' ids, and the runs before their round."""
    before = {run["run_id"] for run in platform.runs()}
    accepted = platform.submit(task_id, *(completions or ({},))).json
    platform.dispatch(platform.queued())
    new = [run for run in platform.runs() if run["run_id"] not in before]
    return accepted["batchId"], accepted["completionIds"], new


def examples():
    """What the guide says that each of its commands prints."""
    text = (DOCS / "guides" / "explaining.md").read_text("utf-8")
    found = re.findall(r"^```console\n\$ autotune explain (\w+)\n(.*?)^```$", text, re.M | re.S)
    return [output for _, output in found]


def normalised(output):
    """Output without what differs from run to run: ids keep their kind, times their place."""
    return _TIME.sub("TIME", _ID.sub(r"\1_ID", output))


def in_guide(place):
    """The output of the guide's nth command."""
    return normalised(examples()[place])


def test_a_failed_a_parked_and_a_waiting_completion_stand_in_the_guide(api, platform, run):
    with loopback_grader() as grader:
        grader_id = platform.new_grader(grader, capabilities={"supportsAsync": True})
        task_id = platform.new_task(grader_id, deadlineSeconds=86_400)
        told = []
        for disease, field in (
            (answering(status=400), "failed"),
            (answering(status=503, headers=PATIENCE), "next_attempt"),
            (deferring, "callback"),
        ):
            _, (completion_id,), (progress,) = submitted(platform, task_id)
            grader.disease = disease
            platform.grade(progress)
            ran = run("explain", completion_id)
            assert ran.exit_code == 0
            told.append(normalised(ran.stdout))
            story = run("explain", completion_id, "--json").json_lines[0]["completion"]
            (asked,) = story["graders"]
            assert field in (asked["waitsFor"], asked["state"])
            assert story["verdict"]["state"] == asked["state"]
            if field != "failed":
                assert asked["runId"] == progress["run_id"]
        assert told == [in_guide(place) for place in range(3)]


def test_a_batch_a_run_and_a_grader_stand_in_the_guide(api, platform, run):
    with loopback_grader() as grader:
        grader_id = platform.new_grader(
            grader, capabilities={"maxBatchSize": 100}, limits={"maxConcurrency": 4}
        )
        task_id = platform.new_task(grader_id, deadlineSeconds=86_400)
        batch_id, _, runs = submitted(platform, task_id, *({"prompt": str(n)} for n in range(150)))
        assert len(runs) == 2
        platform.grade(next(one for one in runs if len(one["completion_ids"]) == 50))
        grader.disease = answering(status=503, headers=PATIENCE)
        parked = next(one for one in runs if len(one["completion_ids"]) == 100)
        platform.grade(parked)
        told = [run("explain", id_) for id_ in (batch_id, parked["run_id"], grader_id)]
    assert {ran.exit_code for ran in told} == {0}
    assert [normalised(ran.stdout) for ran in told] == [in_guide(place) for place in range(3, 6)]


def test_runs_of_one_grader_in_a_batch_are_told_apart(api, platform, run):
    with loopback_grader() as grader:
        grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 100})
        task_id = platform.new_task(grader_id)
        batch_id, ids, runs = submitted(
            platform, task_id, *({"prompt": str(n)} for n in range(250))
        )
        for status, progress in zip((503, 429), sorted(runs, key=served(ids)), strict=False):
            grader.disease = answering(status=status)
            platform.grade(progress)
    verdicts = platform.batch(batch_id)["verdicts"]
    reasons = [verdict["reasonCode"] for verdict in verdicts]
    assert reasons[:100] == ["grader_error"] * 100
    assert reasons[100:200] == ["grader_rate_limited"] * 100
    assert reasons[200:] == [None] * 50
    story = run("explain", batch_id, "--json").json_lines[0]
    (asked,) = story["batch"]["graders"]
    assert (asked["pending"], asked["queued"]) == (250, 50)
    assert {(one["completions"], one["reasonCode"]) for one in asked["runs"]} == {
        (100, "grader_error"),
        (100, "grader_rate_limited"),
    }
    assert story["reasons"] == {
        code: REASONS[code].model_dump() for code in ("grader_error", "grader_rate_limited")
    }


def served(ids):
    """Order runs by the first completion that they serve."""
    return lambda progress: ids.index(progress["completion_ids"][0])


def test_each_member_of_a_panel_is_explained_and_so_is_the_person(api, platform, run):
    with loopback_grader() as one, loopback_grader() as other:
        graders = [platform.new_grader(grader) for grader in (one, other)]
        task_id = platform.new_task(
            graders=[{"graderId": id_, "weight": 1} for id_ in graders],
            review={"sampledShare": 1, "correctWithinMinutes": 10},
        )
        _, (completion_id,), runs = submitted(platform, task_id)
        by_grader = {progress["grader_id"]: progress for progress in runs}
        platform.grade(by_grader[graders[0]])
        other.disease = answering(status=503, headers=PATIENCE)
        left = platform.grade(by_grader[graders[1]])
        told = run("explain", completion_id).stdout
        assert f"{graders[0]} version 1.0.0, weight 1: scored" in told
        assert "waits for its next attempt" in told
        assert REASONS["grader_error"].do in told
        other.disease = healthy
        platform.grade(left)
        story = run("explain", completion_id, "--json").json_lines[0]["completion"]
        assert [asked["state"] for asked in story["graders"]] == ["scored", "scored"]
        assert story["review"]["reviewId"].startswith("rev_")
        told = run("explain", completion_id).stdout
        review_id = story["review"]["reviewId"]
        assert f"{review_id} is open until" in told
        assert run("reviews", "answer", review_id, "--value", 0.5).exit_code == 0
        told = run("explain", completion_id).stdout
        assert f"{review_id} is answered, and can be corrected until" in told


def test_what_is_queued_or_decided_or_unknown_is_said_so(api, platform, run):
    task_id = api.new_task()
    accepted = platform.submit(task_id, {}).json
    (completion_id,) = accepted["completionIds"]
    assert "is queued, or in its first round" in run("explain", completion_id).stdout
    platform.score_everything()
    assert "scored 1 at" in run("explain", completion_id).stdout
    assert "1 scored" in run("explain", accepted["batchId"]).stdout
    assert run("explain", "task_" + "0" * 26).exit_code == 4
    assert run("explain", "cmp_" + "0" * 26).exit_code == 4


def test_a_graders_owner_reads_of_their_grader_what_they_may(api, platform, run, monkeypatch):
    owner = platform.new_key("grader_owner")
    grader_id = api.grader_id
    monkeypatch.setenv("AUTOTUNE_API_KEY", owner)
    ran = run("explain", grader_id)
    assert (ran.exit_code, ran.stdout) == (4, "")
    monkeypatch.setenv("AUTOTUNE_API_KEY", platform.new_key("training_operator"))
    assert json.loads(run("explain", grader_id, "--json").stdout)["grader"]["runs"] == []


def test_every_reason_code_has_an_entry_and_the_page_says_the_same():
    assert set(REASONS) == set(get_args(ReasonCode))
    text = (DOCS / "reason-codes.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \|$", text, re.M)
    told = {
        code: [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell) for cell in row] for code, *row in rows
    }
    assert told == {code: [one.means, one.whose, one.do] for code, one in REASONS.items()}


def test_a_language_model_is_waited_for_with_its_request():
    now = datetime(2026, 1, 2, tzinfo=UTC)
    story = Story(now)
    asked = AskedGrader(
        grader_id="grd_1",
        grader_version="1",
        state="pending",
        waits_for="model",
        run_id="run_1",
        attempts=1,
        next_attempt_at=now + timedelta(hours=3),
        source_request_id="llm_1",
    )
    story.add_grader(asked, of_panel=False)
    told = "\n".join(story.lines)
    assert "waits for its language model, at the latest at 2026-01-02 03:00:00 UTC" in told
    assert "request llm_1" in told
