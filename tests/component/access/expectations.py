"""What each role may do, from seed 001 and the product's page, and how it is asked for.

A line is a method and a path, and where a request has a second form, a word for that.
"""

from typing import Any

from tests.component.access.prepared import ADDRESS, CALLER
from tests.support.decks import RUBRIC, chat

ROLES = ("training_operator", "grader_owner", "reviewer", "admin")

# Needs no key but a proof, which nobody here has: it looks as if nothing were there.
PUBLIC = "public"
# Holds nothing that is somebody's.
ANYBODY = "anybody"
# Needs a token for this API alone; what signs requests opens nothing of it.
BEARER = "bearer"
# A column for each role. "-": not at all. "o": what is the caller's own. "O": what is the
# organisation's. Nobody: what is another organisation's, which looks as if it were not there.
EXPECTED = {
    # Keys and what everybody did are the admins' business; who one is, everybody's.
    "POST /api/v1/keys": "---O",
    "GET /api/v1/keys": "---O",
    "GET /api/v1/keys/me": "OOOO",
    "PATCH /api/v1/keys/<key_id>": "---O",
    "DELETE /api/v1/keys/<key_id>": "---O",
    "GET /api/v1/audit": "---O",
    # Each makes, sees and ends what their principal has; an admin sees and ends all. In no session
    # there is none of one's own.
    "POST /api/v1/sessions": "OOOO",
    "POST /api/v1/sessions/exchange": BEARER,
    "GET /api/v1/sessions/oidc": ANYBODY,
    "POST /api/v1/sessions/oidc": BEARER,
    "GET /api/v1/sessions": "oooO",
    "GET /api/v1/sessions/me": "----",
    "DELETE /api/v1/sessions/me": "----",
    "DELETE /api/v1/sessions/<session_id>": "oooO",
    # Figures of all that was submitted: for who may read completions.
    "GET /api/v1/overview": "O--O",
    "GET /api/v1/tasks/<task_id>/stats": "O--O",
    "GET /api/v1/tasks/<task_id>/comparison": "O--O",
    # Seed 001: a training operator creates, reads and updates tasks; an admin deletes them, too.
    "POST /api/v1/tasks": "O--O",
    "GET /api/v1/tasks": "O--O",
    "GET /api/v1/tasks/<task_id>": "O--O",
    "PATCH /api/v1/tasks/<task_id>": "O--O",
    "PATCH /api/v1/tasks/<task_id> graderId": "O--O",
    "DELETE /api/v1/tasks/<task_id>": "---O",
    # A grader's owner has all of their own. A training operator reads them, to choose one.
    "POST /api/v1/graders": "-o-O",
    "GET /api/v1/graders": "Oo-O",
    "GET /api/v1/graders/<grader_id>": "Oo-O",
    "PATCH /api/v1/graders/<grader_id>": "-o-O",
    "DELETE /api/v1/graders/<grader_id>": "-o-O",
    "POST /api/v1/graders/<grader_id>/verify": "-o-O",
    "POST /api/v1/graders/<grader_id>/rotate-secret": "-o-O",
    "GET /api/v1/graders/<grader_id>/health": "Oo-O",
    "GET /api/v1/graders/<grader_id>/stats": "Oo-O",
    "GET /api/v1/graders/<grader_id>/usage": "-o-O",
    # Decks hold prompts, samples and what judges said of them: for who may read completions.
    "GET /api/v1/deck-capture": "O--O",
    "PUT /api/v1/deck-capture": "---O",
    "POST /api/v1/samples": "O--O",
    # What an ingest URL lets its bearer do, its maker may do.
    "POST /api/v1/ingest-urls": "O--O",
    "GET /api/v1/ingest-urls": "O--O",
    "GET /api/v1/ingest-urls/<ingest_url_id>": "O--O",
    "DELETE /api/v1/ingest-urls/<ingest_url_id>": "O--O",
    "POST /i/<ingest_token>/samples": PUBLIC,
    "POST /i/<ingest_token>/decks": PUBLIC,
    "GET /api/v1/unmatched-prompts": "O--O",
    "GET /api/v1/unmatched-prompts/<unmatched_id>": "O--O",
    "POST /api/v1/unmatched-prompts/<unmatched_id>/deck": "O--O",
    "DELETE /api/v1/unmatched-prompts/<unmatched_id>": "O--O",
    "POST /api/v1/decks": "O--O",
    "GET /api/v1/decks": "O--O",
    "GET /api/v1/decks/<deck_id>": "O--O",
    "PATCH /api/v1/decks/<deck_id>": "O--O",
    "DELETE /api/v1/decks/<deck_id>": "O--O",
    "POST /api/v1/decks/<deck_id>/versions": "O--O",
    "GET /api/v1/decks/<deck_id>/versions": "O--O",
    "GET /api/v1/decks/<deck_id>/versions/<version>": "O--O",
    "POST /api/v1/decks/<deck_id>/graders": "O--O",
    "GET /api/v1/decks/<deck_id>/graders": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>": "O--O",
    "PATCH /api/v1/decks/<deck_id>/graders/<deck_grader_id>": "O--O",
    "DELETE /api/v1/decks/<deck_id>/graders/<deck_grader_id>": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions/<version>": "O--O",
    "POST /api/v1/decks/<deck_id>/task": "O--O",
    "POST /api/v1/decks/<deck_id>/estimate": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/propose/estimate": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/propose": "O--O",
    "POST /api/v1/decks/<deck_id>/runs": "O--O",
    "GET /api/v1/decks/<deck_id>/runs": "O--O",
    "GET /api/v1/decks/<deck_id>/runs/<deck_run_id>": "O--O",
    "POST /api/v1/decks/<deck_id>/runs/<deck_run_id>/cancel": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/results": "O--O",
    "GET /api/v1/decks/<deck_id>/samples/<sample_id>/results": "O--O",
    "POST /api/v1/decks/<deck_id>/samples": "O--O",
    "POST /api/v1/decks/<deck_id>/samples/bulk": "O--O",
    "GET /api/v1/decks/<deck_id>/samples": "O--O",
    "GET /api/v1/decks/<deck_id>/samples/<sample_id>": "O--O",
    "DELETE /api/v1/decks/<deck_id>/samples/<sample_id>": "O--O",
    # Reviewers rate, and see of a deck what they rate. Ratings of others are its owners' to bring.
    "GET /api/v1/deck-inbox": "O-OO",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback": "O-OO",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback/bulk": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback": "O-OO",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback/next": "O-OO",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback/progress": "O-OO",
    "GET /api/v1/decks/<deck_id>/labels": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/truth": "O--O",
    "PUT /api/v1/decks/<deck_id>/graders/<deck_grader_id>/truth/<sample_id>": "O-OO",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/agreement": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/means": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/publish": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/disagreements": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/patterns": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals/estimate": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals/cancel": "O--O",
    "GET /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/estimate": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/replay": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/accept": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/reject": "O--O",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/rollback": "O--O",
    # Completions are the training operator's to create and read, and an admin's to delete. Their
    # text is never the grader's owner's; what their own graders made of it is.
    "POST /api/v1/completions": "O--O",
    "POST /api/v1/completions/batch": "O--O",
    "POST /api/v1/completions/rescore": "O--O",
    "GET /api/v1/completions/<completion_id>": "O--O",
    "DELETE /api/v1/completions/<completion_id>": "---O",
    "POST /api/v1/completions/<completion_id>/cancel": "O--O",
    "GET /api/v1/completions/<completion_id>/score": "Oo-O",
    "GET /api/v1/completions/<completion_id>/explanation": "Oo-O",
    "GET /api/v1/completions/<completion_id>/timeline": "Oo-O",
    "GET /api/v1/batches": "O--O",
    "GET /api/v1/batches/<batch_id>": "O--O",
    "GET /api/v1/batches/<batch_id>/completions": "O--O",
    "GET /api/v1/batches/<batch_id>/explanation": "O--O",
    "POST /api/v1/batches/<batch_id>/cancel": "O--O",
    "DELETE /api/v1/batches/<batch_id>/content": "---O",
    "GET /api/v1/runs": "O--O",
    "GET /api/v1/runs/<run_id>": "O--O",
    "POST /api/v1/runs/<run_id>/cancel": "O--O",
    "GET /api/v1/scores": "Oo-O",
    "GET /api/v1/scores include": "O--O",
    # An export holds texts and scores: it is for who may read both, of the whole organisation.
    "GET /api/v1/scores/export": "O--O",
    "POST /api/v1/exports": "O--O",
    "GET /api/v1/exports": "O--O",
    "GET /api/v1/exports/<export_id>": "O--O",
    "DELETE /api/v1/exports/<export_id>": "O--O",
    # Graders prove what they call back with by their signature.
    "POST /api/v1/callbacks/<call_id>": PUBLIC,
    "POST /api/v1/callbacks/<call_id>/heartbeat": PUBLIC,
    # A reviewer judges what graders were unsure of; whose completions they are may do so, too.
    "GET /api/v1/reviews": "O-OO",
    "GET /api/v1/reviews/progress": "O-OO",
    "GET /api/v1/reviews/agreement": "O--O",
    "GET /api/v1/reviews/<review_id>": "O-OO",
    "POST /api/v1/reviews/next": "O-OO",
    "POST /api/v1/reviews/<review_id>/claim": "O-OO",
    "POST /api/v1/reviews/<review_id>/release": "O-OO",
    "POST /api/v1/reviews/<review_id>/assign": "O-OO",
    "POST /api/v1/reviews/<review_id>/answer": "O-OO",
    "POST /api/v1/reviews/<review_id>/correct": "O-OO",
    "POST /api/v1/reviews/<review_id>/cannot-judge": "O-OO",
    "POST /api/v1/review-links": "O--O",
    "GET /api/v1/review-links": "O--O",
    "DELETE /api/v1/review-links/<link_id>": "O--O",
    # What a reward URL lets its bearer do, its maker may do.
    "POST /api/v1/reward-urls": "O--O",
    "GET /api/v1/reward-urls": "O--O",
    "GET /api/v1/reward-urls/<reward_url_id>": "O--O",
    "DELETE /api/v1/reward-urls/<reward_url_id>": "O--O",
    # The token proves it.
    "POST /r/<token>/openrlhf": PUBLIC,
    "POST /r/<token>/slime": PUBLIC,
    "POST /r/<token>/nemo-gym/verify": PUBLIC,
    "POST /r/<token>/azure": PUBLIC,
    "POST /r/<token>/eval-protocol/evaluate": PUBLIC,
    "POST /r/<token>/nova": PUBLIC,
    # So does another kind of token.
    "POST /v1/chat/completions": BEARER,
    "GET /v1/models": BEARER,
    "POST /v1/files": BEARER,
    "GET /v1/files": BEARER,
    "GET /v1/files/<file_id>": BEARER,
    "DELETE /v1/files/<file_id>": BEARER,
    "GET /v1/files/<file_id>/content": BEARER,
    "POST /v1/batches": BEARER,
    "GET /v1/batches": BEARER,
    "GET /v1/batches/<openai_batch_id>": BEARER,
    "POST /v1/batches/<openai_batch_id>/cancel": BEARER,
    # What is asked of language models is the training operator's to choose; whose key pays, and
    # how much, is an admin's.
    "POST /api/v1/llm-connections": "---O",
    "GET /api/v1/llm-connections": "O--O",
    "GET /api/v1/llm-connections/<connection_id>": "O--O",
    "PATCH /api/v1/llm-connections/<connection_id>": "---O",
    "DELETE /api/v1/llm-connections/<connection_id>": "---O",
    "POST /api/v1/llm-connections/<connection_id>/verify": "---O",
    "POST /api/v1/llm-tokens": "---O",
    "GET /api/v1/llm-tokens": "O--O",
    "GET /api/v1/llm-tokens/<llm_token_id>": "O--O",
    "DELETE /api/v1/llm-tokens/<llm_token_id>": "---O",
    "POST /api/v1/llm-requests": "O--O",
    "POST /api/v1/llm-requests/batch": "O--O",
    "GET /api/v1/llm-requests": "O--O",
    "GET /api/v1/llm-requests/<llm_request_id>": "O--O",
    "POST /api/v1/llm-requests/cancel": "O--O",
    "POST /api/v1/llm-requests/retry": "O--O",
    "POST /api/v1/llm-requests/<llm_request_id>/cancel": "O--O",
    "POST /api/v1/llm-requests/<llm_request_id>/retry": "O--O",
    "POST /api/v1/llm-requests/parse": "O--O",
    "POST /api/v1/llm-requests/<llm_request_id>/parse": "O--O",
    "GET /api/v1/llm-requests/<llm_request_id>/parses": "O--O",
    "POST /api/v1/llm-requests/delete-content": "---O",
    "DELETE /api/v1/llm-requests/<llm_request_id>/content": "---O",
    "POST /api/v1/llm-imports": "O--O",
    "GET /api/v1/llm-imports": "O--O",
    "GET /api/v1/llm-imports/<llm_import_id>": "O--O",
    "POST /api/v1/llm-imports/<llm_import_id>/start": "O--O",
    "DELETE /api/v1/llm-imports/<llm_import_id>": "O--O",
    "GET /api/v1/llm-batches": "O--O",
    "GET /api/v1/llm-batches/<llm_batch_id>": "O--O",
    "GET /api/v1/llm-batches/<llm_batch_id>/rows": "O--O",
    "POST /api/v1/llm-batches/<llm_batch_id>/cancel": "O--O",
    "POST /api/v1/llm-batches/<llm_batch_id>/resolve": "---O",
    "GET /api/v1/llm-costs": "O--O",
    "POST /api/v1/llm-estimates": "O--O",
    "GET /api/v1/llm-budget": "O--O",
    "PUT /api/v1/llm-budget": "---O",
    # A webhook tells of every score, so that it is for who may read every score.
    "POST /api/v1/webhooks": "O--O",
    "GET /api/v1/webhooks": "O--O",
    "GET /api/v1/webhooks/<webhook_id>": "O--O",
    "PATCH /api/v1/webhooks/<webhook_id>": "O--O",
    "DELETE /api/v1/webhooks/<webhook_id>": "O--O",
    "POST /api/v1/webhooks/<webhook_id>/rotate-secret": "O--O",
    "GET /api/v1/webhooks/<webhook_id>/deliveries": "O--O",
    "GET /api/v1/webhooks/<webhook_id>/deliveries/<event_id>": "O--O",
    "POST /api/v1/webhooks/<webhook_id>/deliveries/<event_id>/replay": "O--O",
}
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
    "POST /api/v1/webhooks": {"url": f"{ADDRESS}/hook"},
    "PATCH /api/v1/webhooks/<webhook_id>": {"description": "d"},
}
QUERIES = {
    "GET /api/v1/scores": {"taskId": "<task_id>"},
    "GET /api/v1/scores include": {"taskId": "<task_id>", "include": "completion"},
    "GET /api/v1/scores/export": {"taskId": "<task_id>"},
    "GET /api/v1/tasks/<task_id>/comparison": {"a": "m", "b": "n"},
    "GET /api/v1/audit": {"principalId": "<principal>"},
}
# Refused for the state that the prepared thing is in, to whom may do it alone.
NOT_READY = {
    "POST /api/v1/reviews/<review_id>/correct": "review_final",
    # No grader of the deck is active.
    "POST /api/v1/decks/<deck_id>/task": "conflict",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/publish": "conflict",
    "POST /api/v1/decks/<deck_id>/estimate": "conflict",
    # Nothing was labelled or measured, and no model was asked.
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals": "conflict",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals/estimate": "conflict",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/estimate": (
        "conflict"
    ),
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/replay": "conflict",
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/accept": "conflict",
    # A decision needs a figure.
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/rollback": (
        "conflict"
    ),
    "POST /api/v1/decks/<deck_id>/runs": "conflict",
    # What nobody gave them, and what nobody rated.
    "POST /api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback": "conflict",
    "PUT /api/v1/decks/<deck_id>/graders/<deck_grader_id>/truth/<sample_id>": "conflict",
}
# What of a list tells whose things are on it.
LISTED = {
    "GET /api/v1/keys": "key_id",
    "GET /api/v1/sessions": "session_id",
    "GET /api/v1/tasks": "task_id",
    "GET /api/v1/graders": "grader_id",
    "GET /api/v1/runs": "run_id",
    "GET /api/v1/exports": "export_id",
    "GET /api/v1/reviews": "review_id",
    "GET /api/v1/review-links": "link_id",
    "GET /api/v1/reward-urls": "reward_url_id",
    "GET /api/v1/llm-connections": "connection_id",
    "GET /api/v1/llm-tokens": "llm_token_id",
    "GET /api/v1/llm-requests": "llm_request_id",
    "GET /api/v1/llm-batches": "llm_batch_id",
    "GET /api/v1/webhooks": "webhook_id",
    "GET /api/v1/decks": "deck_id",
    "GET /api/v1/unmatched-prompts": "unmatched_id",
    "GET /api/v1/ingest-urls": "ingest_url_id",
    "GET /api/v1/deck-inbox": "deck_grader_id",
}


# They hold only what the caller may see of it, be it nothing.
FILTERED = {
    "GET /api/v1/audit": "entries",
    "GET /api/v1/scores": "scores",
    "GET /api/v1/scores include": "scores",
}
