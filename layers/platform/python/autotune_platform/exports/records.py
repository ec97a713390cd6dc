"""The records of each shape.

The columns of ``preference``, ``unpaired`` and ``stepwise`` are those of TRL's dataset types
(https://huggingface.co/docs/trl/dataset_formats), with the score and its origin in addition.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from autotune.protocol.exports import CreateExportRequest, ExportShape, SkipReason
from autotune_platform.completions.models import CompletionText
from autotune_platform.exports.pairing import Pair
from autotune_platform.verdicts.models import Verdict

Record = dict[str, Any]
ColumnKind = Literal["text", "number", "flag", "texts", "flags", "json"]

_SCORED: Mapping[str, ColumnKind] = {"score": "number", "metadata": "json"}
COLUMNS: Mapping[ExportShape, Mapping[str, ColumnKind]] = {
    "scores": {
        "prompt": "text",
        "response": "text",
        "score": "number",
        "dimensions": "json",
        "metadata": "json",
        "completionMetadata": "json",
    },
    "preference": {
        "prompt": "text",
        "chosen": "text",
        "rejected": "text",
        "chosenScore": "number",
        "rejectedScore": "number",
        "metadata": "json",
    },
    "unpaired": {"prompt": "text", "completion": "text", "label": "flag", **_SCORED},
    "stepwise": {"prompt": "text", "completions": "texts", "labels": "flags", **_SCORED},
    "llm_requests": {
        "id": "text",
        "customId": "text",
        "importId": "text",
        "batchId": "text",
        "retryOf": "text",
        "reaskOf": "text",
        "reaskedAs": "text",
        "reaskSkipped": "text",
        "firstRequestId": "text",
        "status": "text",
        "purpose": "text",
        "connectionId": "text",
        "provider": "text",
        "model": "text",
        "servedModel": "text",
        "input": "json",
        "messages": "json",
        "chatRequest": "json",
        "params": "json",
        "verdict": "json",
        "rawOutput": "text",
        "chatResponse": "json",
        "reasoning": "text",
        "modelReasoning": "text",
        "verdictText": "text",
        "parsedVerdict": "json",
        "parsedWith": "json",
        "parseVersion": "number",
        "finishReason": "text",
        "error": "json",
        "parseError": "json",
        "attempts": "number",
        "usage": "json",
        "mode": "text",
        "costNanoUsd": "number",
        "boundNanoUsd": "number",
        "price": "json",
        "priceRef": "text",
        "trace": "json",
        "labels": "json",
        "completionId": "text",
        "deckId": "text",
        "createdAt": "text",
        "updatedAt": "text",
    },
}
"""Columns of each shape in their order; a record may lack a ``json`` column, and one of a request
to a language model any but its id."""

_STEP = re.compile(r"step[_ -]([1-9][0-9]*)")


@dataclass(frozen=True)
class Skipped:
    """A scored completion that gets no record, and the reason."""

    reason: SkipReason


RecordMaker = Callable[[Verdict, CompletionText], Record | Skipped]


def record_maker(request: CreateExportRequest) -> RecordMaker:
    """Return the function that makes records of single verdicts, for shapes but ``preference``.

    It takes verdicts with a value. For ``scores`` and ``stepwise`` they must be whole.
    """
    if request.shape == "unpaired" and request.unpaired is not None:
        threshold = request.unpaired.threshold
        return lambda verdict, text: _unpaired(verdict, text, threshold)
    if request.shape == "stepwise" and request.stepwise is not None:
        options = request.stepwise
        return lambda verdict, text: _stepwise(verdict, text, options.separator, options.threshold)
    return _scores


def needs_unlisted(shape: ExportShape) -> bool:
    """Return whether records need what is not in the index of verdicts, such as dimensions."""
    return shape in {"scores", "stepwise"}


def preference(pair: Pair, chosen: CompletionText, rejected: CompletionText) -> Record:
    """Return a preference pair, with metadata named as the training pipeline's own fields."""
    return {
        "prompt": chosen.prompt,
        "chosen": chosen.response,
        "rejected": rejected.response,
        "chosenScore": pair.chosen_value,
        "rejectedScore": pair.rejected_value,
        "metadata": {
            "task_id": pair.task_id,
            "model_id": pair.chosen_model_id,
            "rejected_model_id": pair.rejected_model_id,
            "grader_id": pair.grader_id,
            "grader_version": pair.grader_version,
            "confidence": min(pair.chosen_confidence, pair.rejected_confidence),
            "chosen_completion_id": pair.chosen_id,
            "rejected_completion_id": pair.rejected_id,
        },
    }


def _scores(verdict: Verdict, text: CompletionText) -> Record:
    record: Record = {"prompt": text.prompt, "response": text.response, "score": verdict.value}
    if verdict.dimensions:
        record["dimensions"] = {each.name: each.value for each in verdict.dimensions}
    record["metadata"] = _metadata_with_sources(verdict)
    record["completionMetadata"] = text.metadata
    return record


def _unpaired(verdict: Verdict, text: CompletionText, threshold: float) -> Record:
    return {
        "prompt": text.prompt,
        "completion": text.response,
        "label": verdict.value is not None and verdict.value >= threshold,
        "score": verdict.value,
        "metadata": _metadata(verdict),
    }


def _stepwise(
    verdict: Verdict, text: CompletionText, separator: str, threshold: float
) -> Record | Skipped:
    steps = [step for step in text.response.split(separator) if step.strip()]
    values = {
        int(named[1]): each.value
        for each in verdict.dimensions or []
        if (named := _STEP.fullmatch(each.name))
    }
    if not steps or sorted(values) != list(range(1, len(steps) + 1)):
        return Skipped("steps_mismatched")
    return {
        "prompt": text.prompt,
        "completions": steps,
        "labels": [values[number] >= threshold for number in sorted(values)],
        "score": verdict.value,
        "metadata": _metadata_with_sources(verdict),
    }


def _metadata(verdict: Verdict) -> dict[str, Any]:
    return {
        "taskId": verdict.task_id,
        "modelId": verdict.model_id,
        "completionId": verdict.completion_id,
        "graderId": verdict.grader_id,
        "graderVersion": verdict.answered_version,
        "confidence": verdict.confidence,
    }


def _metadata_with_sources(verdict: Verdict) -> dict[str, Any]:
    """Return the metadata of a whole verdict: with what language models were asked for it."""
    opinions = [one.source_request_id for one in verdict.opinions or []]
    sources = [id_ for id_ in [verdict.source_request_id, *opinions] if id_]
    named = {"sourceRequestIds": list(dict.fromkeys(sources))} if sources else {}
    return _metadata(verdict) | named
