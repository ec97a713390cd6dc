"""What comes of an attack in ``hostile`` that nobody answers."""

from collections.abc import Callable
from threading import Event
from typing import Any

import httpx
import pytest

from autotune import RequestTimeoutError
from tests.chaos.hostile import Attacker, _only_refusals

NAME = "floods of headers"


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(httpx.ReadTimeout("timed out"), id="a plain request"),
        pytest.param(RequestTimeoutError("timed out"), id="a request of the SDK"),
    ],
)
def test_it_is_told_as_a_violation_and_ends_nothing(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Event()
    attacker = Attacker(
        **dict.fromkeys(("client", "holding", "flooding")),  # type: ignore[arg-type]
        **dict.fromkeys(("url", "panel_id", "builtin_id", "endless_id", "reward_url"), ""),
        task_ids=[],
    )

    def unanswered() -> None:
        ended.set()
        raise error

    attacks: dict[str, Callable[[], Any]] = {NAME: unanswered}
    monkeypatch.setattr(Attacker, "attacks", lambda _: attacks)
    attacker.attack(NAME, ended)
    assert attacker.begun == {NAME: 1}
    assert _only_refusals(attacker).violations == [f"1 answers {type(error).__name__}"]
