"""Where the comparison of an apprentice fails because it shows less than it is made to show."""

import json
import sys

import pytest

from autotune_platform.apprentice.phases import Derived, Phase
from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.models import Run
from benchmarks.apprentice import __main__ as program
from benchmarks.apprentice.causes import CAUSES, cause_of
from benchmarks.apprentice.expected import (
    LONGEST_DELAY,
    MEDIAN_DELAY,
    OF_CLINC,
    OF_MADE_UP,
    expected_of,
    missed,
)
from benchmarks.apprentice.rivals import TARGETS
from benchmarks.apprentice.tasks import BEGAN_AT

RIVAL = {
    "remoteShare": 1.0,
    "remoteShareLast": 1.0,
    "accuracy": 0.96,
    "agreement": None,
    "billNanoUsd": 100,
}


def seed(number, *, data="CLINC150", alarm=None, failures=(), **ours):
    """What a seed came to, as ``seeds.played`` has it, with all that is expected."""
    alarm = {"kind": "coverage", "inputsAfter": 60, "pairsAfter": 9, **(alarm or {})}
    none = dict.fromkeys(CAUSES, 0.0)
    return {
        "seed": number,
        "data": data,
        "inputs": 10,
        "ours": {
            **RIVAL,
            "accuracy": 0.95,
            "remoteShareLast": 0.30,
            "remoteFor": none,
            "remoteForLast": none,
            "failures": list(failures),
            **ours,
        },
        "shift": {"delays": [alarm], "failures": []},
        "allRemote": RIVAL,
        **{name: {str(target): RIVAL for target in TARGETS} for name in ("cascade", "router")},
    }


def test_what_is_as_expected_misses_nothing():
    assert missed([seed(1), seed(2)], OF_CLINC) == []


def test_a_point_of_accuracy_may_be_lost_and_no_more():
    (said,) = missed([seed(1), seed(2, accuracy=0.9499)], OF_CLINC)
    assert said.startswith("seed 2: answers are right in 0.9499")


def test_each_seed_has_to_ask_the_paid_model_seldom_at_the_end():
    (said,) = missed([seed(1), seed(2, remoteShareLast=0.3002)], OF_CLINC)
    assert said.startswith("seed 2: 0.300 of the last inputs")


@pytest.mark.parametrize(
    ("kind", "counts", "counts_not"),
    [
        ("coverage", "inputsAfter", "pairsAfter"),
        ("alarm", "pairsAfter", "inputsAfter"),
        ("emergency", "pairsAfter", "inputsAfter"),
    ],
)
def test_an_alarm_comes_in_time_by_what_it_folds(kind, counts, counts_not):
    def seeds(*delays):
        return [
            seed(number, alarm={"kind": kind, counts: delay, counts_not: 10_000})
            for number, delay in enumerate(delays)
        ]

    assert missed(seeds(MEDIAN_DELAY, MEDIAN_DELAY, LONGEST_DELAY), OF_CLINC) == []
    (late,) = missed(seeds(1, 1, LONGEST_DELAY + 1), OF_CLINC)
    assert late.startswith("seed 2: the alarm took 179")
    (slow,) = missed(seeds(1, MEDIAN_DELAY + 1, MEDIAN_DELAY + 1), OF_CLINC)
    assert slow.startswith("alarms took 102 at the median")
    assert missed(seeds(1, 1, LONGEST_DELAY + 1), OF_MADE_UP) == []


def test_what_is_expected_follows_from_the_data():
    assert expected_of("CLINC150") is OF_CLINC
    assert expected_of("made up") is OF_MADE_UP


class AtOnce:
    """Stands for processes."""

    def __init__(self, max_workers):
        del max_workers

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    map = staticmethod(map)


@pytest.mark.parametrize(
    ("broken", "status"),
    [
        ({}, 0),
        ({"accuracy": 0.9}, 1),
        ({"remoteShareLast": 0.31}, 1),
        ({"alarm": {"inputsAfter": 500}}, 1),
        ({"failures": ["the ledger, the runs and the provider's bill differ"]}, 1),
    ],
)
def test_the_program_fails_where_anything_is_missed(broken, status, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "ProcessPoolExecutor", AtOnce)
    monkeypatch.setattr(program, "played", lambda number: seed(number, **broken))
    monkeypatch.setattr(sys, "argv", ["apprentice", "--seeds", "1", "--output", str(tmp_path)])
    assert program.main() == status
    said = capsys.readouterr()
    assert bool(said.err) == bool(status)
    assert json.loads(said.out) == json.loads((tmp_path / "apprentice.json").read_text())


@pytest.mark.parametrize(
    ("fields", "canary", "cause"),
    [
        ({"phase": 1}, None, "firstExamples"),
        ({"phase": 2}, None, "firstShadow"),
        ({"phase": 2}, 1, "restOfFirstCanary"),
        ({"phase": 3, "local": Local.UNSURE, "is_drawn": True}, None, "unsure"),
        ({"phase": 3, "local": Local.UNAVAILABLE}, None, "other"),
        ({"phase": 3, "local": Local.ANSWERED, "in_canary": True, "is_drawn": True}, 2, "canary"),
        ({"phase": 3, "local": Local.ANSWERED, "is_drawn": True}, 2, "spotCheck"),
        ({"phase": 3, "local": Local.ANSWERED, "shadow_version": 2}, None, "laterShadow"),
    ],
)
def test_each_call_of_the_paid_model_has_a_cause(fields, canary, cause):
    run = Run(
        id="apr_1",
        organization_id="org_1",
        task_id="apt_1",
        task_name="intents",
        configuration_version=1,
        definition_hash="0",
        created_by="key_1",
        input={},
        fingerprint="",
        created_at=BEGAN_AT,
        deadline_at=BEGAN_AT,
        remote=Remote.ANSWERED,
        answers=Model.REMOTE,
        **fields,
    )
    assert cause_of(run, Derived(Phase(run.phase), canary=canary)) == cause
    assert cause_of(run.model_copy(update={"remote": None}), Derived(Phase(run.phase))) is None
