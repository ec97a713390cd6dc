"""One seed: all strategies on its streams, and what each came to."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from autotune_platform.apprentice.folding.settings import rules_of
from benchmarks.apprentice import rivals
from benchmarks.apprentice.ours import Apprenticeship
from benchmarks.apprentice.playing import Played
from benchmarks.apprentice.results import failures, money_failures, of_ours, of_rival
from benchmarks.apprentice.streams import Query, Stream, known_queries, shifting, shuffled
from benchmarks.apprentice.tasks import Asked, made
from benchmarks.apprentice.teacher import Teacher


def played(seed: int) -> dict[str, Any]:
    """Return what all strategies did with the streams of a seed."""
    began, cpu = time.monotonic(), time.process_time()
    data, queries = known_queries()
    stream = shuffled(queries, seed)
    asked = task_of(queries, f"{seed}")
    learned = asked.document["thresholds"]["phase1ToPhase2"]
    ours = _ours(asked, stream, f"seed {seed}")
    remote = rivals.all_remote(stream, asked.document)
    said = rivals.small_model(stream, learned=learned)
    cascades = rivals.cascade(stream, asked.document, said, learned=learned)
    routers = rivals.router(stream, asked.document, said, learned=learned)
    return {
        "seed": seed,
        "data": data,
        "inputs": len(stream.queries),
        "ours": ours,
        "shift": shift_of(queries, seed, task_of(queries, f"shift {seed}")),
        "allRemote": of_rival(remote),
        "cascade": {str(target): of_rival(one) for target, one in cascades.items()},
        "router": {str(target): of_rival(one) for target, one in routers.items()},
        "seconds": round(time.monotonic() - began, 1),
        "cpuSeconds": round(time.process_time() - cpu, 1),
    }


def task_of(queries: Sequence[Query], name: str, **fields: Any) -> Asked:
    """Return the task that a stream is of."""
    return made({query.intent for query in queries}, name, **fields)


def _ours(asked: Asked, stream: Stream, name: str) -> dict[str, Any]:
    one = _begun(asked, stream, name)
    one.answer(stream.queries)
    figures = of_ours(one.played, stream)
    return {**figures, **_story(one), "failures": failures(figures, promised=_promised(asked))}


def shift_of(
    queries: Sequence[Query], seed: int, asked: Asked, *, stream: Stream | None = None
) -> dict[str, Any]:
    """Return what ours did where domains come that never came.

    Args:
        asked: the task, of its own.
        stream: another one than the seed's.
    """
    stream = stream or shifting(queries, seed)
    assert stream.shift_at is not None
    one = _begun(asked, stream, f"seed {seed}, shift")
    one.answer(stream.queries[: stream.shift_at])
    before, early = of_ours(one.played, stream), list(one.alarms)
    found = failures(before, promised=_promised(asked))
    one.answer(stream.queries[stream.shift_at :])
    after, late = of_ours(one.played, stream), one.alarms[len(early) :]
    found += money_failures(after)
    if early:
        found.append(f"an alarm before the shift: {early[0]}")
    if not late:
        found.append("no alarm after the shift")
    return {
        "inputs": len(stream.queries),
        "shiftAfter": stream.shift_at,
        "before": before,
        "after": after,
        **_story(one),
        "delays": _delays(one, stream.shift_at, late),
        "failures": found,
    }


def _story(one: Apprenticeship) -> dict[str, Any]:
    return {"trainings": one.trainings, "changes": one.changes, "alarms": one.alarms}


def _promised(asked: Asked) -> float:
    return rules_of(asked.document, attempt=1).graduation


def _delays(
    one: Apprenticeship, shift_at: int, late: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return how many inputs and pairs each alarm took from the shift on."""
    found = []
    for alarm in late:
        pairs_after = sum(
            pair.version == alarm["version"] and pair.is_drawn
            for run in one.played.runs[shift_at : alarm["after"]]
            for pair in run.pairs
        )
        found.append({**alarm, "inputsAfter": alarm["after"] - shift_at, "pairsAfter": pairs_after})
    return found


def _begun(asked: Asked, stream: Stream, name: str) -> Apprenticeship:
    return Apprenticeship(
        Played(asked, Teacher(stream.queries)),
        log=lambda said: print(f"{name}: {said}", file=sys.stderr, flush=True),
    )
