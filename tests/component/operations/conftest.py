"""What sweeps look after."""

import pytest

from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))
