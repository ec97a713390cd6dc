"""Graders as they are made: their first version, and the digest that names what they judge by."""

import hashlib
from datetime import datetime

from autotune.protocol.compact_json import compact_sorted
from autotune.protocol.deck_rubrics import DeckGraderOrigin, DeckJudge
from autotune.protocol.ids import derived_id
from autotune.protocol.levels import LevelsRubric
from autotune_platform.decks.models import DeckGrader, GraderVersion, WholeGrader


def digest_of(rubric: LevelsRubric, judge: DeckJudge | None) -> str:
    """Return the SHA-256, in hexadecimal, of what outputs are judged by.

    It is of compact JSON with sorted names: what is written the same has the same digest.
    """
    content = {
        "rubric": rubric.model_dump(mode="json", by_alias=True),
        "judge": None if judge is None else judge.model_dump(mode="json", by_alias=True),
    }
    return hashlib.sha256(compact_sorted(content).encode()).hexdigest()


def registered_id(grader_id: str) -> str:
    """Return the id of the registry's grader that a deck's grader is published as."""
    return derived_id("grd", "published", grader_id)


def new_grader(
    *,
    grader_id: str,
    deck: tuple[str, str],
    name: str,
    rubric: LevelsRubric,
    judge: DeckJudge | None,
    origin: DeckGraderOrigin,
    note: str,
    author: str,
    now: datetime,
) -> WholeGrader:
    """Return a grader that is proposed, with its first version; nothing is stored.

    Args:
        deck: the ids of its organisation and of its deck.
    """
    organization_id, deck_id = deck
    digest = digest_of(rubric, judge)
    grader = DeckGrader(
        id=grader_id,
        organization_id=organization_id,
        deck_id=deck_id,
        name=name,
        status="proposed",
        origin=origin,
        digest=digest,
        created_at=now,
        updated_at=now,
        created_by=author,
    )
    first = GraderVersion(
        organization_id=organization_id,
        deck_id=deck_id,
        grader_id=grader_id,
        version=1,
        digest=digest,
        rubric=rubric,
        judge=judge,
        note=note,
        author=author,
        created_at=now,
    )
    return WholeGrader(grader=grader, current=first)
