import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.interruptible import start_interruptible


@pytest.fixture
def ignored() -> Iterator[None]:
    """Ignore SIGINT, as in a background job of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.SIG_IGN


def test_ctrl_c_ends_a_process_of_tests_that_run_in_the_background(ignored: None) -> None:
    code = "import time; print('ready', flush=True); time.sleep(60)"
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start_interruptible([sys.executable, "-c", code], **options) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
