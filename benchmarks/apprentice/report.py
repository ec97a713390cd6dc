"""What all seeds came to together, and its picture."""

from collections.abc import Callable, Mapping, Sequence
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
    means = {
        "allRemote": _mean_of(seeds, lambda one: one["allRemote"]),
        **{
            f"cascade at {target}": _mean_of(seeds, lambda one, at=str(target): one["cascade"][at])
            for target in TARGETS
        },
        **{
            f"router at {target}": _mean_of(seeds, lambda one, at=str(target): one["router"][at])
            for target in TARGETS
        },
        "ours": _mean_of(seeds, lambda one: one["ours"]),
    }
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
    return drawn(
        [
            Curve("all remote", "#52606d", [_point(seeds, lambda one: one["allRemote"])]),
            Curve("static cascade", "#d9730d", _along(seeds, "cascade")),
            Curve("router on the input", "#0b6e99", _along(seeds, "router")),
            Curve("ours", "#2b8a3e", [_point(seeds, lambda one: one["ours"])]),
        ],
        title=f"{seeds[0]['data']}: what answers cost, and how many are true",
        across="cost, as a share of having the paid model answer everything",
        up="accuracy",
    )


def _along(seeds: Sequence[Seed], name: str) -> list[tuple[float, float]]:
    points = [_point(seeds, lambda one, at=str(target): one[name][at]) for target in TARGETS]
    return sorted(points)


def _point(seeds: Sequence[Seed], of: Callable[[Seed], Mapping[str, Any]]) -> tuple[float, float]:
    cost = fmean(of(one)["billNanoUsd"] / one["allRemote"]["billNanoUsd"] for one in seeds)
    return cost, fmean(of(one)["accuracy"] for one in seeds)


def _mean_of(seeds: Sequence[Seed], of: Callable[[Seed], Mapping[str, Any]]) -> dict[str, Any]:
    names = ("remoteShare", "remoteShareLast", "accuracy", "agreement")
    means: dict[str, Any] = {}
    for name in names:
        known = [of(one)[name] for one in seeds if of(one)[name] is not None]
        means[name] = round(fmean(known), 4) if known else None
    means["cost"] = round(_point(seeds, of)[0], 4)
    return means
