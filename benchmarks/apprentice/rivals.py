"""What others do with the same stream and the same paid model.

- **All remote**: the paid model answers everything.
- **A static cascade**, as FrugalGPT has it (L. Chen, M. Zaharia and J. Zou, 2023): a small model is
  trained once, is asked first, and its answer is taken where a score says that it is good enough.
  From which score on is chosen on held-out examples so that their mean agreement is at the target.
- **A router on the input**, as RouteLLM has it (I. Ong et al., 2024): a model that sees the input
  alone says whether the small one will agree with the paid one, and asks one of the two.

Both learn from the first inputs, which the paid model answers, and change nothing afterwards. Their
mean agreement on held-out examples is an estimate, and no bound.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.runs.prompting import local_question
from autotune_platform.apprentice.students.linear import LinearModel, canonical, train
from benchmarks.apprentice.streams import Query, Stream
from benchmarks.apprentice.teacher import Teacher

TARGETS = (0.80, 0.85, 0.875, 0.90, 0.92, 0.94, 0.96)
_HELD_OUT = 5
_FOLDS = 5

Row = tuple[Mapping[str, Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """What a strategy did with a stream.

    Attributes:
        remote: for each input, whether the paid model was asked.
        right: whether the answer was true.
        agreed: of answers that the small model gave, whether they were the paid model's.
        bill: in billionths of a US dollar.
    """

    remote: Sequence[bool]
    right: Sequence[bool]
    agreed: Sequence[bool]
    bill: int


@dataclass(frozen=True)
class Said:
    """What a small model says to an input, and how probable it is that this agrees."""

    intent: str
    confidence: float


def all_remote(stream: Stream, document: Mapping[str, Any]) -> Outcome:
    """Have the paid model answer everything."""
    return _played(stream, document, lambda _: None)


def small_model(stream: Stream, *, learned: int) -> dict[int, Said]:
    """Return what a small model says to each query, by its place.

    Args:
        learned: how many inputs the paid model answers before.
    """
    model = train(_rows(_learning(stream.queries[:learned])))
    return {query.place: _said(model, query) for query in stream.queries}


def cascade(
    stream: Stream, document: Mapping[str, Any], said: Mapping[int, Said], *, learned: int
) -> dict[float, Outcome]:
    """Return what a static cascade does, by target.

    Args:
        said: by the small model.
    """
    return _by_target(stream, document, said, learned)


def router(
    stream: Stream, document: Mapping[str, Any], said: Mapping[int, Said], *, learned: int
) -> dict[float, Outcome]:
    """Return what a router on the input does, by target."""
    judge = train(_agreements(_learning(stream.queries[:learned])))
    routed = {
        query.place: Said(said[query.place].intent, _sure(judge, query)) for query in stream.queries
    }
    return _by_target(stream, document, routed, learned)


def _by_target(
    stream: Stream, document: Mapping[str, Any], said: Mapping[int, Said], learned: int
) -> dict[float, Outcome]:
    held = _held_out(stream.queries[:learned])
    first = {query.place for query in stream.queries[:learned]}
    outcomes = {}
    for target in TARGETS:
        least = _threshold([(said[query.place], query) for query in held], target)

        def local(query: Query, least: float = least) -> str | None:
            one = said[query.place]
            is_taken = query.place not in first and one.confidence >= least
            return one.intent if is_taken else None

        outcomes[target] = _played(stream, document, local)
    return outcomes


def _threshold(held: Sequence[tuple[Said, Query]], target: float) -> float:
    """Return the lowest confidence from which on the mean agreement is at the target."""
    agreed, least = 0, 2.0
    ordered = sorted(held, key=lambda one: one[0].confidence, reverse=True)
    for count, (said, query) in enumerate(ordered, 1):
        agreed += said.intent == query.taught
        if agreed >= target * count:
            least = said.confidence
    return least


def _played(
    stream: Stream, document: Mapping[str, Any], local: Callable[[Query], str | None]
) -> Outcome:
    teacher = Teacher(stream.queries)
    remote, right, agreed = [], [], []
    for query in stream.queries:
        answer = local(query)
        remote.append(answer is None)
        if answer is None:
            asked = local_question(document, {"text": query.text})
            text, _, _ = teacher.answer(asked.system, asked.user, query.text)
            answer = json.loads(text)["intent"]
        else:
            agreed.append(answer == query.taught)
        right.append(answer == query.intent)
    return Outcome(remote, right, agreed, teacher.bill)


def _learning(first: Sequence[Query]) -> list[Query]:
    return [query for place, query in enumerate(first) if place % _HELD_OUT]


def _held_out(first: Sequence[Query]) -> list[Query]:
    return [query for place, query in enumerate(first) if place % _HELD_OUT == 0]


def _agreements(learning: Sequence[Query]) -> list[Row]:
    """Return of each query whether a student agrees that was trained on others."""
    rows: list[Row] = []
    for fold in range(_FOLDS):
        model = train(_rows([one for place, one in enumerate(learning) if place % _FOLDS != fold]))
        for query in learning[fold::_FOLDS]:
            agrees = _said(model, query).intent == query.taught
            rows.append(({"text": query.text}, {"agrees": agrees}))
    return rows


def _sure(judge: LinearModel, query: Query) -> float:
    text, confidence = judge.answer({"text": query.text})
    return confidence if text == canonical({"agrees": True}) else 1 - confidence


def _said(model: LinearModel, query: Query) -> Said:
    text, confidence = model.answer({"text": query.text})
    return Said(json.loads(text)["intent"], confidence)


def _rows(queries: Sequence[Query]) -> list[Row]:
    return [({"text": query.text}, {"intent": query.taught}) for query in queries]
