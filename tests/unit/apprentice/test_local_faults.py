"""Each fault of a small model has its word on the wire, and no word is without one."""

from typing import get_args

from autotune.protocol.apprentice_runs import ApprenticeLocalFault
from autotune_platform.apprentice.local.contract import Reason
from autotune_platform.apprentice.runs.locally import GONE


def test_each_reason_has_its_word() -> None:
    assert set(get_args(ApprenticeLocalFault)) == {*Reason, GONE}
