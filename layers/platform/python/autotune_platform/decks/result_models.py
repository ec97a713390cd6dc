"""What judges said of samples, as the platform stores it."""

from datetime import datetime

from autotune.protocol.completions import ReasonCode
from autotune.protocol.deck_results import DeckResultStatus
from autotune.protocol.deck_samples import Split
from autotune_platform.runtime.frozen_model import FrozenModel


class GraderResult(FrozenModel):
    """What one version of a grader's judge says of one sample; the words are apart.

    Attributes:
        split: the sample's half, and ``group_key`` its group: neither ever changes.
        repeated: whether it is a second judgement, beside the first.
    """

    id: str
    organization_id: str
    deck_id: str
    grader_id: str
    version: int
    sample_id: str
    split: Split
    group_key: str
    status: DeckResultStatus
    score: int | None = None
    reason: ReasonCode | None = None
    answered_model: str | None = None
    request_id: str | None = None
    run_id: str
    cost_nano_usd: int = 0
    repeated: bool = False
    created_at: datetime

    @property
    def is_final(self) -> bool:
        """Whether no later run replaces it."""
        return self.status in ("scored", "abstained")

    def is_by(self, model: str | None) -> bool:
        """Return whether a model answered, or none was asked; any did where none is named."""
        return model is None or self.answered_model in (model, None)


class ResultWords(FrozenModel):
    """What a judge says for its level."""

    explanation: str | None = None
    reasoning: str | None = None
