"""Hostile input for as long as one likes: ``python -m tests.security.fuzz`` or ``make fuzz``.

Prints the seed, how many cases each target did, and how often each thing became of one. Ends with 1
where a promise was broken, and prints the command that does that one case once more.
"""

import argparse
import secrets
import sys
import time

from tests.security.fuzzing import addresses, chats, markdown, parsers, routes, signatures
from tests.security.fuzzing.cases import Found, Target, fuzz, told

TARGETS = {
    target.name: target
    for target in (
        # What lies in moto is looked through one by one, so that a platform grows slow with use.
        Target("routes", routes.opened, short=550, chapter=200),
        Target("chats", chats.opened, short=250, chapter=400),
        Target("signatures", signatures.opened, short=500, chapter=2_000),
        Target("addresses", addresses.opened, short=4_000, chapter=20_000),
        Target("parsers", parsers.opened, short=4_000),
        Target("markdown", markdown.opened, short=600),
    )
}
# Most can go wrong behind the routes.
_SHARES = {"routes": 6, "chats": 1, "signatures": 1, "addresses": 1, "parsers": 1, "markdown": 1}


def main(arguments: list[str] | None = None) -> int:
    """Fuzz each target in turn; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--only", choices=sorted(TARGETS))
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, help="how many cases, in place of --minutes")
    given = parser.parse_args(arguments)
    chosen = [TARGETS[given.only]] if given.only else list(TARGETS.values())
    shares = sum(_SHARES[target.name] for target in chosen)
    print(f"seed {given.seed}", flush=True)
    broken = 0
    for target in chosen:
        seconds = given.minutes * 60 * _SHARES[target.name] / shares
        broken += not _fuzzed(target, given, None if given.cases else seconds)
    return 1 if broken else 0


def _fuzzed(target: Target, given: argparse.Namespace, seconds: float | None) -> bool:
    """Fuzz a target and print what became of it; return whether every promise was kept."""
    started = time.monotonic()
    try:
        counted = fuzz(
            target, seed=given.seed, cases=given.cases, seconds=seconds, first=given.first
        )
    except Found as found:
        print(f"{target.name}: FOUND {found}\n  again: {' '.join(found.__notes__)}", flush=True)
        return False
    print(told(target.name, counted, time.monotonic() - started), flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
