"""Environments of functions that accept, read or write completions."""

from autotune.protocol.completions import Priority
from autotune_platform.runtime.environment.base import Environment


class ContentEnvironment(Environment):
    """For functions that read or write completions."""

    completions_table: str
    content_bucket: str


class WaitingEnvironment(ContentEnvironment):
    """For the function behind the two reads that may wait; so many wait at once."""

    budgets_table: str
    waiting_reads: int | None = None


class QueueEnvironment(Environment):
    """For functions that queue chunks."""

    high_queue_url: str
    normal_queue_url: str
    low_queue_url: str

    @property
    def queue_urls(self) -> dict[Priority, str]:
        """The queue of each priority."""
        return {
            "high": self.high_queue_url,
            "normal": self.normal_queue_url,
            "low": self.low_queue_url,
        }


class SubmissionEnvironment(ContentEnvironment, QueueEnvironment):
    """For functions that accept or redrive completions."""
