"""What all seeds came to together, and its picture."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean, median
from typing import Any

from benchmarks.apprentice.causes import CAUSES
from benchmarks.apprentice.curves import Curve, drawn
from benchmarks.apprentice.expected import Expected, Seed, first_delays, missed
from benchmarks.apprentice.rivals import TARGETS


def summary(seeds: Sequence[Seed], expected: Expected) -> dict[str, Any]:
    """Return means over seeds, each seed, and what failed."""
    failed = [
        f"seed {one['seed']}, {stream}: {failure}"
        for one in seeds
        for stream in ("ours", "shift")
        for failure in one[stream]["failures"]
    ]
    failed += missed(seeds, expected)
    means = {"allRemote": _mean_of([one["allRemote"] for one in seeds], seeds)}
    for name in ("cascade", "router"):
        for target in TARGETS:
            of_all = [one[name][str(target)] for one in seeds]
            means[f"{name} at {target}"] = _mean_of(of_all, seeds)
    means["ours"] = _mean_of([one["ours"] for one in seeds], seeds)
    first = [one["shift"]["delays"][0] for one in seeds if one["shift"]["delays"]]
    return {
        "data": seeds[0]["data"],
        "inputs": seeds[0]["inputs"],
        "means": means,
        "expected": asdict(expected),
        "remoteFor": _causes(seeds, "remoteFor"),
        "remoteForLast": _causes(seeds, "remoteForLast"),
        "firstAlarmAfterShift": {
            "inputs": [one["inputsAfter"] for one in first],
            "pairs": [one["pairsAfter"] for one in first],
            "medianInputs": median(one["inputsAfter"] for one in first) if first else None,
            "medianPairs": median(one["pairsAfter"] for one in first) if first else None,
            "folded": dict(first_delays(seeds)),
        },
        "failures": failed,
        "seeds": list(seeds),
    }


def picture(seeds: Sequence[Seed]) -> str:
    """Return cost against accuracy, of means over seeds, as an SVG."""
    remote, ours = ([one[name] for one in seeds] for name in ("allRemote", "ours"))
    return drawn(
        [
            Curve("all remote", "#52606d", [_point(remote, seeds)]),
            Curve("static cascade", "#d9730d", _along(seeds, "cascade")),
            Curve("router on the input", "#0b6e99", _along(seeds, "router")),
            Curve("ours", "#2b8a3e", [_point(ours, seeds)]),
        ],
        title=f"{seeds[0]['data']}: what answers cost, and how many are true",
        across="cost, as a share of having the paid model answer everything",
        up="accuracy",
    )


def _along(seeds: Sequence[Seed], name: str) -> list[tuple[float, float]]:
    return sorted(_point([one[name][str(at)] for one in seeds], seeds) for at in TARGETS)


def _point(figures: Sequence[Seed], seeds: Sequence[Seed]) -> tuple[float, float]:
    """Return the mean cost, as a share of all remote, and the mean accuracy."""
    costs = (
        one["billNanoUsd"] / seed["allRemote"]["billNanoUsd"]
        for one, seed in zip(figures, seeds, strict=True)
    )
    return fmean(costs), fmean(one["accuracy"] for one in figures)


def _causes(seeds: Sequence[Seed], name: str) -> dict[str, float]:
    """Return the mean share of inputs for which the paid model was asked, by cause."""
    return {cause: round(fmean(one["ours"][name][cause] for one in seeds), 4) for cause in CAUSES}


def _mean_of(figures: Sequence[Seed], seeds: Sequence[Seed]) -> dict[str, Any]:
    names = ("remoteShare", "remoteShareLast", "accuracy", "agreement")
    means: dict[str, Any] = {}
    for name in names:
        known = [one[name] for one in figures if one[name] is not None]
        means[name] = round(fmean(known), 4) if known else None
    means["cost"] = round(_point(figures, seeds)[0], 4)
    return means
