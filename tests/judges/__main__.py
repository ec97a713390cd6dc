"""``python -m tests.judges``: one of the judges as a process of its own, until it is interrupted.

It prints ``serving http://127.0.0.1:8901``. A connection of a local stack to it has the provider
``simulated``, the base URL ``http://127.0.0.1:8901/served/v1`` and the key ``fake-key``.
"""

import argparse
import os
from pathlib import Path

from tests.judges.models import serve_planted, serve_sick
from tests.judges.planted import Planted
from tests.judges.replay import FOLDER_VARIABLE, serve_replay
from tests.providers.server import serve_until_stopped
from tests.providers.state import World


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.judges",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("judge", choices=("planted", "sick", "replay"))
    parser.add_argument("--port", type=int, default=0, help="0 takes any that is free")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", type=float, default=Planted.noise)
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get(FOLDER_VARIABLE),
        help=f"the folder of samples and replies; ${FOLDER_VARIABLE} unless given",
    )
    options = parser.parse_args()
    world = World(seed=options.seed)
    if options.judge == "replay":
        if options.data is None:
            parser.error(f"replay: give --data, or set {FOLDER_VARIABLE}")
        serve_replay(world, Path(options.data))
    else:
        planted = Planted(seed=options.seed, noise=options.noise)
        (serve_sick if options.judge == "sick" else serve_planted)(world, planted)
    serve_until_stopped(world, options.port)


if __name__ == "__main__":
    main()
