"""The cases of ``benchmarks/llm_peers`` for Autotune: its own functions, with moto below.

It is the harness of the component tests. No queue, state machine or Lambda runs in between: the
harness does the steps of executions when they are due, and the clocks of both sides go on at once.
``python -m tests.support.ledger_cases FILE [case …]`` writes what came of them into a file.
"""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.llm_peers.cases import CASES, Case, questions, rules
from benchmarks.llm_peers.observing import (
    RETURNED,
    WAITING,
    Billed,
    Handed,
    Observed,
    observe,
)
from tests.providers.answers import Rule
from tests.support.ledger import Ledger, ledger
from tests.support.platform import platform

MODEL = "gpt-4.1-mini"
_PRICE = {
    "inputUsd": "0.4",
    "outputUsd": "1.6",
    "batchInputUsd": "0.2",
    "batchOutputUsd": "0.8",
    "batchCachedInputUsd": "0.1",
}
_UNDONE = ("error", "canceled")
_HOURS = 100


def run(case: Case) -> Observed:
    """Run Autotune in a case."""
    with (
        pytest.MonkeyPatch.context() as patch,
        platform(patch) as made,
        ledger(made) as there,
    ):
        world = there.fake.world
        world.answers.rules = [Rule(**rule) for rule in rules()]
        connection = there.connect(
            provider="openai", baseUrl=f"{there.fake.base_url}/v1", prices={MODEL: _PRICE}
        )
        if case.beside:
            there.enqueue(connection, "Other", model=MODEL)
            there.run_jobs()
        before, paid_before = dict(world.requests), len(world.executions)
        jobs_before = len(world.batches)
        for trap in case.traps:
            world.traps.arm(**trap)
        ids = there.enqueue(connection, *questions(), model=MODEL)
        ended = RETURNED
        try:
            there.run_jobs(hours=_HOURS)
        except AssertionError:
            ended = WAITING
        if world.bugs:
            raise AssertionError(f"the fake has a fault: {world.bugs[0]}")
        executions = [
            {"fingerprint": one.fingerprint, "token": one.token}
            for one in world.executions[paid_before:]
        ]
        return observe(
            _handed(there, ids, ended),
            Billed(
                executions=executions,
                jobs=len(world.batches) - jobs_before,
                sprung={one.trap for one in world.traps.firings},
                calls={
                    name: count - before.get(name, 0)
                    for name, count in world.requests.items()
                    if count > before.get(name, 0)
                },
            ),
            traps=[trap["name"] for trap in case.traps],
        )


def _handed(there: Ledger, ids: list[str], ended: str) -> Handed:
    answers, errors = {}, {}
    for number, request_id in enumerate(ids):
        row = there.read(request_id)
        if row["status"] == "completed":
            answers[str(number)] = [row["rawOutput"]]
        elif row["status"] in _UNDONE:
            errors[str(number)] = json.dumps(row.get("error"))
    return Handed(ended=ended, answers=answers, errors=errors)


if __name__ == "__main__":
    found = {case.name: run(case).as_json() for case in CASES if case.name in sys.argv[2:]}
    Path(sys.argv[1]).write_text(json.dumps(found))
