"""Makes a deck file of a deck and its graders as the API shows them."""

from collections.abc import Sequence

from autotune.client.deck_files.models import DeckFile, DeckFileGrader, DeckFileJudge
from autotune.protocol.deck_rubrics import DeckGrader, DeckJudge
from autotune.protocol.decks import Deck
from autotune.protocol.levels import LevelsRubric


def deck_file_of(
    deck: Deck, graders: Sequence[DeckGrader], *, with_connections: bool = True
) -> DeckFile:
    """Return what a file says of a deck; a judge that all graders share stands there once.

    Args:
        deck: with its system prompt, as ``client.decks.get`` returns it.
        with_connections: False leaves out where models are called: for other organisations.

    Example:
        >>> graders = client.decks.graders.list(deck.id)
        >>> text = format_deck_file(deck_file_of(client.decks.get(deck.id), graders))
    """
    judges = [_file_judge(one, with_connections=with_connections) for one in graders]
    shared = judges[0] if judges and all(one == judges[0] for one in judges) else None
    return DeckFile(
        name=deck.name,
        description=deck.description,
        system_prompt=deck.system_prompt or "",
        holdout_share=deck.holdout_share,
        judge=shared,
        graders=[
            DeckFileGrader(
                name=one.name, rubric=rubric_of(one), judge=None if shared is not None else judge
            )
            for one, judge in zip(graders, judges, strict=True)
        ],
    )


def rubric_of(grader: DeckGrader) -> LevelsRubric:
    """Return the rubric of a grader as a request has it."""
    return LevelsRubric.model_validate(grader.rubric.model_dump(by_alias=True))


def judge_of(grader: DeckGrader) -> DeckJudge | None:
    """Return the judge of a grader as a request has it."""
    judge = grader.judge
    return None if judge is None else DeckJudge.model_validate(judge.model_dump(by_alias=True))


def _file_judge(grader: DeckGrader, *, with_connections: bool) -> DeckFileJudge | None:
    judge = judge_of(grader)
    if judge is None:
        return None
    said = DeckFileJudge.of(judge)
    return said if with_connections else said.model_copy(update={"connection": None})
