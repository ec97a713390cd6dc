"""Every stage of a run submits alike, so that its latencies can be compared."""

import random

from tests.chaos.diseases import Patient, Ward
from tests.chaos.load import schedule
from tests.support.graders import LoopbackGrader, answering, healthy

PATIENTS = [
    Patient("healthy 1", Ward(healthy), LoopbackGrader(""), random.Random(1)),
    Patient("500s", Ward(answering(status=500)), LoopbackGrader(""), random.Random(2)),
]


def test_each_grader_gets_its_completions_in_batches_spread_over_the_stage() -> None:
    found = schedule("calm", PATIENTS, each=33, rounds=10)
    for patient in PATIENTS:
        own = [one for one in found if one.patient is patient]
        assert sum(one.size for one in own) == 33
        assert all(one.size for one in own)
        assert 0 <= own[0].at < own[-1].at < 10
    assert [one.at for one in found] == sorted(one.at for one in found)
    assert len({one.key for one in found}) == len(found)


def test_stages_of_one_size_differ_in_their_keys_alone() -> None:
    calm, sick = (schedule(name, PATIENTS, each=40, rounds=10) for name in ("calm", "sick"))
    assert [(one.at, one.size, one.patient.name) for one in calm] == [
        (one.at, one.size, one.patient.name) for one in sick
    ]
    assert {one.key for one in calm}.isdisjoint({one.key for one in sick})
