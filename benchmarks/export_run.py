"""``python -m benchmarks.export_run``: one export, step after step, in a process of its own.

It does what the state machine does: it calls the step's handler until that has nothing left. Each
file that is stored is printed to stdout with the time and the peak memory so far.
"""

import argparse
import json
import resource
import sys
import time
from collections import Counter
from typing import Any

_MAC_OS = "darwin"


class StepContext:
    """As much of Lambda's context as the handler uses: the time that is left of a step."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        """Return what is left."""
        return round((self._ends_at - time.monotonic()) * 1_000)


def peak_bytes() -> int:
    """Return the most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == _MAC_OS else peak * 1_024


def main() -> None:
    """Run the export of the id that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export_id")
    parser.add_argument("--step-seconds", type=float, required=True)
    parser.add_argument("--profile", help="file for what cProfile finds")
    arguments = parser.parse_args()
    if arguments.profile:
        import cProfile  # noqa: PLC0415 - only where it is asked for

        with cProfile.Profile() as profile:
            run(arguments.export_id, arguments.step_seconds)
        profile.dump_stats(arguments.profile)
    else:
        run(arguments.export_id, arguments.step_seconds)


def run(export_id: str, step_seconds: float) -> None:
    """Call the step's handler until nothing is left, and tell how it went."""
    from autotune_platform.runtime import clients  # noqa: PLC0415 - counts as the run's own memory
    from functions.exports import write_export  # noqa: PLC0415

    began = time.monotonic()
    calls: Counter[str] = Counter()

    def count(model: Any, params: Any, **_: Any) -> None:
        operation = model.name
        calls[operation] += 1
        if operation == "PutObject":
            name = params["url_path"].rpartition("/")[2]
            _tell(
                stored=name,
                seconds=time.monotonic() - began,
                cpuSeconds=time.process_time(),
                peakBytes=peak_bytes(),
            )

    for client in (clients.dynamodb(), clients.s3()):
        client.meta.events.register("before-call", count)
    steps = 0
    progress: dict[str, Any] = {"export_id": export_id, "redrive": 0, "done": False}
    while not progress["done"]:
        progress = write_export.lambda_handler(progress, StepContext(step_seconds))
        steps += 1
    _tell(
        steps=steps,
        seconds=time.monotonic() - began,
        cpuSeconds=time.process_time(),
        peakBytes=peak_bytes(),
        calls=dict(calls.most_common()),
    )


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
