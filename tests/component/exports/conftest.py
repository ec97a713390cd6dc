import pytest

from tests.support.exports import ExportedTask
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.protocol.retry.time.sleep", lambda _: None)


@pytest.fixture
def task(platform: Platform, grader: LoopbackGrader) -> ExportedTask:
    return ExportedTask(platform, platform.new_task(platform.new_grader(grader)))
