"""Rubrics of seven levels: the question to a judge, and the reading of its answer.

An answer is reasoning, a line ``EXPLANATION: …`` and a last line ``VERDICT: …`` with a whole
number from -3 to 3, or ``NOT_APPLICABLE`` or ``ABSTAIN``. Whatever else comes is asked for once
more, with a word on what was wrong; then it is failed. It never becomes a level.

    ordered = orders.look([row_id])[row_id]
    reading = read_levels(ordered.row, ordered.answered)
    if reading.fault is not None and orders.ask_again(
        ordered, notice=repair_notice(reading.fault), at_most=1
    ):
        ...  # wait: the row's end is the second one's from now on

An answer to the second question has no ``fault`` any more, so that there is no third.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Final, Literal, Protocol

from autotune.protocol.completions import Priority, ReasonCode
from autotune.protocol.levels import LEVELS
from autotune.protocol.limits import MAX_LEVELS_ANSWER_CHARACTERS, MAX_REASONING_CHARACTERS
from autotune.protocol.llm_params import LlmInput, LlmParams
from autotune.protocol.llm_requests import EnqueueLlmRequest, LlmErrorCode, LlmTrace
from autotune.protocol.verdict_formats import ABSTAIN, MARKS, VerdictFormat, folded
from autotune_platform.judging.rubric.conversations import SampleTexts
from autotune_platform.judging.rubric.level_prompts import (
    SYSTEM,
    LevelFault,
    LevelsTexts,
    repair_notice,
    user_template,
    variables,
)
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.parsing import parse, text_behind
from autotune_platform.ledger.row_texts import RowOutput
from autotune_platform.runtime.frozen_model import FrozenModel

__all__ = [
    "LevelReading",
    "LevelsJudge",
    "levels_format",
    "levels_request",
    "read_answer_text",
    "read_levels",
    "reason_of",
    "repair_notice",
]

NOT_APPLICABLE: Final = "NOT_APPLICABLE"

_MINUSES = "-\N{MINUS SIGN}\N{EN DASH}\N{NON-BREAKING HYPHEN}"


def _spellings(level: int) -> list[str]:
    """Return how a level may be written: nothing that could mean another one."""
    signs = list(_MINUSES) if level < 0 else ["", "+"] if level else ["", "+", "-"]
    return [f"{sign}{abs(level)}{end}" for sign in signs for end in ("", ".0")]


_WRITTEN: Final = {spelling: float(level) for level in LEVELS for spelling in _spellings(level)}


@cache
def levels_format() -> VerdictFormat:
    """Return how the ledger reads a judge's answer; a half of a level is none."""
    return VerdictFormat(
        type="label",
        labels=list(_WRITTEN),
        map=dict(_WRITTEN),
        conflict="fail",
        abstain_words=[NOT_APPLICABLE, r"NOT\_APPLICABLE", "NOT APPLICABLE"],
    )


_FAULTS: Final[Mapping[str, LevelFault]] = {
    "output_cut": "output_cut",
    "verdict_missing": "verdict_missing",
    "verdict_conflict": "verdict_conflict",
}
# No class takes ends of lines: each line begins once, so that the time is linear in the answer's
# length.
_EXPLANATION = re.compile(
    rf"(?:\A|(?<=[\r\n]))[ \t>#~+{re.escape(MARKS)}-]*+(?i:explanation)[ \t{re.escape(MARKS)}]*+"
    "[:\N{FULLWIDTH COLON}]",
    re.ASCII,
)

_REASONS: Final[Mapping[LlmErrorCode, ReasonCode]] = {
    "rejected": "model_rejected",
    "content_filtered": "model_refused",
    "unsupported_in_batch": "model_rejected",
    "canceled": "model_canceled",
    "account": "model_connection_lost",
    "expired": "deadline_exceeded",
    "platform_error": "platform_error",
}
"""Of codes of the ledger; the others are of what was tried five times, ``model_unavailable``."""


def reason_of(code: str) -> ReasonCode:
    """Return why there is no score of a row that ended with an error of the ledger's."""
    return next((one for name, one in _REASONS.items() if name == code), "model_unavailable")


class LevelsJudge(Protocol):
    """Which model judges, and how; a deck's ``DeckJudge`` and a ``RubricConfiguration`` are one."""

    @property
    def connection_id(self) -> str:
        """Where it is called."""

    @property
    def model(self) -> str:
        """The model, as its provider calls it."""

    @property
    def params(self) -> LlmParams:
        """How it is to answer."""


