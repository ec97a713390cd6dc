"""Builtin graders: judged in this process, without a call."""

import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.grading import GraderScore
from autotune_platform.checks.compiling import BuiltinGrader, compile_stored
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.templates import Sample
from autotune_platform.completions.models import Completion
from autotune_platform.judging.judge import Judged, NeedsNoPermit, Remainder, Resumed, Round
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.grouping import groups
from autotune_platform.verdicts.judgements import Judgement

logger = Logger()

_SECONDS_FOR_ONE = 60
"""More than the work takes that limits admit for one completion, and writing its verdict.

The worst is a ``multi`` of twenty graders at their limits: 2 s of a whole processor for schemas and
patterns together and about 10 s for similarities. A function of 512 MB has a third of one.
"""
_YIELDED_TOGETHER = 25
"""Judgements cost nothing but time here, and are stored faster together."""


class BuiltinJudge(NeedsNoPermit):
    """Judges as many completions as there is time for."""

    def resume(self, round_: Round, undecided: Sequence[str]) -> Generator[Judged, None, Resumed]:
        """Return all of them: nothing is ever waited for."""
        yield from ()
        return Resumed(unasked=undecided)

    def judge(
        self, round_: Round, completions: Sequence[Completion]
    ) -> Generator[Judged, None, Remainder]:
        """Yield one judgement after the other."""
        grader = round_.grader
        assert grader.builtin is not None
        judge = _compiled(grader.builtin)
        untried: list[str] = []
        for some in groups(completions, _YIELDED_TOGETHER):
            judgements: dict[str, Judgement] = {}
            for completion in some:
                if round_.seconds_left() < _SECONDS_FOR_ONE:
                    untried.append(completion.id)
                else:
                    judgements[completion.id] = _judgement(judge, completion, grader.version)
            yield Judged(asker=round_.asker, judgements=judgements, attempts=round_.attempt)
        return Remainder(untried=untried)


def _compiled(stored: Mapping[str, Any]) -> BuiltinGrader:
    """Return the grader; one that fails everywhere where limits became stricter since."""
    try:
        return compile_stored(stored)
    except InvalidRequestError as error:
        logger.warning("builtin grader not compiled", fields=[one.field for one in error.fields])
        fault = CompletionFaultError("builtin_error")

    def fail(sample: Sample) -> GraderScore:
        raise fault

    return fail


def _judgement(judge: BuiltinGrader, completion: Completion, version: str | None) -> Judgement:
    started = time.perf_counter()
    score: GraderScore | None = None
    reason_code = None
    sample = Sample(
        prompt=completion.prompt, response=completion.response, metadata=completion.metadata
    )
    try:
        score = judge(sample)
    except CompletionFaultError as fault:
        reason_code = fault.reason_code
    except Exception as error:  # noqa: BLE001 - a text that breaks a library fails alone
        # The class alone: a library's message may quote the text.
        logger.warning("builtin grader failed", error=type(error).__name__)
        reason_code = "builtin_error"
    return Judgement(
        score=score,
        reason_code=reason_code,
        reported_version=version,
        grader_latency_ms=round((time.perf_counter() - started) * 1000),
    )
