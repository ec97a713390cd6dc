"""One round in a process of its own: rows, faults, checks, and a report as plain data."""

import base64
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pytest

from autotune.protocol import signing
from tests.chaos_ledger.invariants import Closing, places, search
from tests.chaos_ledger.load import PROVIDERS, Load
from tests.chaos_ledger.simulation import simulated
from tests.chaos_ledger.store import Store
from tests.chaos_ledger.storm import START, Storm
from tests.chaos_ledger.watch import Watch
from tests.providers.server import serve
from tests.providers.state import Clock, World
from tests.support import faster_moto
from tests.support.platform import platform
from tests.support.sessions import shared_session

_PLANTED = "sk-chaos-planted-000000000000000000000000"
_CALM_AFTER_HOURS = 40
_TIMES = frozenset(["seconds", "cpu_seconds"])
_ALL = tuple(one.name for one in PROVIDERS)
_MOST_HOURS = 400


@dataclass
class Report:
    """What came of a round: all but times follows from seed, rows and providers."""

    seed: int
    rows: int
    asked: tuple[str, ...]
    seconds: float = 0
    cpu_seconds: float = 0
    hours: float = 0
    statuses: Counter[str] = field(default_factory=Counter)
    providers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    traps: Counter[str] = field(default_factory=Counter)
    excuses: Counter[str] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    executions: int = 0
    batches: int = 0
    reasks: int = 0
    ordered: int = 0
    cost: int = 0
    checked: Counter[str] = field(default_factory=Counter)
    violations: dict[str, list[str]] = field(default_factory=dict)
    logs: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """Return all but how long it took, as plain JSON."""
        return {name: value for name, value in vars(self).items() if name not in _TIMES}


def play(seed: int, rows: int, asked: tuple[str, ...] = _ALL) -> Report:
    """Play a round; what the platform logs goes to a file, which is searched for keys."""
    with tempfile.TemporaryFile() as log:
        sys.stdout.flush()
        before = os.dup(1)
        os.dup2(log.fileno(), 1)
        try:
            return _play(seed, rows, asked, log)
        finally:
            sys.stdout.flush()
            os.dup2(before, 1)


def _play(seed: int, rows: int, asked: tuple[str, ...], log: Any) -> Report:
    began = time.monotonic()
    faster_moto.install()
    store = Store()
    store.install(shared_session()._session)
    prompts: list[str] = []
    with (
        pytest.MonkeyPatch.context() as patches,
        serve(World(seed=seed, clock=Clock(START))) as fake,
        patch.object(signing.time, "time", fake.world.clock.now),
        simulated(fake.world.clock, seed) as simulation,
        platform(patches) as made,
    ):
        storm = Storm(made, fake, store, simulation, seed)
        world = fake.world
        world.timing.run_seconds = 900
        world.prices.add("compatible", "small", (0.1, 0.1, 0.4))
        load = Load(storm, seed)
        answer = world.answers.answerer
        world.answers.answerer = lambda ask: (prompts.append(ask.prompt), answer(ask))[1]
        load.begin(rows, asked)
        load.arm()
        watch = Watch(storm, load)

        storm.calm_after = _CALM_AFTER_HOURS * 3600

        def is_over() -> bool:
            if len(load.ids) < rows or not load.orders.are_read(load.ordered()):
                return False
            # A batch whose rows have all ended may still wait for a step that was lost.
            return not any(
                one.get("status", {}).get("S") in ("queued", "submitted")
                or one.get("phase", {}).get("S", "settled") != "settled"
                for one in store.items("ledger")
                if one["sk"]["S"] == "state" and one["pk"]["S"].startswith(("llm_", "lbt_"))
            )

        ended = storm.run(hours=_MOST_HOURS, is_over=is_over)
        watch.check("every round comes to its end", ended, f"not within {_MOST_HOURS} hours")
        closing = Closing(storm, load, watch, prompts)
        closing.check_all()
        _search(storm, load, watch, log)
        statuses = Counter(row["status"] for row in closing.tables.rows.values())
    return Report(
        seed=seed,
        rows=rows,
        asked=asked,
        seconds=time.monotonic() - began,
        cpu_seconds=time.process_time(),
        hours=storm.now / 3600,
        statuses=statuses,
        providers=Counter(one.provider for one in load.ids.values()),
        reasks=sum("reask_of" in row for row in closing.tables.rows.values()),
        ordered=len(load.ordered()),
        faults=storm.faults,
        traps=Counter(one.trap for one in world.traps.firings),
        excuses=closing.excuses,
        excused=closing.excused,
        executions=len(world.executions),
        batches=len(world.batches),
        cost=closing.cost,
        checked=watch.checked,
        violations=dict(watch.violations),
        logs=storm.logs,
    )


def _search(storm: Storm, load: Load, watch: Watch, log: Any) -> None:
    sys.stdout.flush()
    log.seek(0)
    kept = places(storm, log.read())
    found = search(load.keys, kept)
    name = "a provider's key is found nowhere"
    watch.checked[name] += len(kept)
    for place in found:
        watch.check(name, holds=False, what=place)
    planted = [("item", f'{{"S": "{_PLANTED}"}}'.encode()), ("log", _PLANTED.encode())]
    planted += [("coded", base64.b64encode(b"x" * n + _PLANTED.encode())) for n in range(3)]
    hits = search([_PLANTED], [*kept, *planted])
    watch.check("a planted key is found", len(hits) == len(planted), f"found in {hits} only")
