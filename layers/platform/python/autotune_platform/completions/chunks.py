"""Cutting completions into the chunks that runs serve."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from autotune_platform.completions.models import CHUNK_COMPLETIONS, Chunk, Completion
from autotune_platform.runtime.grouping import groups
from autotune_platform.verdicts.panels import Panel


def chunks_of(
    completions: Iterable[Completion],
    panels: Mapping[str, Panel],
    *,
    redrive: int = 0,
    most: int = CHUNK_COMPLETIONS,
) -> Iterator[Chunk]:
    """Yield chunks of one organisation's completions, each for one grader, version and generation.

    Args:
        redrive: how often they were redriven, this time included.
        panels: those among the completions' graders, by id; each of their members gets its chunk.
        most: completions in a chunk.
    """
    by_grader: dict[tuple[str, str, int], list[Completion]] = defaultdict(list)
    for completion in completions:
        key = completion.grader_id, completion.grader_version, completion.generation
        by_grader[key].append(completion)
    for group in by_grader.values():
        panel = panels.get(group[0].grader_id)
        for some in groups(group, most):
            for asked in panel.members if panel else group[:1]:
                yield Chunk(
                    organization_id=some[0].organization_id,
                    grader_id=asked.grader_id,
                    grader_version=asked.grader_version,
                    completion_ids=[completion.id for completion in some],
                    text_bytes=sum(completion.text_bytes for completion in some),
                    generation=some[0].generation,
                    redrive=redrive,
                    panel_id=panel.id if panel else None,
                )
