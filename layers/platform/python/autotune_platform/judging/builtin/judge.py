"""Grading with builtin graders: in this process, without a call."""

import time
from collections.abc import Callable, Iterable

from aws_lambda_powertools import Logger

from autotune.protocol.grading import GraderScore
from autotune_platform.checks.compiling import BuiltinGrader, compile_stored
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.templates import Sample
from autotune_platform.completions.models import Completion
from autotune_platform.gateway.models import Grader
from autotune_platform.verdicts.judgements import Judgement

logger = Logger()

_SECONDS_FOR_ONE = 60
"""More than the work takes that limits admit for one completion, and writing the verdicts.

The worst is a ``multi`` of twenty graders at their limits: about 12 s of a whole processor, of
which a function of 512 MB has a third.
"""


def judge_builtin(
    grader: Grader, completions: Iterable[Completion], *, seconds_left: Callable[[], float]
) -> dict[str, Judgement]:
    """Return what a builtin grader says of completions, of those that there is time for.

    Args:
        seconds_left: how long this invocation may still run.
    """
    assert grader.builtin is not None
    judge = compile_stored(grader.builtin)
    judgements: dict[str, Judgement] = {}
    for completion in completions:
        if seconds_left() < _SECONDS_FOR_ONE:
            break
        judgements[completion.id] = _judgement(judge, completion, grader.version)
    return judgements


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
