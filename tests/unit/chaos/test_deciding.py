"""Whoever waits for verdicts goes on while there are more, sweeps meanwhile, and gives up then."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chaos import deciding


class Tables:
    """Has another verdict at each look, up to a number."""

    def __init__(self, most: int) -> None:
        self.most, self.looks = most, 0

    def items(self, _table: str) -> Iterator[dict[str, Any]]:
        self.looks += 1
        for number in range(min(self.looks, self.most)):
            yield {"pk": f"cmp_{number}", "sk": "verdict#1"}


@pytest.fixture(autouse=True)
def passing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "LOOKS_EVERY_SECONDS", 0.02)


def test_what_comes_slowly_is_waited_for_and_swept() -> None:
    tables = Tables(most=6)
    swept: list[int] = []
    wanted = [f"cmp_{number}" for number in range(6)]
    found = deciding.decided(
        tables,  # type: ignore[arg-type]
        wanted,
        quiet_seconds=5,
        sweep=lambda: swept.append(1),
        sweep_seconds=0.01,
    )
    assert set(found) == set(wanted)
    assert swept


def test_what_gets_no_more_verdicts_is_given_up() -> None:
    tables = Tables(most=2)
    found = deciding.decided(tables, ["cmp_0", "cmp_9"], quiet_seconds=0.1)  # type: ignore[arg-type]
    assert set(found) == {"cmp_0", "cmp_1"}
    assert tables.looks > 2
