"""``python -m local.sagemaker --directory FOLDER``: SageMaker alone, without the rest of the stack.

It prints where it answers, and ends with SIGTERM or Ctrl-C. S3 is where the environment says.
"""

import argparse
import logging
import signal
import socket
import threading
from pathlib import Path

from local.sagemaker.server import SageMakerServer
from local.sagemaker.settings import Settings


def main() -> None:
    """Serve until it is asked to end."""
    parser = argparse.ArgumentParser(prog="python -m local.sagemaker", description=__doc__)
    parser.add_argument("--directory", type=Path, required=True, help="for records, logs, scratch")
    parser.add_argument("--listening", type=int, help="number of a socket that listens already")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: over.set())
    listening = None if options.listening is None else socket.socket(fileno=options.listening)
    settings = Settings.from_environment(options.directory.absolute())
    with SageMakerServer(settings, listening=listening) as server:
        print(server.url, flush=True)
        over.wait()


if __name__ == "__main__":
    main()
