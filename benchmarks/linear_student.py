"""How well the linear student agrees with its teacher, and what training it costs.

It takes intents of CLINC150 from the folder that ``AUTOTUNE_DATA_INTENTS`` names
(``clinc150.jsonl``, ``clinc_domains.json``), without those out of scope. The teacher is right but
for 4 % of the inputs, for which it names another intent of the same domain; the input says which.
A student is trained on the first examples of a shuffled stream, and asked about 4,000 later ones.
Its gate's threshold comes from 1,500 others, as from a hold-out.

    AUTOTUNE_DATA_INTENTS=… OPENBLAS_NUM_THREADS=1 python -m benchmarks.linear_student
"""

import argparse
import hashlib
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune_platform.apprentice.students.artifacts import digest_of, from_bytes, to_bytes
from autotune_platform.apprentice.students.gate import threshold
from autotune_platform.apprentice.students.linear import LinearModel, canonical, train

DATA = "AUTOTUNE_DATA_INTENTS"
_SIZES = (2_000, 4_000, 8_000)
_MOST_SEEDS = 10
_HELD, _ASKED = 1_500, 4_000
_ERRORS = 0.04
_BINS = 10
_TARGET, _ALPHA = 0.90, 0.05


@dataclass(frozen=True)
class Query:
    """What is asked, what is true, and what the teacher says."""

    text: str
    intent: str
    taught: str


def queries(folder: Path) -> list[Query]:
    """Return the queries of all intents, in the file's order."""
    domains = json.loads((folder / "clinc_domains.json").read_text())
    beside = {intent: intents for intents in domains.values() for intent in intents}
    lines = (folder / "clinc150.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Query(row["text"], row["intent"], _taught(row["text"], row["intent"], beside))
        for row in rows
        if row["intent"] in beside
    ]


def _taught(text: str, intent: str, beside: Mapping[str, Sequence[str]]) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    if int.from_bytes(digest[:8], "big") / 2**64 >= _ERRORS:
        return intent
    others = [one for one in beside[intent] if one != intent]
    return others[digest[8] % len(others)]


def measure(
    stream: Sequence[Query], size: int, *, held_out: int = _HELD, asked_about: int = _ASKED
) -> dict[str, float]:
    """Train on the first queries of a stream, and return what that costs and gives."""
    rows = [({"text": one.text}, {"intent": one.taught}) for one in stream[:size]]
    began = time.process_time()
    trained = train(rows)
    seconds = time.process_time() - began
    content = to_bytes(trained)
    model = from_bytes(content, digest=digest_of(content))
    held = stream[size : size + held_out]
    asked = stream[size + held_out : size + held_out + asked_about]
    began = time.process_time()
    answers = [model.answer({"text": one.text}) for one in asked]
    answering = time.process_time() - began
    agreed = [
        said == canonical({"intent": one.taught})
        for one, (said, _) in zip(asked, answers, strict=True)
    ]
    right = [
        said == canonical({"intent": one.intent})
        for one, (said, _) in zip(asked, answers, strict=True)
    ]
    sure = [confidence for _, confidence in answers]
    return {
        "agreement": statistics.fmean(agreed),
        "accuracy": statistics.fmean(right),
        "train_s": seconds,
        "answer_ms": answering / len(asked) * 1_000,
        "artifact_mb": len(content) / 1e6,
        "calibration_error": _off(sure, agreed),
        **_gated(model, held, sure, agreed),
    }


def _gated(
    model: LinearModel, held: Sequence[Query], sure: Sequence[float], agreed: Sequence[bool]
) -> dict[str, float]:
    answers = [model.answer({"text": one.text}) for one in held]
    scores = [
        float(said == canonical({"intent": one.taught}))
        for one, (said, _) in zip(held, answers, strict=True)
    ]
    found = threshold(
        [confidence for _, confidence in answers],
        scores,
        target=_TARGET,
        alpha=_ALPHA,
        candidates=model.candidates,
    )
    if found is None:
        return {"gated_share": 0.0, "gated_agreement": float("nan")}
    accepted = [one for one, how in zip(agreed, sure, strict=True) if how >= found.confidence]
    return {
        "gated_share": len(accepted) / len(agreed),
        "gated_agreement": statistics.fmean(accepted),
    }


def _off(sure: Sequence[float], agreed: Sequence[bool]) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for how, did in zip(sure, agreed, strict=True):
        bins[min(int(how * _BINS), _BINS - 1)].append((how, did))
    gaps = [abs(sum(how - did for how, did in one)) for one in bins]
    return sum(gaps) / len(sure)


def main() -> int:
    """Print a line for each number of examples: means over seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, choices=range(1, _MOST_SEEDS + 1))
    parser.add_argument("--examples", type=int, nargs="*", default=list(_SIZES))
    wanted = parser.parse_args()
    folder = os.environ.get(DATA)
    if not folder:
        print(f"{DATA} names no folder with clinc150.jsonl", file=sys.stderr)
        return 2
    found = queries(Path(folder))
    if max(wanted.examples) + _HELD + _ASKED > len(found):
        print(f"at most {len(found) - _HELD - _ASKED} examples", file=sys.stderr)
        return 2
    for size in wanted.examples:
        measured = []
        for seed in range(1, wanted.seeds + 1):
            stream = list(found)
            random.Random(seed).shuffle(stream)  # noqa: S311 - no secret
            measured.append(measure(stream, size))
        means = {name: statistics.fmean(one[name] for one in measured) for name in measured[0]}
        print(size, " ".join(f"{name}={mean:.3f}" for name, mean in means.items()), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
