"""Cutting completions into the chunks that runs serve."""

from collections.abc import Iterable, Iterator

from autotune_platform.completions.models import CHUNK_COMPLETIONS, Chunk, Completion
from autotune_platform.grouping import groups


def chunks_of(completions: Iterable[Completion], *, generation: int = 0) -> Iterator[Chunk]:
    """Yield chunks of one organisation's completions, each for one grader and version."""
    by_grader: dict[tuple[str, str], list[Completion]] = {}
    for completion in completions:
        by_grader.setdefault((completion.grader_id, completion.grader_version), []).append(
            completion
        )
    for (grader_id, version), group in by_grader.items():
        for some in groups(group, CHUNK_COMPLETIONS):
            yield Chunk(
                organization_id=some[0].organization_id,
                grader_id=grader_id,
                grader_version=version,
                completion_ids=[completion.id for completion in some],
                text_bytes=sum(completion.text_bytes for completion in some),
                generation=generation,
            )
