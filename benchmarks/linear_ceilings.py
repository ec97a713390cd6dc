"""What training a linear student takes at its ceilings: peak memory and processor time.

Each case is trained in a process of its own, on one thread, as ``TrainLinear`` does; rows are made
while they are read. Texts are words of a made-up language, of which few are frequent and most are
rare, or symbols, each of which is a word: of few symbols each text has most features, and of many
each pair is another. Fitting takes time in proportion to classes.

    python -m benchmarks.linear_ceilings
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.students.errors import UntrainableError
from autotune_platform.apprentice.students.linear import train

_WORDS = 20_000
_MEGABYTE_KB = 1_024


@dataclass(frozen=True)
class Case:
    """What is trained on.

    Attributes:
        characters: of each input.
        symbols: of how many symbols texts are; 0 where they are of words.
    """

    rows: int
    classes: int
    characters: int
    symbols: int = 0


CASES = {
    "many": Case(rows=100_000, classes=100, characters=300),
    "long": Case(rows=3_000, classes=20, characters=10_000),
    "common": Case(rows=70_000, classes=20, characters=300, symbols=60),
    "rare": Case(rows=100_000, classes=20, characters=300, symbols=3_000),
    "kinds": Case(rows=12_000, classes=200, characters=300, symbols=3_000),
}


def rows_of(case: Case) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the rows of a case, the same ones each time."""
    drawn = random.Random(1)  # noqa: S311 - texts, no secrets
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(drawn.choices(letters, k=drawn.randint(3, 9))) for _ in range(_WORDS)]
    symbols = [chr(0x2190 + place) for place in range(case.symbols)]
    for _ in range(case.rows):
        number = drawn.randrange(case.classes)
        if symbols:
            text = "".join(drawn.choices(symbols, k=case.characters))
        else:
            some = (int(drawn.paretovariate(0.6)) for _ in range(case.characters // 5))
            text = " ".join(
                [words[number * 7 % _WORDS], *(words[min(one, 19_999)] for one in some)]
            )
            text = text[: case.characters]
        yield {"text": text}, {"label": f"l{number}"}


def measure(name: str) -> None:
    """Print what training a case takes in this process."""
    case, started, said = CASES[name], time.process_time(), "trained"
    try:
        train(rows_of(case))
    except UntrainableError as error:
        said = f"refused: {error}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE_KB
    seconds = time.process_time() - started
    print(
        f"{name:8} {case.rows:>8,} rows {case.classes:>6,} classes {case.characters:>7,} characters"
        f" {peak:>7,.0f} MB {seconds:>6,.0f} s of a processor; {said}",
        flush=True,
    )


def main() -> int:
    """Measure the cases that are named, else all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*CASES, []], help="cases; all without any")
    parser.add_argument("--here", action="store_true", help="in this process, one case")
    asked = parser.parse_args()
    for name in asked.names or CASES:
        if asked.here:
            measure(name)
            continue
        own = [sys.executable, "-m", "benchmarks.linear_ceilings", "--here", name]
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        subprocess.run(own, check=True, env={**os.environ, **one_thread})  # noqa: S603 - this program
    return 0


if __name__ == "__main__":
    sys.exit(main())
