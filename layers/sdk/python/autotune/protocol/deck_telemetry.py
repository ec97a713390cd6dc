"""Captured calls on the wire: samples that find their deck, and prompts that no deck has."""

from typing import Any

from autotune.protocol import types
from autotune.protocol.deck_samples import RejectedLine
from autotune.protocol.decks import Deck


class MatchedLine(types.ResponseModel):
    """A line that was stored as a sample, counted from 1, and the deck whose prompt it has."""

    line: int
    sample_id: str
    deck_id: str


class UnmatchedLine(types.ResponseModel):
    """A line whose prompt no deck has, and the prompt that it was counted under."""

    line: int
    unmatched_id: str


class MatchedSamples(types.ResponseModel):
    """What came of samples without a deck: each line that is not empty is in one of the three.

    Attributes:
        accepted: how many lines were stored.
        samples: they, in the order of the lines.
        unmatched: lines that were counted, since no deck has their prompt.
        rejected: lines of which nothing is kept, each with its first fault.
    """

    accepted: int
    samples: list[MatchedLine]
    unmatched: list[UnmatchedLine]
    rejected: list[RejectedLine]


class UnmatchedExample(types.ResponseModel):
    """A call that is kept with a prompt that no deck has."""

    request: dict[str, Any]
    response: dict[str, Any]
    captured_at: types.Timestamp


class UnmatchedPrompt(types.ResponseModel):
    """A prompt of captured calls that no deck has.

    Attributes:
        excerpt: how it begins.
        characters: how long it is.
        calls: how many calls had it.
        tied_deck_ids: decks that have it equally well, so that none of them got its calls.
        system_prompt: the whole of it; left out of lists, as ``examples`` is.
        examples: a few of its calls, oldest first.
    """

    id: str
    excerpt: str
    characters: int
    calls: int
    tied_deck_ids: list[str]
    first_seen_at: types.Timestamp
    last_seen_at: types.Timestamp
    system_prompt: str | None = None
    examples: list[UnmatchedExample] | None = None


class UnmatchedPromptResponse(types.ResponseModel):
    """One prompt that no deck has."""

    prompt: UnmatchedPrompt


class UnmatchedPromptList(types.ResponseModel):
    """All prompts that no deck has, those with most calls first: 200 at most.

    Attributes:
        passed_over: how many calls had further prompts, for which the list had no room.
    """

    prompts: list[UnmatchedPrompt]
    passed_over: int


class AdoptPromptRequest(types.RequestModel):
    """What a deck is made from beside an unmatched prompt; as for any other deck."""

    name: types.Name
    description: types.Description = ""
    holdout_share: types.UnitInterval = 0.5


class AdoptedPrompt(types.ResponseModel):
    """The deck that has the prompt now.

    Attributes:
        sample_ids: samples that were made of the calls kept with the prompt.
    """

    deck: Deck
    sample_ids: list[str]
