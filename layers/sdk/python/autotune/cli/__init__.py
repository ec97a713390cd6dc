"""The command line ``autotune``."""

import gc
import sys


def main() -> None:
    """Run the command line; the exit status is one of ``autotune.cli.exit_codes``."""
    # None of what is imported becomes garbage, and to look for it is an eighth of the start.
    gc.disable()
    try:
        from autotune.cli.application import app  # noqa: PLC0415 - the extra may not be installed
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print("the command line needs its extra: pip install 'autotune-sdk[cli]'", file=sys.stderr)
        sys.exit(2)
    gc.freeze()
    gc.enable()
    app(prog_name="autotune")
