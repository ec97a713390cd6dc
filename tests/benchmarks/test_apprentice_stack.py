"""What ``--stack`` puts through a stack, and how it tells where that decided otherwise."""

import pytest

from autotune.protocol.apprentice_runs import ApprenticePair, ApprenticeRouting, ApprenticeRun
from benchmarks.apprentice import short
from benchmarks.apprentice.short import SETTINGS, stream_of_stack
from benchmarks.apprentice.stacked import different
from benchmarks.apprentice.streams import DATA
from benchmarks.apprentice.tasks import BEGAN_AT

ROUTING = {
    "phase": 3,
    "answers": "local",
    "is_drawn": True,
    "local_version": 1,
    "local": "answered",
    "local_confidence": 0.75,
    "request_ids": ["llm_1"],
    "check": "done",
    "pairs": [ApprenticePair(version=1, score=1.0, is_drawn=True)],
    "cost_nano_usd": 9,
}


def run(state="answered", **fields):
    return ApprenticeRun(
        id="apr_1",
        task_id="apt_1",
        task_name="intents",
        configuration_version=1,
        state=state,
        routing=ApprenticeRouting(**{**ROUTING, **fields}),
        created_at=BEGAN_AT,
    )


def test_runs_that_decided_alike_do_not_differ():
    assert different(1, run(), run(request_ids=["llm_2"])) == []
    assert different(1, run(), run(local_confidence=0.75000001)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "failed"},
        {"phase": 2},
        {"answers": "remote"},
        {"is_drawn": False},
        {"in_canary": True},
        {"local_version": 2},
        {"local": "unsure"},
        {"local_confidence": 0.7501},
        {"shadow_version": 2},
        {"escalated": True},
        {"check": "none"},
        {"pairs": []},
        {"cost_nano_usd": 10},
    ],
)
def test_what_was_decided_otherwise_is_named(changed):
    (said,) = different(7, run(), run(**changed))
    (name,) = changed
    assert said.startswith("input 7")
    assert name in said or name == "state"


def test_few_inputs_are_of_few_intents(monkeypatch):
    monkeypatch.delenv(DATA, raising=False)
    monkeypatch.setattr(short, "WHOLE", 3_000)
    queries, settings = stream_of_stack(200)
    assert len(queries) == 200
    assert len({query.intent for query in queries}) == 20
    assert settings is SETTINGS
    queries, settings = stream_of_stack(3_000)
    assert len({query.intent for query in queries}) == 80
    assert settings.keys() == {"local"}
