"""What both clients consist of: a resource for each kind of thing."""

from typing import ClassVar

from autotune.client.audit import AsyncAudit, Audit
from autotune.client.batches import AsyncBatches, Batches
from autotune.client.binding import Part
from autotune.client.completions import AsyncCompletions, Completions
from autotune.client.exchange import Session
from autotune.client.exports import AsyncExports, Exports
from autotune.client.graders import AsyncGraders, Graders
from autotune.client.keys import AsyncKeys, Keys
from autotune.client.reviews import AsyncReviews, Reviews
from autotune.client.reward_urls import AsyncRewardUrls, RewardUrls
from autotune.client.runs import AsyncRuns, Runs
from autotune.client.scores import AsyncScores, Scores
from autotune.client.tasks import AsyncTasks, Tasks
from autotune.client.webhooks import AsyncWebhooks, Webhooks


class ClientParts:
    """The resources of a client, each of the client's flavour."""

    is_async: ClassVar[bool] = False
    _session: Session

    tasks = Part(Tasks, AsyncTasks)
    graders = Part(Graders, AsyncGraders)
    completions = Part(Completions, AsyncCompletions)
    batches = Part(Batches, AsyncBatches)
    runs = Part(Runs, AsyncRuns)
    reviews = Part(Reviews, AsyncReviews)
    scores = Part(Scores, AsyncScores)
    exports = Part(Exports, AsyncExports)
    keys = Part(Keys, AsyncKeys)
    reward_urls = Part(RewardUrls, AsyncRewardUrls)
    webhooks = Part(Webhooks, AsyncWebhooks)
    audit = Part(Audit, AsyncAudit)

    @property
    def session(self) -> Session:
        """Address, key and settings of this client."""
        return self._session
