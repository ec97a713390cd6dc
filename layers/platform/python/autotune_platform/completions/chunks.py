"""Cutting completions into the chunks that runs serve."""

from collections.abc import Iterable, Iterator, Mapping

from autotune_platform.completions.models import CHUNK_COMPLETIONS, Chunk, Completion
from autotune_platform.runtime.grouping import groups
from autotune_platform.verdicts.panels import Panel


def chunks_of(
    completions: Iterable[Completion], panels: Mapping[str, Panel], *, generation: int = 0
) -> Iterator[Chunk]:
    """Yield chunks of one organisation's completions, each for one grader and version.

    Args:
        panels: those among the completions' graders, by id; each of their members gets its chunk.
    """
    by_grader: dict[tuple[str, str], list[Completion]] = {}
    for completion in completions:
        by_grader.setdefault((completion.grader_id, completion.grader_version), []).append(
            completion
        )
    for (grader_id, version), group in by_grader.items():
        panel = panels.get(grader_id)
        asked = (
            [(member.grader_id, member.grader_version) for member in panel.members]
            if panel
            else [(grader_id, version)]
        )
        for some in groups(group, CHUNK_COMPLETIONS):
            for asked_id, asked_version in asked:
                yield Chunk(
                    organization_id=some[0].organization_id,
                    grader_id=asked_id,
                    grader_version=asked_version,
                    completion_ids=[completion.id for completion in some],
                    text_bytes=sum(completion.text_bytes for completion in some),
                    generation=generation,
                    panel_id=panel.id if panel else None,
                )
