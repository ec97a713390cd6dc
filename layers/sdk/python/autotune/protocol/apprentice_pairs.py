"""Pairs of a version on the wire: what its evidence is made of."""

from autotune.protocol.types import ResponseModel, Timestamp


class ApprenticeVersionPair(ResponseModel):
    """How far a version and the paid model agreed on one input; it never changes.

    Attributes:
        version: number of the version.
        sequence: its place among the version's pairs, from 1, without gaps: in this order they are
            folded into evidence.
        run_id: of the run that was answered by both.
        score: from 0 to 1.
        is_drawn: whether chance alone chose the run; others are no evidence.
        is_sure: whether the version was as sure as its gate asks for; behind a gate, others are no
            evidence either.
        at: when the run was answered.
    """

    version: int
    sequence: int
    run_id: str
    score: float
    is_drawn: bool
    is_sure: bool = True
    at: Timestamp


class ApprenticePairList(ResponseModel):
    """A page of a version's pairs, newest first."""

    pairs: list[ApprenticeVersionPair]
    next_token: str | None = None
