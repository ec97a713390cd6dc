"""What came of a stream: shares, agreement with its bound, accuracy and money; what failed."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from autotune_platform.apprentice.folding.tallies import BEGUN
from autotune_platform.apprentice.routing import Local, Model
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.savings import Costs, savings
from benchmarks.apprentice.causes import shares
from benchmarks.apprentice.playing import Played
from benchmarks.apprentice.rivals import Outcome
from benchmarks.apprentice.streams import Query, Stream
from benchmarks.apprentice.teacher import answer_of

_ENDS = ("local", "remote", "refused", "failed")

LAST = 5_000
"""Inputs at the end of a stream, when trainings have done what they can."""


@dataclass(frozen=True)
class Answered:
    """What a version said to inputs that it was sure of, whether anybody got that or not.

    Attributes:
        inputs: how many there were.
        agreed: how many of them as the paid model would have, which is known of all.
    """

    inputs: int
    agreed: int

    @property
    def share(self) -> float:
        """The share that agreed."""
        return self.agreed / self.inputs if self.inputs else 0.0


def of_rival(outcome: Outcome) -> dict[str, Any]:
    """Return the figures of a strategy that is not ours."""
    return {
        "remoteShare": fmean(outcome.remote),
        "remoteShareLast": fmean(outcome.remote[-LAST:]),
        "accuracy": fmean(outcome.right),
        "agreement": fmean(outcome.agreed) if outcome.agreed else None,
        "billNanoUsd": outcome.bill,
    }


def of_ours(played: Played, stream: Stream) -> dict[str, Any]:
    """Return the figures of ours, of as much of a stream as was played."""
    runs, queries = played.runs, stream.queries[: len(played.runs)]
    local = [run.answers is Model.LOCAL for run in runs]
    agreed = [
        _says(run.local_output, query)
        for run, query in zip(runs, queries, strict=True)
        if run.answers is Model.LOCAL
    ]
    right = [_is_right(run, query) for run, query in zip(runs, queries, strict=True)]
    asked = [run.remote is not None for run in runs]
    stood = list(zip(runs, played.stood, strict=True))
    return {
        "remoteShare": fmean(asked),
        "remoteShareLast": fmean(asked[-LAST:]),
        "remoteFor": shares(stood),
        "remoteForLast": shares(stood[-LAST:]),
        "localAnswers": sum(local),
        "counted": {name: played.known.counts[name] for name in (BEGUN, *_ENDS)},
        "escalated": sum(run.escalated for run in runs),
        "accuracy": fmean(right),
        "agreement": fmean(agreed) if agreed else None,
        "versions": _versions(played, runs, queries),
        "billNanoUsd": played.teacher.bill,
        "ledgerNanoUsd": played.ledger.total,
        "runsNanoUsd": sum(run.cost_nano_usd for run in runs),
        "paidCalls": played.teacher.calls,
        "ledgerRows": played.ledger.rows,
        "mostCommitted": played.money.most_committed,
        "savings": _savings(runs),
    }


def failures(figures: Mapping[str, Any], *, promised: float) -> list[str]:
    """Return what must never be of a stream of ours.

    Args:
        promised: the agreement that answers of versions are to have.
    """
    found = money_failures(figures)
    counted = figures["counted"]
    if counted[BEGUN] != sum(counted[name] for name in _ENDS):
        found.append("runs were counted that did not end, or twice")
    for one in figures["versions"]:
        if one["sureOf"] and one["bound"] > one["agreement"]:
            found.append(f"the bound of version {one['version']} is above its agreement")
    if figures["agreement"] is not None and figures["agreement"] < promised:
        found.append("answers of versions agree less than was promised")
    return found


def money_failures(figures: Mapping[str, Any]) -> list[str]:
    """Return what must never be of money: a ledger that is no bill, or more than a budget has."""
    found = []
    if not figures["billNanoUsd"] == figures["ledgerNanoUsd"] == figures["runsNanoUsd"]:
        found.append("the ledger, the runs and the provider's bill differ")
    if figures["paidCalls"] != figures["ledgerRows"]:
        found.append("the ledger has another number of calls than the provider")
    if figures["mostCommitted"] > 1:
        found.append("more was committed than the budget has")
    return found


def _versions(
    played: Played, runs: Sequence[Run], queries: Sequence[Query]
) -> list[dict[str, Any]]:
    said: dict[int, list[bool]] = defaultdict(list)
    for run, query in zip(runs, queries, strict=True):
        for version, outcome, output in (
            (run.local_version, run.local, run.local_output),
            (run.shadow_version, run.shadow, run.shadow_output),
        ):
            if version is not None and outcome is Local.ANSWERED:
                said[version].append(_says(output, query))
    found = []
    for number, known in played.known.versions.items():
        advance = played.known.advances.get(number)
        of_all = Answered(len(said[number]), sum(said[number]))
        found.append(
            {
                "version": number,
                "gate": None if known.gate is None else known.gate.confidence,
                "coverage": None if known.gate is None else known.gate.coverage,
                "pairs": 0 if advance is None else advance.evidence.pairs,
                "graduatedAt": None if advance is None else advance.evidence.graduated_at,
                "canaryAt": known.canary_at,
                "bound": 0.0 if advance is None else advance.bound,
                "agreement": of_all.share,
                "sureOf": of_all.inputs,
            }
        )
    return found


def _savings(runs: Sequence[Run]) -> dict[str, Any]:
    paid, checks, local = Costs(), 0, 0
    for run in runs:
        if run.answers is Model.LOCAL:
            local += 1
            checks += run.cost_nano_usd
        else:
            paid += Costs.of(run.cost_nano_usd)
    found = savings(local, paid=paid, checks=checks)
    return {
        "avoidedNanoUsd": found.avoided,
        "checksNanoUsd": found.checks,
        "netNanoUsd": found.net,
        "lowNanoUsd": found.low,
        "highNanoUsd": found.high,
    }


def _says(output: str | None, query: Query) -> bool:
    """Return whether an answer is what the paid model says."""
    said = None if output is None else json.loads(output)
    return bool(said == json.loads(answer_of(query.taught)))


def _is_right(run: Run, query: Query) -> bool:
    if run.answers is Model.LOCAL and run.local_output is not None:
        return bool(json.loads(run.local_output)["intent"] == query.intent)
    return run.answers is Model.REMOTE and query.taught == query.intent
