"""The fake of the providers as a process of its own."""

import pytest

from integrations.fakes import serving

START = "1795000000"
QUESTIONS = [f"Is claim {number} right?" for number in range(5)]


@pytest.fixture
def fake():
    """A fake whose clock a test moves."""
    with serving("--start", START) as made:
        yield made


@pytest.fixture
def running_fake():
    """A fake on real time, whose batches take three seconds."""
    with serving("--validate-seconds=1", "--run-seconds=2") as made:
        yield made


@pytest.fixture
def token_in():
    """The token of an answer's text."""

    def token_in(text):
        return text.partition("[")[2].partition("]")[0]

    return token_in
