"""What becomes of a run that gave up: its record says so, and its completions are redriven."""

from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runtime.parts import part


@part
class RunFailure:
    """Records that a run gave up, and hands what is pending in it to the sweeper.

    It writes no verdict: trouble of the platform passes, and what passes is never final.
    """

    batches: OpenBatches
    completions: CompletionService
    recorder: RunRecorder

    def fail(self, progress: ChunkProgress) -> ChunkProgress:
        """Record the end of a run; return it with nothing left to do."""
        # First, because a run without pending completions reads as completed.
        self.recorder.failed(progress)
        # Also of what has its verdict: that may not be listed.
        headers = self.completions.headers(progress.open_ids).values()
        self.batches.have_looked_at({header.batch_id for header in headers})
        return progress.finished()
