"""Decks on the wire: a system prompt in versions, with samples and graders of its own."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from autotune.protocol import limits, types

DeckId = Annotated[str, StringConstraints(pattern=r"^dck_[0-9a-v]{26}$")]
DeckStatus = Literal["draft", "active", "archived"]

SystemPrompt = Annotated[
    types.Text, StringConstraints(max_length=limits.MAX_DECK_PROMPT_CHARACTERS)
]
"""A system prompt; ``{{name}}`` stands for what differs from one request to another."""

VersionNumber = Annotated[int, Field(ge=1, le=limits.MAX_DECK_VERSIONS, strict=True)]
Note = types.Description


def _is_given(prompt: str) -> str:
    if not prompt.strip():
        raise ValueError("expected a system prompt that is not empty")
    return prompt


class CreateDeckRequest(types.RequestModel):
    """What a deck is made from.

    ``holdout_share`` is the share of groups of samples that is held out: it reaches no prompt but
    those of grading. 1 is for a deck that only measures. It never changes, because samples are
    divided as they come.
    """

    name: types.Name
    description: types.Description = ""
    system_prompt: SystemPrompt
    holdout_share: types.UnitInterval = 0.5

    _given = field_validator("system_prompt")(_is_given)


class UpdateDeckRequest(types.RequestModel):
    """Fields to change; what is left out stays.

    ``version`` makes a version that exists the current one, which is how a change is rolled back.
    """

    name: types.Name | None = None
    description: types.Description | None = None
    status: DeckStatus | None = None
    version: VersionNumber | None = None


class CreateDeckVersionRequest(types.RequestModel):
    """A further version of a deck's system prompt, which becomes the current one.

    ``parent`` is the version that it was made from: the current one where it is left out. Where it
    is given, it has to be the current one still, or ``409`` is answered.
    """

    system_prompt: SystemPrompt
    note: Note = ""
    parent: VersionNumber | None = None

    _given = field_validator("system_prompt")(_is_given)


class GraderFigures(types.ResponseModel):
    """How far a grader agreed with people when its agreement was last read.

    Attributes:
        version: the version that was the current one then.
        kappa: None where it was undefined; ``low`` and ``high`` where it has no interval.
        n: pairs of a label and a level. ``labels``: drawn held-out samples with a label.
        sufficient: whether there were enough labels for a claim.
    """

    grader_id: str
    name: str
    version: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    labels: int
    sufficient: bool
    at: types.Timestamp


class Deck(types.ResponseModel):
    """A system prompt with its samples and graders.

    Attributes:
        spent_nano_usd: what its runs that have ended and its proposals of edits cost, in
            billionths of a US dollar.
        agreement: of graders whose agreement was read, as it was then; reading it here is free of
            looks at the held-out labels.
        version: number of the current version.
        system_prompt: of the current version; left out of lists.
        samples: how many there are; so with ``graders``.
        created_by: the principal that made it.
    """

    id: str
    organization_id: str
    name: str
    description: str
    status: DeckStatus
    version: int
    system_prompt: str | None = None
    holdout_share: float
    samples: int
    graders: int
    spent_nano_usd: int = 0
    agreement: list[GraderFigures] = []
    created_at: types.Timestamp
    updated_at: types.Timestamp
    created_by: str


class DeckResponse(types.ResponseModel):
    """One deck."""

    deck: Deck


class DeckList(types.ResponseModel):
    """A page of decks, oldest first."""

    decks: list[Deck]
    next_token: str | None = None


class DeckVersion(types.ResponseModel):
    """One version of a deck's system prompt; it never changes.

    Attributes:
        prompt_hash: SHA-256, in hexadecimal, of the organisation and the normalised prompt.
        placeholders: names of its placeholders, in the order in which they first stand there.
        parent: the version that it was made from; None of the first.
        author: the principal that made it.
    """

    deck_id: str
    version: int
    system_prompt: str
    prompt_hash: str
    placeholders: list[str]
    parent: int | None = None
    note: str
    author: str
    created_at: types.Timestamp


class DeckVersionResponse(types.ResponseModel):
    """One version of a deck."""

    version: DeckVersion


class DeckVersionList(types.ResponseModel):
    """A page of a deck's versions, newest first; it has fewer where prompts are long."""

    versions: list[DeckVersion]
    next_token: str | None = None
