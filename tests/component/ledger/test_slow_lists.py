"""A provider that is slow in each of many requests keeps no step from storing what came of it."""

import socket
import time
from typing import Any

import pytest

from autotune_platform.ledger.batching import work
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from tests.component.ledger.test_jobs import assert_paid_once, enqueue
from tests.support.ledger import Ledger

PHASE_SECONDS = 3
MOST_STEPS = 5
PAGES, PAGE_SECONDS = 4, 2


def test_a_slow_list_is_given_up_before_the_step_is_killed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.fake.world.traps.arm(name="create_answer_lost", times=1)
    ids = enqueue(ledger, "openai")
    took: list[float] = []
    with socket.create_server(("127.0.0.1", 0)) as silent, monkeypatch.context() as patched:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"

        def slow(_: Any, session: Any, *__: Any) -> Any:
            begun = time.monotonic()
            pages = [session.ask("GET", url, {}, seconds=PAGE_SECONDS) for _ in range(PAGES)]
            took.append(time.monotonic() - begun)
            return next(page for page in pages if isinstance(page, Refusal))

        patched.setattr(OpenAiJobs, "search", slow)
        patched.setattr(work, "_STORING_SECONDS", 300 - PHASE_SECONDS)
        (left,) = ledger.started()
        for _ in range(MOST_STEPS):
            left = left if took else ledger.step(left, seconds=300)
    assert len(took) == 1
    assert took[0] < PHASE_SECONDS + 1
    assert not left["done"]
    (batch,) = ledger.batches()
    assert batch["job"]["stage"] == "unknown"
    ledger.finish(left)
    ledger.run_jobs()
    assert_paid_once(ledger, ids)
