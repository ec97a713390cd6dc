"""Compare strategies on the same streams, print what each did, and fail where a promise is broken.

    AUTOTUNE_DATA_INTENTS=… python -m benchmarks.apprentice

Each seed has two streams: all intents in a shuffled order, and one that half the domains have to
themselves until the others come. Ours is played on both, what others do on the first.

With --stack, inputs go through the functions of a local stack instead, and each decision and the
bill are compared with those of this process. Few inputs are of few intents, under thresholds so low
that a version goes through all of its life.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.apprentice.expected import expected_of
from benchmarks.apprentice.report import picture, summary
from benchmarks.apprentice.seeds import played
from benchmarks.apprentice.short import FEW, stream_of_stack

_MOST_SEEDS = 20


def main() -> int:
    """Play all seeds; return 1 where something failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.apprentice", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, choices=range(1, _MOST_SEEDS + 1))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("out"), help="folder of both files")
    parser.add_argument("--stack", action="store_true", help="compare a local stack with this")
    parser.add_argument("--inputs", type=int, default=FEW, help="of --stack: how many")
    wanted = parser.parse_args()
    # One thread each: more of them than processors take longer together.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if wanted.stack:
        return _stack(wanted.inputs, wanted.output)
    seeds = range(1, wanted.seeds + 1)
    with ProcessPoolExecutor(max_workers=wanted.processes) as pool:
        found = list(pool.map(played, seeds))
    result = summary(found, expected_of(found[0]["data"]))
    wanted.output.mkdir(parents=True, exist_ok=True)
    (wanted.output / "apprentice.json").write_text(json.dumps(result, indent=2) + "\n")
    (wanted.output / "apprentice-cost-accuracy.svg").write_text(picture(found))
    print(json.dumps(result, indent=2))
    for failure in result["failures"]:
        print(failure, file=sys.stderr)
    return 1 if result["failures"] else 0


def _stack(inputs: int, folder: Path) -> int:
    """Compare a stack with this process; return 1 where anything differs."""
    from benchmarks.apprentice.stacked import compared  # noqa: PLC0415 - it has what tests have

    queries, settings = stream_of_stack(inputs)
    result = compared(queries, settings, lambda said: print(said, file=sys.stderr, flush=True))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "apprentice-stack.json").write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    return 1 if result["differences"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
