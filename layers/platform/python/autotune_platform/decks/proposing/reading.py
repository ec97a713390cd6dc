"""What follows from the answers to a proposal's questions: more to ask, or an end."""

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol.deck_proposals import ProposalFault
from autotune_platform.decks.proposing.answers import read_graders, read_order, whole_fault
from autotune_platform.decks.proposing.asking import MOST_REPAIRS
from autotune_platform.decks.proposing.models import Candidate, Proposing, Refused
from autotune_platform.decks.proposing.prompts import shuffled_places
from autotune_platform.ledger.ordering import Ordered


def after_answers(
    run_id: str, proposing: Proposing, prompt: str, found: Mapping[str, Ordered]
) -> dict[str, Any]:
    """Return what changes of a proposal once what it asked has ended.

    Args:
        found: what has ended, by row; one that is not there was deleted.
    """
    answers = [found.get(one.row_id) for one in proposing.questions]
    if proposing.stage == "graders":
        return _after_graders(proposing, prompt, answers[0])
    return _after_orders(run_id, proposing, answers)


def unasked(proposing: Proposing, fault: ProposalFault | None) -> list[Refused]:
    """Return what is refused where nothing more can be asked: what was not put in order, too."""
    refused = list(proposing.refused)
    if proposing.stage == "order":
        refused += [_refused(one, "order_not_checked") for one in proposing.candidates]
    return refused if fault is None else [*refused, Refused(faults=[fault])]


def _after_graders(proposing: Proposing, prompt: str, answer: Ordered | None) -> dict[str, Any]:
    fault = _fault_of(answer)
    if fault is not None:
        return _repaired(proposing, proposing.kept, whole_fault(fault, proposing.refused))
    read = read_graders(_said(answer), prompt, proposing.kept, proposing.refused)
    if read.candidates:
        return {"stage": "order", "candidates": read.candidates, "refused": read.refused}
    return _repaired(proposing, proposing.kept, read.refused)


def _after_orders(
    run_id: str, proposing: Proposing, answers: Sequence[Ordered | None]
) -> dict[str, Any]:
    kept, refused = list(proposing.kept), list(proposing.refused)
    for candidate, answer in zip(proposing.candidates, answers, strict=True):
        order = read_order(_said(answer)) if _fault_of(answer) is None else None
        places = shuffled_places(run_id, candidate)
        if order is None:
            refused.append(_refused(candidate, "order_not_checked"))
        elif [places[number] for number in order] != sorted(places):
            refused.append(_refused(candidate, "levels_out_of_order"))
        else:
            kept.append(candidate)
    return _repaired(proposing, kept, refused)


def _repaired(
    proposing: Proposing, kept: Sequence[Candidate], refused: Sequence[Refused]
) -> dict[str, Any]:
    """Ask again for what is refused, unless it was asked for often enough."""
    is_over = not refused or proposing.repairs >= MOST_REPAIRS
    return {
        "stage": "over" if is_over else "graders",
        "repairs": proposing.repairs + (not is_over),
        "kept": kept,
        "candidates": (),
        "refused": refused,
    }


def _fault_of(answer: Ordered | None) -> ProposalFault | None:
    if answer is None or answer.row.status != "completed" or answer.answered is None:
        return "no_answer"
    if answer.row.finish_reason == "length":
        return "output_cut"
    return "refused" if answer.row.finish_reason == "refusal" else None


def _said(answer: Ordered | None) -> str:
    assert answer is not None, "it has no fault"
    assert answer.answered is not None, "it has no fault"
    return answer.answered.raw_output


def _refused(candidate: Candidate, fault: ProposalFault) -> Refused:
    return Refused(name=candidate.name, faults=[fault], text=candidate.model_dump_json())
