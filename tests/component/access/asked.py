"""What requests carry by which each role is asked for what it may do: bodies, and queries.

Keys are lines of ``expectations``.
"""

from typing import Any

from tests.component.access.prepared import ADDRESS, CALLER
from tests.support.apprentice import configuration
from tests.support.decks import RUBRIC, chat

_COMPLETION = {"modelId": "m", "prompt": "p", "response": "r"}
_ASKED = {
    "connectionId": "<connection_id>",
    "purpose": "scoring",
    "model": "m",
    "input": {"user": "q"},
    "params": {"maxTokens": 10},
}
PROPOSER = {"connectionId": "<connection_id>", "model": "m", "params": {"maxTokens": 9}}
BODIES: dict[str, dict[str, Any]] = {
    "POST /api/v1/keys": {"name": "n", "role": "reviewer"},
    "PATCH /api/v1/keys/<key_id>": {"name": "n"},
    "POST /api/v1/sessions": {},
    "POST /api/v1/sessions/exchange": {"code": f"ses_{'0' * 26}.{'0' * 43}"},
    "POST /api/v1/sessions/oidc": {
        "code": "made-up",
        "codeVerifier": "0" * 43,
        "nonce": "0" * 43,
    },
    "POST /api/v1/tasks": {"name": "n", "graderId": "<grader_id>"},
    "PATCH /api/v1/tasks/<task_id>": {"description": "d"},
    "PATCH /api/v1/tasks/<task_id> graderId": {"graderId": "<grader_id>"},
    "POST /api/v1/graders": {"name": "n", "endpoint": ADDRESS},
    "PATCH /api/v1/graders/<grader_id>": {"description": "d"},
    "POST /api/v1/completions": {"taskId": "<task_id>", **_COMPLETION},
    "POST /api/v1/completions/batch": {"completions": [{"taskId": "<task_id>", **_COMPLETION}]},
    "POST /api/v1/completions/rescore": {"batchId": "<batch_id>"},
    "POST /api/v1/exports": {"format": "jsonl", "filters": {"taskId": "<task_id>"}},
    "POST /api/v1/reviews/next": {},
    "POST /api/v1/reviews/<review_id>/assign": {"assigneeId": CALLER},
    "POST /api/v1/reviews/<review_id>/answer": {"value": 0.5},
    "POST /api/v1/reviews/<review_id>/correct": {"value": 0.5},
    "POST /api/v1/reviews/<review_id>/cannot-judge": {"reason": "unclear"},
    "POST /api/v1/review-links": {"reviewerId": "anna"},
    "POST /api/v1/reward-urls": {"name": "n", "taskId": "<task_id>", "modelId": "m"},
    "POST /api/v1/llm-connections": {
        "name": "n",
        "provider": "simulated",
        "baseUrl": ADDRESS,
        "apiKey": "k",
    },
    "PATCH /api/v1/llm-connections/<connection_id>": {"name": "n"},
    "POST /api/v1/llm-connections/<connection_id>/verify": {"model": "m"},
    "PUT /api/v1/apprentice/tasks/<task_name>": configuration("<connection_id>", model="m"),
    "POST /api/v1/apprentice/tasks/<task_name>/versions": {"model": "m"},
    "POST /api/v1/apprentice/tasks/<task_name>/runs": {"input": {"text": "t"}},
    "POST /api/v1/apprentice/tasks/<task_name>/examples": {
        "input": {"text": "t"},
        "output": {"intent": "i"},
    },
    "PUT /api/v1/deck-capture": {"enabled": False},
    "POST /api/v1/llm-tokens": {"name": "n", "connectionId": "<connection_id>"},
    "POST /api/v1/llm-requests": _ASKED,
    "POST /api/v1/llm-requests/batch": {"requests": [_ASKED]},
    "POST /api/v1/llm-requests/cancel": {"filter": {}},
    "POST /api/v1/llm-requests/retry": {"filter": {}},
    "POST /api/v1/llm-requests/parse": {"filter": {}},
    "POST /api/v1/llm-requests/delete-content": {"filter": {}},
    "POST /api/v1/llm-requests/<llm_request_id>/parse": {},
    "POST /api/v1/llm-imports": {
        "format": "openai",
        "bytes": 2,
        "connectionId": "<connection_id>",
        "purpose": "scoring",
    },
    "POST /api/v1/llm-estimates": {"requests": [_ASKED]},
    "PUT /api/v1/llm-budget": {},
    "POST /api/v1/llm-batches/<llm_batch_id>/resolve": {"action": "resubmit"},
    "POST /api/v1/samples": chat("q", output="a", system="No deck has it."),
    "POST /api/v1/unmatched-prompts/<unmatched_id>/deck": {"name": "d"},
    "POST /api/v1/ingest-urls": {"name": "n", "deckId": "<deck_id>"},
    "POST /api/v1/decks": {"name": "d", "systemPrompt": "s"},
    "PATCH /api/v1/decks/<deck_id>": {"description": "d"},
    "POST /api/v1/decks/<deck_id>/versions": {"systemPrompt": "<principal>"},
    "POST /api/v1/decks/<deck_id>/graders": {"name": "g", "rubric": RUBRIC},
    "PATCH /api/v1/decks/<deck_id>/graders/<deck_grader_id>": {"name": "n"},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions": {
        "rubric": {**RUBRIC, "criteria": "Another?"}
    },
    "POST /api/v1/decks/<deck_id>/estimate": {},
    "POST /api/v1/decks/<deck_id>/runs": {},
    "POST /api/v1/decks/<deck_id>/samples": {"samples": [{"input": "i", "output": "o"}]},
    "POST /api/v1/decks/<deck_id>/samples/bulk": {"input": "i", "output": "o"},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback": {
        "sampleId": "<sample_id>",
        "score": 1,
    },
    "POST /api/v1/decks/<deck_id>/task": {"name": "t"},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback/bulk": {
        "sampleId": "<sample_id>",
        "rater": "ada",
        "score": 1,
    },
    "PUT /api/v1/decks/<deck_id>/graders/<deck_grader_id>/truth/<sample_id>": {"score": 1},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/agreement": {},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/means": {},
    "POST /api/v1/decks/<deck_id>/graders/propose/estimate": {"proposer": PROPOSER},
    "POST /api/v1/decks/<deck_id>/graders/propose": {"proposer": PROPOSER},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits": {
        "patch": [{"field": "notApplicableWhen", "find": "summary", "replace": "text"}]
    },
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals": {
        "proposer": PROPOSER,
        "capNanoUsd": 1,
    },
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals/estimate": {
        "proposer": PROPOSER
    },
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/estimate": {
        "split": "development"
    },
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/replay": {
        "split": "development"
    },
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/accept": {},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/reject": {},
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/rollback": {},
    "POST /api/v1/decks/<deck_id>/prompt-edits": {
        "systemPrompt": "Be brief.",
        "generator": PROPOSER,
    },
    "POST /api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/generate": {},
    "POST /api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/accept": {},
    "POST /api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/reject": {},
    "POST /api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/rollback": {},
    "POST /api/v1/webhooks": {"url": f"{ADDRESS}/hook"},
    "PATCH /api/v1/webhooks/<webhook_id>": {"description": "d"},
}
QUERIES = {
    "GET /api/v1/apprentice/tasks/<task_name>/pairs": {"version": "1"},
    "GET /api/v1/scores": {"taskId": "<task_id>"},
    "GET /api/v1/scores include": {"taskId": "<task_id>", "include": "completion"},
    "GET /api/v1/scores/export": {"taskId": "<task_id>"},
    "GET /api/v1/tasks/<task_id>/comparison": {"a": "m", "b": "n"},
    "GET /api/v1/audit": {"principalId": "<principal>"},
}
