"""What graders are asked: completions in packs that one request takes."""

from collections.abc import Iterable, Iterator, Sequence

from autotune.protocol.grading import (
    BatchScoreRequest,
    GradedCompletion,
    ScoreOptions,
    ScoreRequest,
)
from autotune.protocol.ids import new_id
from autotune_platform.completions.models import Completion
from autotune_platform.gateway.calls import Path
from autotune_platform.gateway.models import UsableGrader

_LARGEST_REQUEST_BYTES = 4_000_000


def asked_about(completion: Completion) -> GradedCompletion:
    """Return a completion as its grader sees it."""
    return GradedCompletion(
        id=completion.id,
        task_id=completion.task_id,
        prompt=completion.prompt,
        response=completion.response,
        metadata=completion.metadata,
        model_id=completion.model_id if completion.share_identity else None,
    )


def question(
    usable: UsableGrader, pack: Sequence[GradedCompletion]
) -> tuple[Path, ScoreRequest | BatchScoreRequest]:
    """Return what is asked about completions, under a fresh request id, and where."""
    request_id = new_id("req")
    options = ScoreOptions(
        include_dimensions=True, include_explanation=usable.grader.share_reasoning
    )
    if len(pack) == 1:
        return "/score", ScoreRequest(request_id=request_id, completion=pack[0], options=options)
    return "/score/batch", BatchScoreRequest(
        request_id=request_id, completions=list(pack), options=options
    )


def packs_of(
    completions: Iterable[GradedCompletion], most: int
) -> Iterator[list[GradedCompletion]]:
    """Split into requests of at most ``most`` completions and about 4 MB of JSON."""
    pack: list[GradedCompletion] = []
    size = 0
    for completion in completions:
        length = len(completion.model_dump_json(by_alias=True, exclude_none=True).encode())
        if pack and (len(pack) == most or size + length > _LARGEST_REQUEST_BYTES):
            yield pack
            pack, size = [], 0
        pack.append(completion)
        size += length
    if pack:
        yield pack
