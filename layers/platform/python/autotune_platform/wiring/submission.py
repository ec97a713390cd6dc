"""Parts that accept completions."""

from functools import cached_property

from autotune_platform.completions.batch_completions import BatchCompletions
from autotune_platform.completions.batch_index import BatchIndex
from autotune_platform.completions.batch_rescoring import BatchRescoring
from autotune_platform.completions.batch_walk import BatchWalk
from autotune_platform.completions.deleting import TextDeletion
from autotune_platform.completions.planning import BatchPlanner
from autotune_platform.completions.queue_progress import QueueProgress
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.completions.rescoring import RescoringService
from autotune_platform.completions.submission import SubmissionService
from autotune_platform.projections.batch_lists import BatchLists
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.completions import CompletionParts, ErasureParts
from autotune_platform.wiring.tasks import TaskParts


class SubmissionParts(CompletionParts, TaskParts):
    """What accepts completions."""

    environment: SubmissionEnvironment

    @cached_property
    def chunk_queues(self) -> ChunkQueues:
        return ChunkQueues(
            urls=self.environment.queue_urls,
            sqs=clients.sqs(),
            progress=QueueProgress(table=self.completions_table),
        )

    @cached_property
    def batch_planner(self) -> BatchPlanner:
        return BatchPlanner(tasks=self.tasks, graders=self.graders, panels=self.panels)

    @cached_property
    def submissions(self) -> SubmissionService:
        return SubmissionService(
            repository=self.completion_repository,
            queues=self.chunk_queues,
            planner=self.batch_planner,
            panels=self.panels,
        )


class CompletionApiParts(ApiParts, SubmissionParts, ErasureParts):
    """What accepts completions, shows what became of them, deletes and scores them again."""

    environment: SubmissionEnvironment

    @cached_property
    def deletion(self) -> TextDeletion:
        return TextDeletion(
            completions=self.completions,
            erasers=[self.completion_repository, *self.erasers],
        )

    @cached_property
    def batch_lists(self) -> BatchLists:
        return BatchLists(
            walk=BatchWalk(
                index=BatchIndex(self.completions_table), repository=self.completion_repository
            ),
            checkpoints=CheckpointRepository(self.completions_table),
        )

    @cached_property
    def batch_completions(self) -> BatchCompletions:
        return BatchCompletions(repository=self.completion_repository, verdicts=self.verdicts)

    @cached_property
    def rescoring(self) -> RescoringService:
        return RescoringService(
            repository=self.completion_repository,
            verdicts=self.verdicts,
            batches=BatchRescoring(
                repository=self.completion_repository,
                verdicts=self.verdicts,
                propagation=self.propagation,
                queues=self.chunk_queues,
                panels=self.panels,
            ),
            tasks=self.tasks,
        )
