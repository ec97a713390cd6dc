"""``autotune apprentice train`` and ``trainings``: a small model is trained, and looked at."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import get_args

import pytest

from autotune.cli import exit_codes
from autotune.cli.apprentice_training_words import why_not
from autotune.cli.apprentice_trainings import show
from autotune.cli.invocation import Invocation
from autotune.protocol.apprentice_trainings import (
    ApprenticeTraining,
    ApprenticeTrainingComparison,
    ApprenticeTrainingObjection,
    ApprenticeTrainingTest,
)
from tests.support.apprentice_runs import runs as make_runs
from tests.support.ledger import ledger as make_ledger
from tests.support.trainings import trainings as make_trainings

SERVED_ELSEWHERE = {"backend": "vllm", "url": "https://models.example.com/v1"}


@pytest.fixture
def trainings(api, monkeypatch):
    """A task whose small model is trained here, without examples."""
    with (
        make_ledger(api.platform) as ledger,
        make_runs(ledger) as runs,
        make_trainings(runs, monkeypatch) as made,
    ):
        yield made


@pytest.fixture
def trained(trainings, monkeypatch):
    """Do all steps where the command line waits."""

    def wait(_: float) -> None:
        trainings.steps(trainings.executions()[0])

    monkeypatch.setattr("autotune.client.clients.time", SimpleNamespace(sleep=wait))
    return trainings


def fields(ran):
    """What was printed of one thing, by its names."""
    return dict(line.split(maxsplit=1) for line in ran.stdout.splitlines())


def test_a_model_is_trained_and_shown_with_its_test(run, trained):
    trained.ask(160)
    ran = run("apprentice", "train", "intents")
    assert ran.exit_code == 0, ran.stderr
    assert ran.stderr == "training 1 of intents\n"
    shown = fields(ran)
    assert (shown["state"], shown["step"], shown["version"]) == ("hosted", "host", "1")
    (training,) = run("apprentice", "trainings", "intents", "1", "--json").json_lines
    test = training["test"]
    assert shown["bound"] == f"{test['bound']:.3f} (above 0.600)"
    assert shown["groups"] == f"{test['groups']} (at least {test['fewestGroups']})"
    assert int(shown["examples"]) + int(shown["heldOut"]) == 160
    assert fields(run("apprentice", "trainings", "intents", "1")) == shown
    heads, line = (
        [cell for cell in row.split("  ") if cell]
        for row in run("apprentice", "trainings", "intents").stdout.splitlines()
    )
    assert [one.strip() for one in heads][:3] == ["TRAINING", "STATE", "STEP"]
    assert [one.strip() for one in line][:3] == ["1", "hosted", "host"]
    gate = test["gate"]
    assert gate is not None
    assert shown["gate"].startswith(f"of {gate['coverage']:.1%} of inputs it is sure enough")
    assert shown["gate"].endswith("; the task had no gate")


def test_too_few_examples_are_said_with_how_many_it_takes(run, trained):
    ran = run("apprentice", "train", "intents")
    assert ran.exit_code == exit_codes.INCOMPLETE
    shown = fields(ran)
    assert shown["state"] == "discarded"
    assert shown["why"] == (
        "0 examples to learn from and 0 held out that may judge; "
        "it takes 50 and 12, of different inputs"
    )
    assert "too_few_examples" in run("apprentice", "trainings", "intents").stdout


def training(**fields):
    return ApprenticeTraining(
        id="trn_1",
        number=3,
        step="validate",
        backend="linear",
        configuration_version=1,
        definition_hash="a" * 64,
        created_at=datetime(2026, 11, 27, tzinfo=UTC),
        created_by="key_1",
        **fields,
    )


def test_what_jobs_cost_is_shown(capsys):
    job = {"name": "autotune-trn-1-1", "attempt": 1, "instance_type": "ml.g5.xlarge"}
    under_way = training(
        state="running",
        job={**job, "reserved_nano_usd": 3_000_000_000, "is_resumed": False},
        reserved_nano_usd=3_000_000_000,
        spent_nano_usd=500_000_000,
        billable_seconds=1_279,
    )
    show(Invocation(), under_way)
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["instance"] == "ml.g5.xlarge"
    assert (shown["spentUsd"], shown["reservedUsd"]) == ("0.5", "3")
    assert shown["billableSeconds"] == "1279"


def test_what_is_set_aside_for_refused_jobs_is_shown_between_two(capsys):
    show(Invocation(), training(state="running", reserved_nano_usd=3_000_000_000))
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert (shown["spentUsd"], shown["reservedUsd"]) == ("0", "3")


def test_which_training_has_a_model_is_shown(capsys):
    show(Invocation(), training(state="failed", error="canceled", model_taken_by=4))
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["modelTakenBy"] == "4"


def test_what_a_host_lacks_is_shown(capsys):
    at = datetime(2026, 11, 27, tzinfo=UTC)
    hosting = {
        "instance_type": "ml.g5.2xlarge",
        "lacks": [
            {"instance_type": "ml.g5.xlarge", "lack": "quota"},
            {"instance_type": "ml.g5.2xlarge", "lack": "capacity"},
        ],
        "since": at,
        "tried_again_at": at.replace(hour=2),
    }

    def printed(**others):
        show(Invocation(), training(hosting=hosting, **others))
        return dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())

    waits = printed(state="running", model_of=3)
    assert (waits["hostInstance"], waits["modelOf"]) == ("ml.g5.2xlarge", "3")
    assert waits["without"] == "ml.g5.xlarge: quota, ml.g5.2xlarge: capacity"
    assert (waits["waitsSince"], waits["triedAgain"]) == ("2026-11-27 00:00", "2026-11-27 02:00")
    ended = printed(state="failed", error="hosting_quota", reason="words", model_kept_until=at)
    assert ended["modelKeptUntil"] == "2026-11-27"
    assert ended["why"].endswith("what hosts it; it is kept for 30 days (words)")
    assert "triedAgain" not in ended


def test_until_when_a_model_is_kept_is_shown_of_one_that_was_not_hosted_yet(capsys):
    at = datetime(2026, 11, 27, tzinfo=UTC)
    show(Invocation(), training(state="failed", error="canceled", model_kept_until=at))
    assert "modelKeptUntil" in capsys.readouterr().out


def test_what_speaks_against_a_model_is_said_in_words():
    compared = ApprenticeTrainingComparison(
        version=2, groups=90, mean_difference=-0.02, differing=0.1, margin=0.03, is_no_worse=False
    )
    test = ApprenticeTrainingTest(
        attempt=1,
        examples=100,
        groups=90,
        fewest_groups=12,
        threshold=0.9,
        mean=0.88,
        bound=0.8,
        evidence_needed=40,
        valid=0.96,
        slow_ms=9,
        comparison=compared,
    )
    discarded = training(
        state="discarded",
        test=test,
        objections=[*get_args(ApprenticeTrainingObjection)],
    )
    assert why_not(discarded) == (
        "no model could pass on 90 groups of held-out inputs, were all answers right; "
        "its mean agreement is not shown to be above 0.900; "
        "it is not shown to be as good as version 2, but for 0.03; "
        "4.0% of its outputs are not of the task's output schema; "
        "more than one answer in twenty took longer than local.timeout_ms"
    )
    changed = training(state="failed", error="task_changed")
    assert why_not(changed) == (
        "the task was deleted meanwhile, or has another definition: train again"
    )
    assert why_not(training(state="running")) is None


def test_waiting_may_end_before_the_training(run, trainings):
    begun = run("apprentice", "train", "intents", "--no-wait", "--json")
    assert begun.json_lines[0]["state"] == "running"
    again = run("apprentice", "train", "intents")
    assert again.exit_code == exit_codes.USAGE
    assert "training 1 of intents is under way; wait for its end" in again.stderr
    trainings.step("fail_training", trainings.executions()[0])
    late = run("apprentice", "train", "intents", "--timeout", "0")
    assert late.exit_code == exit_codes.INCOMPLETE
    assert "the training goes on: `autotune apprentice trainings intents 2`" in late.stderr
    shown = fields(run("apprentice", "trainings", "intents", "1"))
    assert shown["why"] == "Autotune could not go on: train again"


def test_a_kept_model_of_a_training_that_was_given_up_is_hosted_and_not_trained_anew():
    at = datetime(2026, 11, 27, tzinfo=UTC)
    assert why_not(training(state="failed", error="platform_error", model_kept_until=at)) == (
        "Autotune could not go on: its model is kept until 2026-11-27; have it hosted by "
        "`autotune apprentice host-training TASK 3`, which trains nothing anew"
    )
    gone = training(state="failed", error="platform_error", reason="words")
    assert why_not(gone) == "Autotune could not go on: train again (words)"
    taken = training(state="failed", error="platform_error", model_taken_by=4)
    assert why_not(taken) == (
        "Autotune could not go on; training 4 has its model: `autotune apprentice trainings TASK 4`"
    )
    unhosted = training(state="failed", error="not_hosted", reason="words", model_taken_by=4)
    assert why_not(unhosted) == (
        "SageMaker does not host what was trained; training 4 has its model: "
        "`autotune apprentice trainings TASK 4` (words)"
    )
    not_hosted = training(state="failed", error="not_hosted", reason="words")
    assert why_not(not_hosted).endswith("what was trained; it is kept for 30 days (words)")


def test_what_cannot_be_trained_is_said(run, trainings):
    trainings.put(training=None, local=SERVED_ELSEWHERE)
    none = run("apprentice", "train", "intents")
    assert none.exit_code == exit_codes.USAGE
    assert "the configuration of intents has no training" in none.stderr
    assert run("apprentice", "train", "another").exit_code == exit_codes.NOT_FOUND
    missing = run("apprentice", "trainings", "intents", "3")
    assert missing.exit_code == exit_codes.NOT_FOUND
    assert "task intents has no training 3" in missing.stderr
    assert run("apprentice", "trainings", "intents", "0").exit_code == exit_codes.USAGE


def test_a_model_is_hosted_again_where_it_is_kept(run, trained):
    missing = run("apprentice", "host-training", "intents", "1")
    assert missing.exit_code == exit_codes.NOT_FOUND
    trained.start()
    trained.step("fail_training", trained.executions()[0])
    refused = run("apprentice", "host-training", "intents", "1", "--no-wait")
    assert refused.exit_code == exit_codes.USAGE
    assert "no model of training 1 is kept" in refused.stderr


def test_a_training_is_canceled(run, trainings):
    trainings.start()
    shown = fields(run("apprentice", "cancel-training", "intents", "1"))
    assert (shown["state"], shown["why"]) == ("failed", "it was canceled")
    again = run("apprentice", "cancel-training", "intents", "1")
    assert fields(again) == shown
    assert trainings.start()["number"] == 2