class LevelReading(FrozenModel):
    """What an answer says.

    Attributes:
        level: from -3 to 3 where it is scored, and None in all other cases.
        explanation: what the judge says for its choice.
        reasoning: what it wrote before that.
        reason: why there is no level.
        fault: what a second question is to name; None where nothing is wrong that it could mend,
            and where it was asked already.
        answered_model: the model that answered, as its provider calls it.
    """

    status: Literal["scored", "abstained", "failed"]
    level: int | None = None
    explanation: str | None = None
    reasoning: str | None = None
    reason: ReasonCode | None = None
    fault: LevelFault | None = None
    answered_model: str | None = None


def levels_request(
    rubric: LevelsTexts,
    judge: LevelsJudge,
    sample: SampleTexts,
    *,
    deck_prompt: str | None,
    purpose: str,
    deck_id: str | None = None,
    completion_id: str | None = None,
    trace: LlmTrace | None = None,
    labels: Mapping[str, str] | None = None,
    priority: Priority = "normal",
    complete_by: datetime | None = None,
    retention_days: int | None = None,
) -> EnqueueLlmRequest:
    """Return the request that asks a judge for the level of one response.

    All that others wrote is in its ``variables``: of templates, ours alone.

    Args:
        sample: what is judged; its own system prompt, where it has one, takes the place of the
            deck's.
        deck_prompt: the system prompt of the deck, None where there is none.
        fault: of the first answer, where this is the second question.
    """
    instructions = deck_prompt if sample.system is None else sample.system
    return EnqueueLlmRequest(
        connection_id=judge.connection_id,
        purpose=purpose,
        model=judge.model,
        input=LlmInput(
            system=SYSTEM,
            user=user_template(rubric, instructed=instructions is not None),
            variables=variables(rubric, sample, instructions),
        ),
        params=judge.params,
        verdict=levels_format(),
        trace=trace,
        completion_id=completion_id,
        deck_id=deck_id,
        labels=dict(labels or {}),
        priority=priority,
        complete_by=complete_by,
        retention_days=retention_days,
    )


def read_levels(row: Row, output: RowOutput | None) -> LevelReading:
    """Return what a row that has ended says.

    Args:
        output: None where there is none, or its texts are gone.
    """
    answered = row.served_model or row.model
    if row.status != "completed":
        code = row.error.code if row.error else ""
        return LevelReading(status="failed", reason=reason_of(code))
    if output is None:
        return LevelReading(status="failed", reason="platform_error", answered_model=answered)
    found = read_answer_text(
        output.raw_output,
        is_cut=row.finish_reason == "length",
        is_refusal=row.finish_reason == "refusal",
    )
    fault = None if row.reasks else found.fault
    return found.model_copy(update={"answered_model": answered, "fault": fault})


def read_answer_text(raw: str, *, is_cut: bool = False, is_refusal: bool = False) -> LevelReading:
    """Return what an answer says, whoever gave it.

    One with more than ``MAX_LEVELS_ANSWER_CHARACTERS`` is not read, and not asked for again: a
    judge that wrote so much would write and cost as much once more.

    Args:
        is_cut: whether the model had no tokens left.
        is_refusal: whether its provider says that it refused.
    """
    if is_refusal:
        return LevelReading(status="failed", reason="model_refused", fault="refused")
    if len(raw) > MAX_LEVELS_ANSWER_CHARACTERS:
        return _unreadable(raw[:MAX_REASONING_CHARACTERS], None)
    parsed = parse(raw, levels_format(), is_cut=is_cut)
    if parsed.error is not None:
        fault = _FAULTS.get(parsed.error.code, "verdict_unreadable")
        return _unreadable(raw, fault)
    if text_behind(raw).strip(MARKS + " \t\r\n"):
        return _unreadable(raw, "verdict_not_last")
    reasoning, explanation = _parted(parsed.reasoning or "")
    texts = {"reasoning": reasoning, "explanation": explanation}
    if parsed.abstained:
        is_abstention = _plain(parsed.verdict_text or "") == folded(ABSTAIN)
        reason: ReasonCode = "judge_abstained" if is_abstention else "not_applicable"
        return LevelReading(status="abstained", reason=reason, **texts)
    value = parsed.parsed_verdict
    assert isinstance(value, int | float), "every label is mapped to a number"
    return LevelReading(status="scored", level=int(value), **texts)


def _unreadable(raw: str, fault: LevelFault | None) -> LevelReading:
    return LevelReading(
        status="failed",
        reason="model_answer_unreadable",
        reasoning=raw.strip() or None,
        fault=fault,
    )


def _plain(verdict: str) -> str:
    return folded(verdict.strip(MARKS + " .\t"))


def _parted(said: str) -> tuple[str | None, str | None]:
    """Return reasoning and explanation: what stands behind the last line that begins with that."""
    last = None
    for last in _EXPLANATION.finditer(said):  # noqa: B007 - the last one counts
        pass
    if last is None:
        return said.strip() or None, None
    explanation = said[last.end() :].strip(MARKS + " \t\r\n")
    return said[: last.start()].strip() or None, explanation or None
