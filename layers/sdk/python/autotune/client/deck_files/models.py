"""What a deck file says: a deck, its graders, and the model that judges by them."""

from typing import Annotated

from pydantic import Field, field_validator

from autotune.protocol import limits, types
from autotune.protocol.deck_rubrics import DeckJudge
from autotune.protocol.decks import SystemPrompt
from autotune.protocol.levels import LevelsRubric
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import ConnectionId


class DeckFileJudge(types.RequestModel):
    """The model that judges by a rubric.

    Attributes:
        connection: where it is called; a file that others are given leaves it out, because it is
            one organisation's.
    """

    connection: ConnectionId | None = None
    model: ModelName
    params: LlmParams

    @field_validator("params")
    @classmethod
    def _leaves_the_format(cls, params: LlmParams) -> LlmParams:
        if params.response_format is not None:
            raise ValueError("expected no responseFormat: the answer ends in a line VERDICT")
        return params

    @classmethod
    def of(cls, judge: DeckJudge) -> "DeckFileJudge":
        """Return what a file says of a deck grader's judge."""
        return cls(connection=judge.connection_id, model=judge.model, params=judge.params)

    def at(self, connection_id: str) -> DeckJudge:
        """Return this judge, called at a connection."""
        return DeckJudge(connection_id=connection_id, model=self.model, params=self.params)


class DeckFileGrader(types.RequestModel):
    """A grader: its rubric, and its judge where it has one of its own."""

    name: types.Name
    rubric: LevelsRubric
    judge: DeckFileJudge | None = None


class DeckFile(types.RequestModel):
    """A deck as a file has it.

    Attributes:
        holdout_share: share of the groups of samples that is held out, 0 to 1.
        judge: of those graders that have none of their own.
    """

    name: types.Name
    description: types.Description = ""
    system_prompt: SystemPrompt
    holdout_share: types.UnitInterval = 0.5
    judge: DeckFileJudge | None = None
    graders: Annotated[
        list[DeckFileGrader],
        Field(max_length=limits.MAX_DECK_GRADERS),
        types.at_most(limits.MAX_DECK_GRADERS),
    ] = []

    @field_validator("system_prompt")
    @classmethod
    def _is_given(cls, prompt: str) -> str:
        if not prompt.strip():
            raise ValueError("expected a system prompt that is not empty")
        return prompt

    def judge_of(self, grader: DeckFileGrader) -> DeckFileJudge | None:
        """Return the judge of a grader: its own, else the file's."""
        return self.judge if grader.judge is None else grader.judge
