"""What came of one case: counted from the fake's bill and from what the client handed over."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.llm_peers.cases import QUESTIONS, answer

RETURNED, RAISED, WAITING = "returned", "raised", "waiting"


@dataclass(frozen=True, kw_only=True)
class Observed:
    """One client in one case, in counts.

    Attributes:
        ended: ``returned``, ``raised``, or ``waiting`` where it was still waiting when stopped.
        error: What it raised, in one line.
        met: Whether every trap of the case sprang.
        answered: Questions with their own answer, and no other question's.
        reported: Questions without an answer, for each of which its caller got an error.
        lost: Questions without answer or error of their own.
        foreign: Questions with another question's answer.
        contradicted: Questions with nothing but a copy that contradicts their answer.
        repeated: Questions with more than one answer.
        strangers: Answers to what nobody asked.
        paid: Executions on the fake's bill.
        paid_again: Executions of questions that were executed before.
        paid_lost: Questions that were executed and have no answer of their own.
        jobs: Batch jobs at the fake.
        calls: How often each operation was asked for.
    """

    ended: str
    error: str
    met: bool
    answered: int
    reported: int
    lost: int
    foreign: int
    contradicted: int
    repeated: int
    strangers: int
    paid: int
    paid_again: int
    paid_lost: int
    jobs: int
    calls: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Handed:
    """What a client handed to its caller: answers and errors by the number of the question."""

    ended: str
    error: str = ""
    answers: Mapping[str, Sequence[str]]
    errors: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Billed:
    """What the fake tells: executions, batches with their rows, traps that sprang, requests."""

    executions: Sequence[Mapping[str, Any]]
    jobs: int
    sprung: Iterable[str]
    calls: Mapping[str, int]


def observe(handed: Handed, billed: Billed, *, traps: Iterable[str]) -> Observed:
    """Compare what was handed over with what was paid."""
    asked = [str(number) for number in range(QUESTIONS)]
    of_question = {one: list(handed.answers.get(one, [])) for one in asked}
    about = {one for one, texts in of_question.items() if _all_hold(texts, f"Answer {one}.")}
    own = {one for one in about if any(answer(int(one)) in text for text in of_question[one])}
    turned = about - own
    foreign = {one for one, texts in of_question.items() if texts} - own - turned
    reported = {one for one in asked if not of_question[one] and one in handed.errors}
    lost = [one for one in asked if not of_question[one] and one not in reported]
    executed = {one["fingerprint"] for one in billed.executions}
    return Observed(
        ended=handed.ended,
        error=handed.error,
        met=set(traps) <= set(billed.sprung),
        answered=len(own),
        reported=len(reported),
        lost=len(lost),
        foreign=len(foreign),
        contradicted=len(turned),
        repeated=sum(len(texts) > 1 for texts in of_question.values()),
        strangers=sum(
            len(texts) for one, texts in handed.answers.items() if one not in of_question
        ),
        paid=len(billed.executions),
        paid_again=len(billed.executions) - len(executed),
        paid_lost=max(len(executed) - len(own) - len(turned), 0),
        jobs=billed.jobs,
        calls=dict(sorted(billed.calls.items())),
    )


def _all_hold(texts: Sequence[str], wanted: str) -> bool:
    return bool(texts) and all(wanted in text for text in texts)
