"""What is known of captured calls, and of prompts that no deck has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from autotune.protocol.deck_samples import Collection, NewSample
from autotune_platform.runtime.frozen_model import FrozenModel


@dataclass(frozen=True)
class Taken:
    """What became of a captured call.

    Attributes:
        sample_id: the sample that was made of it.
        deck_id: the deck that it is of, also where that has no room for it.
        unmatched_id: the prompt that it was counted under, which no deck has.
        fault: what was expected, where nothing is kept of it.
    """

    sample_id: str | None = None
    deck_id: str | None = None
    unmatched_id: str | None = None
    fault: str | None = None


@dataclass(frozen=True)
class Asked:
    """How a call was asked, of which texts were changed before they are kept.

    Attributes:
        prompt: the system prompt as the model had it; it is not kept.
        redact: what its texts were changed by.
    """

    prompt: str | None
    redact: Callable[[str], str]


@dataclass(frozen=True)
class Exchange:
    """A call to a model, and its answer.

    Attributes:
        source_id: the same for the same call of an organisation, however often it is handed over.
        expires_at: when what is kept of it is erased; None for never.
    """

    organization_id: str
    source_id: str
    given: NewSample
    captured_at: datetime
    expires_at: datetime | None = None
    collection: Collection = "telemetry"


class Receipt(FrozenModel):
    """What was decided of a call, so that one that comes again is not decided anew.

    Attributes:
        deck_version: the version of the deck that its sample is of.
        done: whether all of it is stored.
    """

    organization_id: str
    sample_id: str | None = None
    deck_id: str | None = None
    deck_version: int | None = None
    unmatched_id: str | None = None
    fault: str | None = None
    done: bool = False

    @property
    def taken(self) -> Taken:
        """What became of the call."""
        return Taken(self.sample_id, self.deck_id, self.unmatched_id, self.fault)


class UnmatchedPrompt(FrozenModel):
    """A prompt of captured calls that no deck has.

    Attributes:
        excerpt: how it begins.
        count: how many calls had it.
        tied: decks that have it equally well.
        keep_until: when it is erased, if no further call has it; with ``text`` and examples.
        deck_id: the deck that was made of it; its text is gone then.
        dismissed_at: when somebody said that it is not to be listed.
    """

    id: str
    organization_id: str
    prompt_hash: str
    excerpt: str
    characters: int
    count: int = 1
    tied: Sequence[str] = ()
    first_seen_at: datetime
    last_seen_at: datetime
    keep_until: datetime
    deck_id: str | None = None
    dismissed_at: datetime | None = None

    @property
    def is_listed(self) -> bool:
        """Whether it is shown, and its text kept."""
        return self.deck_id is None and self.dismissed_at is None
