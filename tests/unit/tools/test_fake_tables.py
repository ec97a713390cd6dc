"""What is changed of MiniStack's tables in tests."""

import threading
import time

import pytest
from ministack.services import dynamodb

from tests.support import tables


def test_nothing_is_looked_for_in_the_background_when_sleeps_pass_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert isinstance(dynamodb.time, tables._Time)
    pause = time.sleep
    slept: list[float] = []
    looked: list[int] = []

    class Settings:
        def all_items(self) -> list[object]:
            looked.append(1)
            return []

    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(dynamodb, "_ttl_settings", Settings())
    # As the one that MiniStack starts: it ends with the process.
    reaper = threading.Thread(target=dynamodb._ttl_reaper, daemon=True)
    reaper.start()
    pause(0.05)
    assert reaper.is_alive()
    assert (slept, looked) == ([], [])
    assert dynamodb.time.time() == pytest.approx(time.time(), abs=5)
