"""``python -m tests.providers``: the fake as a process of its own, until it is interrupted."""

import argparse

from tests.providers.server import serve_until_stopped
from tests.providers.state import Clock, Timing, World


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.providers", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any that is free")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--start", type=float, help="seconds since 1970: the clock then moves only when told"
    )
    parser.add_argument("--validate-seconds", type=float, default=Timing.validate_seconds)
    parser.add_argument("--run-seconds", type=float, default=Timing.run_seconds)
    parser.add_argument("--cancel-seconds", type=float, default=Timing.cancel_seconds)
    options = parser.parse_args()
    world = World(
        seed=options.seed,
        clock=Clock(options.start),
        timing=Timing(
            validate_seconds=options.validate_seconds,
            run_seconds=options.run_seconds,
            cancel_seconds=options.cancel_seconds,
        ),
    )
    serve_until_stopped(world, options.port)


if __name__ == "__main__":
    main()
