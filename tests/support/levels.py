"""Rubrics of seven levels: graders that score by one, and what is measured of them."""

from typing import Any

from autotune.protocol.levels import LEVELS, params_digest
from autotune.protocol.llm_params import LlmParams
from tests.support.ledger import MODEL, Ledger

PARAMS = {"maxTokens": 300}
DECK_PROMPT = "You are a librarian.\nToday is {{day}}."
RUBRIC: dict[str, Any] = {
    "type": "levels",
    "criteria": "Does the answer name its sources?",
    "levels": [f"sources: {level}" for level in LEVELS],
    "notApplicableWhen": "nothing was asked",
    "systemPrompt": DECK_PROMPT,
}
AT_TWO = {"level": 2, "n": 18, "hits": 17}


def registered(ledger: Ledger, *, calibrated: bool = True, **fields: Any) -> dict[str, Any]:
    """Register a grader by levels; return it, calibrated unless ``calibrated`` says otherwise."""
    connection_id = fields.pop("connection_id", None) or ledger.connect(maxWaitSeconds=0)
    rubric = {
        "connectionId": connection_id,
        "model": MODEL,
        "answer": {**RUBRIC, **fields.pop("answer", {})},
        "params": PARAMS,
    }
    body = {"name": "sources", "kind": "rubric", "rubric": rubric, **fields}
    made = ledger.platform.call("POST", "/api/v1/graders", body)
    assert made.status == 201, made.text
    grader: dict[str, Any] = made.json["grader"]
    return measured(ledger, grader) if calibrated else grader


def measured(ledger: Ledger, grader: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Have a grader calibrated; return it."""
    rubric = grader["rubric"]
    answer = {**rubric["answer"], "calibration": calibration(grader, **fields)}
    body = {"rubric": {**rubric, "answer": answer}}
    changed = ledger.platform.call("PATCH", f"/api/v1/graders/{grader['id']}", body)
    assert changed.status == 200, changed.text
    found: dict[str, Any] = changed.json["grader"]
    return found


def calibration(grader: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """What a deck that measured a grader says of it."""
    return {
        "graderVersion": grader["version"],
        "provider": "simulated",
        "model": MODEL,
        "paramsDigest": params_digest(LlmParams.model_validate(PARAMS)),
        "kappa": 0.61,
        "low": 0.45,
        "n": 100,
        "byLevel": [AT_TWO],
        "measuredAt": "2026-11-01T10:00:00Z",
        **fields,
    }


def judged(verdict: Any, *, because: str = "it names two") -> str:
    """What a judge answers."""
    return f"It names its sources.\nEXPLANATION: {because}\nVERDICT: {verdict}"
