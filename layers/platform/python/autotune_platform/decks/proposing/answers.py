"""What a model that proposes graders says, read as JSON and nothing else, and checked.

A system prompt that was captured is an attacker. An answer is one JSON object, whole: nothing is
looked for within a text, so that what the prompt says, repeated by the model, is read as no grader.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StringConstraints, ValidationError

from autotune.protocol import limits
from autotune.protocol.compact_json import compact_sorted
from autotune.protocol.deck_proposals import ProposalFault
from autotune.protocol.levels import LEVELS, LevelsRubric
from autotune.protocol.rubric_lint import folded
from autotune.protocol.types import RequestModel, Text, at_most
from autotune_platform.decks.json_answers import one_object
from autotune_platform.decks.proposing.models import Candidate, Refused

LEAST_GRADERS, MOST_GRADERS = 3, 7
MOST_ANSWER_BYTES = 80_000
"""Of an answer; all that is kept of three of them fits into an item of the table."""

_MOST_QUOTES = 8
_LEAST_QUOTE_CHARACTERS = 8
_MOST_READ = 20
_MOST_VALUES = 2_000


class _Written(RequestModel):
    """A grader as a model writes it."""

    name: Annotated[
        Text,
        StringConstraints(
            min_length=1, max_length=limits.MAX_NAME_CHARACTERS, strip_whitespace=True
        ),
    ]
    criteria: Text
    levels: Annotated[list[Text], at_most(len(LEVELS))]
    not_applicable_when: Text | None = None
    prompt_quotes: Annotated[
        list[Text], Field(min_length=1, max_length=_MOST_QUOTES), at_most(_MOST_QUOTES)
    ]


@dataclass(frozen=True)
class GradersRead:
    """What an answer has: graders to be looked at further, and what is refused of it."""

    candidates: Sequence[Candidate]
    refused: Sequence[Refused]


def read_graders(
    raw: str, prompt: str, kept: Sequence[Candidate] = (), before: Sequence[Refused] = ()
) -> GradersRead:
    """Return the graders that an answer proposes, each with what is wrong with it.

    Args:
        prompt: the system prompt that they are for.
        kept: those of earlier answers, which this one may repeat: by name they are left as they
            are.
        before: what was refused of the answer before. It stays refused, unless this one has
            something in its place.
    """
    if len(raw.encode("utf-8", "surrogatepass")) > MOST_ANSWER_BYTES:
        return _whole("answer_too_long", before)
    document = one_object(raw, most_values=_MOST_VALUES)
    listed = document.get("graders") if document is not None else None
    if not isinstance(listed, list) or (document is not None and len(document) > 1):
        return _whole("answer_unreadable", before)
    known = {folded(one.name) for one in kept}
    new = [one for one in listed if folded(_name(one) or "") not in known]
    taken, rest = new[:_MOST_READ], new[_MOST_READ:]
    names = Counter(folded(_name(one) or "") for one in taken)
    criteria = Counter(_criteria(one) for one in taken)
    criteria.update(folded(one.rubric.criteria) for one in kept)
    candidates: list[Candidate] = []
    refused: list[Refused] = []
    for one in taken:
        found, faults = _checked(one, prompt)
        if names[folded(_name(one) or "")] > 1:
            faults.append("name_repeated")
        if criteria[_criteria(one)] > 1:
            faults.append("criteria_repeated")
        if not faults and len(kept) + len(candidates) >= MOST_GRADERS:
            faults.append("too_many")
        if found is None or faults:
            refused.append(Refused(name=_name(one), faults=faults, text=_text(one)))
        else:
            candidates.append(found)
    refused += [Refused(name=_name(one), faults=["too_many"]) for one in rest]
    missing = [one for one in before if one.name and folded(one.name) not in names]
    refused += missing[: max(0, sum(one.name is not None for one in before) - len(new))]
    if len(kept) + len(candidates) < LEAST_GRADERS:
        refused.append(Refused(faults=["too_few"]))
    return GradersRead(candidates, refused)


def read_order(raw: str) -> list[int] | None:
    """Return the places of shuffled levels from the worst to the best; None for no such answer."""
    document = one_object(raw, most_values=_MOST_VALUES)
    order = document.get("order") if document is not None else None
    if not isinstance(order, list) or (document is not None and len(document) > 1):
        return None
    if any(type(one) is not int for one in order) or sorted(order) != list(range(len(LEVELS))):
        return None
    return order


def whole_fault(fault: ProposalFault, before: Sequence[Refused] = ()) -> list[Refused]:
    """Return what is refused after an answer that gives nothing to read."""
    return [*(one for one in before if one.name is not None), Refused(faults=[fault])]


def _whole(fault: ProposalFault, before: Sequence[Refused]) -> GradersRead:
    return GradersRead([], whole_fault(fault, before))


def _checked(written: Any, prompt: str) -> tuple[Candidate | None, list[ProposalFault]]:
    """Return a grader and what is wrong with it; None where it is none."""
    try:
        one = _Written.model_validate(written)
        rubric = LevelsRubric(
            criteria=one.criteria, levels=one.levels, not_applicable_when=one.not_applicable_when
        )
    except ValidationError:
        return None, ["fields"]
    faults: list[ProposalFault] = []
    if not (folded(one.name) and folded(one.criteria)):
        faults.append("fields")
    levels = [folded(text) for text in one.levels]
    if not all(levels):
        faults.append("level_empty")
    elif len(set(levels)) < len(levels):
        faults.append("levels_repeated")
    if not all(_is_quote(quote, prompt) for quote in one.prompt_quotes):
        faults.append("quote_not_in_prompt")
    return Candidate(name=one.name, rubric=rubric, quotes=one.prompt_quotes), faults


def _is_quote(quote: str, prompt: str) -> bool:
    """Return whether a quote stands in a prompt, and is long enough to be found in it."""
    least = min(_LEAST_QUOTE_CHARACTERS, len(prompt.strip()))
    return len(quote.strip()) >= least and quote in prompt


def _name(written: Any) -> str | None:
    """Return what a grader is called, as far as that can be shown."""
    name = written.get("name") if isinstance(written, dict) else None
    if not isinstance(name, str):
        return None
    cut = name.strip()[: limits.MAX_NAME_CHARACTERS]
    return cut.encode("utf-8", "replace").decode() or None


def _criteria(written: Any) -> str:
    criteria = written.get("criteria") if isinstance(written, dict) else None
    return folded(criteria) if isinstance(criteria, str) else ""


def _text(written: Any) -> str:
    return compact_sorted(written).encode("utf-8", "replace").decode()
