"""A round follows from its seed: whoever plays it again sees the same faults and the same bill."""

import json
import os
import subprocess
import sys
from typing import Any

from tests.chaos.mutations import ROOT

_PLAYED = """
import json, sys
from tests.chaos_ledger.round import play
print(json.dumps(play(int(sys.argv[1]), int(sys.argv[2])).told()))
"""


def begun(hash_seed: int, *, seed: int, rows: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _PLAYED, str(seed), str(rows)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        stdout=subprocess.PIPE,
        text=True,
    )


def told_by(process: "subprocess.Popen[str]") -> dict[str, Any]:
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    told: dict[str, Any] = json.loads(printed)
    return told


def test_two_processes_play_the_same_round_of_a_seed() -> None:
    first, second = (begun(one, seed=4, rows=24) for one in (1, 2))
    try:
        one, other = told_by(first), told_by(second)
    finally:
        first.kill()
        second.kill()
    assert one == other
    assert one["executions"] > 0
    assert min(len(one["faults"]), len(one["traps"])) > 5
    assert one["violations"] == {}
