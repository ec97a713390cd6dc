"""Compares two models, or two checkpoints, on the prompts that both answered at one task.

It reads the latest scores of both, and the texts of at most ``MOST_SCORES`` of each, whose prompts
say which belong together, as in preference pairs of exports. How much it reads does not depend on
how many scores there are, and how long it reads not on how long the texts are.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from statistics import fmean
from typing import NamedTuple

from autotune.protocol.comparison import (
    ComparedModel,
    ComparedPrompt,
    ComparedSide,
    Interval,
    ModelComparison,
)
from autotune_platform.access.models import Caller
from autotune_platform.completions.service import CompletionService
from autotune_platform.overview.paired import estimate
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.tasks.service import TaskService
from autotune_platform.verdicts.latest_scores import LatestScoreIndex
from autotune_platform.verdicts.models import Verdict

MOST_SCORES = 500
"""Most scores of each model whose prompts are read, the latest."""
MOST_SECONDS = 5
"""For how long texts are read; those that were begun by then are read to their ends."""
MOST_EXAMPLES = 10

_TEXTS_PER_READ = 25
_CONCURRENT_READS = 4
# Differences of decimal fractions: 0.9 - 0.8 is less than 0.1 in binary.
_ROUNDING = 1e-9


class _Judged(NamedTuple):
    """What has to be the same for two scores to be compared."""

    prompt: str
    grader_id: str
    grader_version: str


class _Pair(NamedTuple):
    """Verdicts of both models on one prompt, by the same graders."""

    a: list[Verdict]
    b: list[Verdict]
    difference: float


@part
class ComparisonService:
    """Compares models at a task of the caller's organisation."""

    tasks: TaskService
    index: LatestScoreIndex
    completions: CompletionService
    clock: Clock = SYSTEM_CLOCK

    def compare(
        self, caller: Caller, task_id: str, *, a: str, b: str, tolerance: float
    ) -> ModelComparison:
        """Return what model ``b`` scores above model ``a``.

        Raises:
            NotFoundError: there is no such task in the caller's organisation.
            InvalidRequestError: both are the same model.
        """
        task = self.tasks.get(caller, task_id)
        if a == b:
            raise InvalidRequestError.of_field("b", "another model than a")
        latest = self.index.of_models(task.id, (a, b))
        of_model = {
            model: [one for one in latest.verdicts if one.model_id == model] for model in (a, b)
        }
        chosen = {model: some[:MOST_SCORES] for model, some in of_model.items()}
        # In turns, so that as many of both are read where the time does not suffice for all.
        turns = zip_longest(*chosen.values())
        prompts, read = self._prompts(one.completion_id for turn in turns for one in turn if one)
        looked_at = {
            model: [one for one in some if one.completion_id in read]
            for model, some in chosen.items()
        }
        pairs = _pairs(_judged(looked_at[a], prompts), _judged(looked_at[b], prompts))
        differences = [pair.difference for pair in pairs]
        found = estimate(differences)
        within = tolerance + _ROUNDING
        wins, losses = (sum(sign * one > within for one in differences) for sign in (1, -1))
        count = sum(len(some) for some in looked_at.values())
        pairs.sort(key=lambda pair: (-abs(pair.difference), pair.a[0].completion_id))
        return ModelComparison(
            task_id=task.id,
            a=_compared(a, looked_at[a], [pair.a for pair in pairs]),
            b=_compared(b, looked_at[b], [pair.b for pair in pairs]),
            tolerance=tolerance,
            prompts=len(pairs),
            mean_difference=found.mean if found else None,
            interval=Interval(low=found.interval[0], high=found.interval[1])
            if found and found.interval
            else None,
            wins=wins,
            losses=losses,
            ties=len(pairs) - wins - losses,
            examples=[
                ComparedPrompt(a=_side(pair.a), b=_side(pair.b), difference=pair.difference)
                for pair in pairs[:MOST_EXAMPLES]
            ],
            scores_read=latest.read,
            without_text=count - len(prompts),
            is_complete=latest.is_complete and of_model == looked_at,
        )

    def _prompts(self, completion_ids: Iterable[str]) -> tuple[dict[str, str], set[str]]:
        """Return digests of those prompts that are still there, and which were looked at."""
        found: dict[str, str] = {}
        looked_at: set[str] = set()
        until = self.clock.monotonic() + MOST_SECONDS

        def read(some: list[str]) -> None:
            if self.clock.monotonic() >= until:
                return
            packed = self.completions.load_packed(some)
            # One text at a time is unpacked, and none is kept.
            for id_ in some:
                if self.clock.monotonic() >= until:
                    return
                text = self.completions.unpack(packed[id_]) if id_ in packed else None
                if text is not None:
                    found[id_] = hashlib.blake2b(text.prompt.encode(), digest_size=16).hexdigest()
                looked_at.add(id_)

        chunks = [list(some) for some in groups(completion_ids, _TEXTS_PER_READ)]
        if chunks:
            in_parallel(read, chunks, at_most=_CONCURRENT_READS)
        return found, looked_at


def _judged(
    verdicts: Iterable[Verdict], prompts: Mapping[str, str]
) -> dict[_Judged, list[Verdict]]:
    found: dict[_Judged, list[Verdict]] = defaultdict(list)
    for one in verdicts:
        prompt = prompts.get(one.completion_id)
        if prompt is not None:
            found[_Judged(prompt, one.grader_id, one.answered_version)].append(one)
    return found


def _pairs(a: Mapping[_Judged, list[Verdict]], b: Mapping[_Judged, list[Verdict]]) -> list[_Pair]:
    """Return a pair for each prompt; of several versions of graders it has the mean difference."""
    by_prompt: dict[str, list[_Judged]] = defaultdict(list)
    for judged in a.keys() & b.keys():
        by_prompt[judged.prompt].append(judged)
    return [
        _Pair(
            _latest_first(one for judged in some for one in a[judged]),
            _latest_first(one for judged in some for one in b[judged]),
            fmean(_mean(b[judged]) - _mean(a[judged]) for judged in some),
        )
        for some in by_prompt.values()
    ]


def _latest_first(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return sorted(verdicts, key=lambda one: (one.decided_at, one.completion_id), reverse=True)


def _mean(verdicts: Iterable[Verdict]) -> float:
    return fmean(one.value or 0.0 for one in verdicts)


def _compared(model_id: str, scores: list[Verdict], paired: list[list[Verdict]]) -> ComparedModel:
    means = [_mean(some) for some in paired]
    return ComparedModel(
        model_id=model_id, scores=len(scores), avg_score=fmean(means) if means else None
    )


def _side(verdicts: list[Verdict]) -> ComparedSide:
    return ComparedSide(
        completion_id=verdicts[0].completion_id, avg_score=_mean(verdicts), scores=len(verdicts)
    )
