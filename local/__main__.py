"""``python -m local up|down|status|logs|console``: the local stack from the command line."""

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from local import console
from local.deployment import DeploymentError
from local.endpoint import endpoint_url
from local.first_organization import OperatorCommandError
from local.logs import LogLine, follow_logs, read_logs
from local.ministack import MiniStackError
from local.progress import PrintedProgress
from local.records import PROFILE_FILE
from local.stack import LocalStack, StackBusyError

DEFAULT_DIRECTORY = Path(__file__).resolve().parent.parent / ".autotune"
EXIT_FAILED = 1
EXIT_NOT_RUNNING = 3
EXIT_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0, 1 (failed) or 3 (not running)."""
    options = _parser().parse_args(arguments)
    stack = LocalStack(directory=options.directory, progress=PrintedProgress())
    commands = {
        "up": _up,
        "down": _down,
        "status": _status,
        "logs": _logs,
        "console": _console,
    }
    try:
        return commands[options.command](stack, options)
    except (
        console.ConsoleError,
        DeploymentError,
        MiniStackError,
        OperatorCommandError,
        StackBusyError,
    ) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument(
        "--directory",
        type=Path,
        default=DEFAULT_DIRECTORY,
        help="folder for state, logs and the profile (default: .autotune in the repository)",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start the stack, deploy what changed, create a first key")
    commands.add_parser("down", help="stop the stack and save its state")
    commands.add_parser("status", help="show whether the stack runs, and where")
    logs = commands.add_parser("logs", help="print the functions' logs")
    logs.add_argument("--follow", action="store_true", help="go on as lines come")
    logs.add_argument(
        "--all", action="store_true", help="Lambda's START, END and REPORT lines, too"
    )
    logs.add_argument(
        "--minutes", type=float, default=10, help="how far to look back (default: 10)"
    )
    opened = commands.add_parser("console", help="open the console, on a stack that is started")
    opened.add_argument("--print", action="store_true", dest="prints", help="print its address")
    return parser


def _console(stack: LocalStack, options: argparse.Namespace) -> int:
    console.show(stack, prints=options.prints)
    return 0


def _up(stack: LocalStack, _options: argparse.Namespace) -> int:
    profile = stack.up()
    print(f"API            {profile.base_url}")
    print(f"organization   {profile.organization_id}")
    print(f"admin key      in {stack.directory / PROFILE_FILE}; the autotune command finds it")
    return 0


def _down(stack: LocalStack, _options: argparse.Namespace) -> int:
    print("stopped, state saved" if stack.down() else "was not running")
    return 0


def _status(stack: LocalStack, _options: argparse.Namespace) -> int:
    status = stack.status()
    profile = stack.profile()
    if not status.is_running:
        print("not running")
        return EXIT_NOT_RUNNING
    print(f"running        process {status.pid} on port {status.port}")
    if profile is not None:
        print(f"API            {profile.base_url}")
        print(f"organization   {profile.organization_id}")
    return 0


def _logs(stack: LocalStack, options: argparse.Namespace) -> int:
    status = stack.status()
    if not status.is_running or status.port is None:
        print("not running", file=sys.stderr)
        return EXIT_NOT_RUNNING
    endpoint = endpoint_url(status.port)
    since = int((time.time() - options.minutes * 60) * 1000)
    read = follow_logs if options.follow else read_logs
    shown = hidden = 0
    for line in read(endpoint, since=since):
        if line.is_of_runtime and not options.all:
            hidden += 1
            continue
        shown += 1
        print(_rendered(line), flush=True)
    if not shown:
        also = f"; ALL=1 shows {hidden} lines of Lambda itself" if hidden else ""
        print(f"no function wrote in {options.minutes:g} minutes{also}", file=sys.stderr)
    return 0


def _rendered(line: LogLine) -> str:
    moment = datetime.fromtimestamp(line.timestamp / 1000, tz=UTC)
    return f"{moment:%H:%M:%S.%f} {line.source:<18}  {line.text}"


if __name__ == "__main__":
    sys.exit(main())
