"""From queued chunks to runs."""

from collections.abc import Hashable, Mapping

from aws_lambda_powertools import Logger
from pydantic import ValidationError

from autotune.protocol.ids import derived_id
from autotune_platform.completions.models import CHUNK_COMPLETIONS, CHUNK_TEXT_BYTES, Chunk
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runs.room import RunRoom
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part

logger = Logger()

LONGEST_WAIT_SECONDS = 20
"""Longest that chunks wait for room before their runs begin without; the function has 30 seconds.

They do not go back to their queue, which would make dead letters of them. A longer time of the
function would be a longer time that a message stays away whose dispatch was throttled.
"""


@part
class DispatchService:
    """Starts a run for each chunk, merging small chunks of one grader that are new."""

    runs: Executions
    recorder: RunRecorder
    room: RunRoom
    clock: Clock = SYSTEM_CLOCK

    def dispatch(self, messages: Mapping[str, str]) -> set[str]:
        """Start the runs of queued chunks; return the messages whose run could not be started.

        A run's id follows from the completions in it: delivering the same messages again starts
        nothing. Should they be merged differently then, the run finds verdicts and stops.
        Where an organisation has no room for another run, its chunks wait here for some, and
        meanwhile what it has queued stays on the queue. Those of others are dispatched first.

        Args:
            messages: the body of each message, by its id.
        """
        chunks, failed = _parsed(messages)
        until = self.clock.unix() + LONGEST_WAIT_SECONDS
        waiting = _merged(chunks)
        while waiting:
            is_over = self.clock.unix() >= until
            without_room: list[tuple[set[str], Chunk]] = []
            for message_ids, chunk in waiting:
                if not is_over and not self.room.take(chunk.organization_id):
                    without_room.append((message_ids, chunk))
                elif not self._begin(chunk):
                    failed |= message_ids
            waiting = without_room
            if waiting:
                self.clock.sleep(1)
        return failed

    def _begin(self, chunk: Chunk) -> bool:
        """Start the run of a chunk; return False where it goes back to its queue.

        After five times it goes to the dead letters.
        """
        run_id = _run_id(chunk)
        progress = ChunkProgress(
            **chunk.model_dump(exclude={"text_bytes", "redrive"}),
            remaining=len(chunk.completion_ids),
            run_id=run_id,
        )
        # Stored first, so that no run is under way that cannot be read.
        return self.recorder.begin(progress, run_id) and self.runs.try_start(
            run_id, progress.model_dump_json()
        )


def _run_id(chunk: Chunk) -> str:
    ids = sorted(chunk.completion_ids)
    start = str(chunk.redrive)
    if chunk.generation:
        start = f"{chunk.generation}.{chunk.redrive}"
    if chunk.panel_id is None:
        return derived_id("run", start, *ids)
    # The members of a panel have runs of their own on the same completions.
    member = [chunk.panel_id, chunk.grader_id, chunk.grader_version]
    return derived_id("run", start, *member, *ids)


def _parsed(messages: Mapping[str, str]) -> tuple[dict[str, Chunk], set[str]]:
    chunks: dict[str, Chunk] = {}
    failed: set[str] = set()
    for message_id, body in messages.items():
        try:
            chunks[message_id] = Chunk.model_validate_json(body)
        except ValidationError as error:
            # Not one of ours: it ends among the dead letters, and holds up no other message. What
            # is in it stays out of the log.
            faults = error.errors(include_input=False, include_context=False, include_url=False)
            logger.warning("unreadable chunk", message_id=message_id, faults=faults)
            failed.add(message_id)
    return chunks, failed


def _merged(chunks: Mapping[str, Chunk]) -> list[tuple[set[str], Chunk]]:
    merged: dict[Hashable, list[tuple[set[str], Chunk]]] = {}
    for message_id, chunk in chunks.items():
        who = (chunk.organization_id, chunk.grader_id, chunk.grader_version, chunk.panel_id)
        group = merged.setdefault((*who, chunk.generation, chunk.redrive), [])
        if group and not chunk.redrive:
            messages, last = group[-1]
            # A submission that was repeated may be queued twice.
            together = list(dict.fromkeys([*last.completion_ids, *chunk.completion_ids]))
            text_bytes = last.text_bytes + chunk.text_bytes
            if len(together) <= CHUNK_COMPLETIONS and text_bytes <= CHUNK_TEXT_BYTES:
                whole = last.model_copy(
                    update={"completion_ids": together, "text_bytes": text_bytes}
                )
                group[-1] = (messages | {message_id}, whole)
                continue
        group.append(({message_id}, chunk))
    return [entry for group in merged.values() for entry in group]
