"""What all seeds came to together, and its picture."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from benchmarks.apprentice.curves import Curve, drawn
from benchmarks.apprentice.rivals import TARGETS

Seed = Mapping[str, Any]

_MOST_LOST_ACCURACY = 0.01
_MOST_REMOTE_LAST = 0.30


def summary(seeds: Sequence[Seed]) -> dict[str, Any]:
    """Return means over seeds, each seed, and what failed."""
    failed = [
        f"seed {one['seed']}, {stream}: {failure}"
        for one in seeds
        for stream in ("ours", "shift")
        for failure in one[stream]["failures"]
    ]
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
        "expected": {
            "accuracyWithinOnePoint": all(
                one["ours"]["accuracy"] >= one["allRemote"]["accuracy"] - _MOST_LOST_ACCURACY
                for one in seeds
            ),
            "remoteShareLastUnder30": all(
                one["ours"]["remoteShareLast"] < _MOST_REMOTE_LAST for one in seeds
            ),
        },
        "firstAlarmAfterShift": {
            "inputs": [one["inputsAfter"] for one in first],
            "pairs": [one["pairsAfter"] for one in first],
            "medianInputs": median(one["inputsAfter"] for one in first) if first else None,
            "medianPairs": median(one["pairsAfter"] for one in first) if first else None,
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


def _mean_of(figures: Sequence[Seed], seeds: Sequence[Seed]) -> dict[str, Any]:
    names = ("remoteShare", "remoteShareLast", "accuracy", "agreement")
    means: dict[str, Any] = {}
    for name in names:
        known = [one[name] for one in figures if one[name] is not None]
        means[name] = round(fmean(known), 4) if known else None
    means["cost"] = round(_point(figures, seeds)[0], 4)
    return means
