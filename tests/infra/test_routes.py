"""Routes of the API, and the functions that they lead to."""

import importlib
import re

import pytest

ROUTES = {
    "$default": "AccessApi",
    "ANY /api/v1/keys": "AccessApi",
    "ANY /api/v1/keys/{proxy+}": "AccessApi",
    "ANY /api/v1/sessions": "AccessApi",
    "ANY /api/v1/sessions/{proxy+}": "AccessApi",
    "POST /api/v1/sessions/exchange": "AccessApi",
    "GET /api/v1/sessions/oidc": "AccessApi",
    "ANY /api/v1/audit": "AuditApi",
    "GET /api/v1/overview": "OverviewApi",
    "GET /api/v1/tasks/{taskId}/stats": "OverviewApi",
    "GET /api/v1/tasks/{taskId}/comparison": "ScoresApi",
    "ANY /api/v1/tasks": "TasksApi",
    "ANY /api/v1/tasks/{proxy+}": "TasksApi",
    "ANY /api/v1/graders": "GradersApi",
    "ANY /api/v1/graders/{proxy+}": "GradersApi",
    "ANY /api/v1/completions": "CompletionsApi",
    "ANY /api/v1/completions/{proxy+}": "CompletionsApi",
    "ANY /api/v1/batches": "CompletionsApi",
    "ANY /api/v1/batches/{proxy+}": "CompletionsApi",
    "GET /api/v1/completions/{completionId}/score": "WaitingApi",
    "GET /api/v1/batches/{batchId}": "WaitingApi",
    "ANY /api/v1/runs": "RunsApi",
    "ANY /api/v1/runs/{proxy+}": "RunsApi",
    "GET /api/v1/completions/{completionId}/explanation": "RunsApi",
    "GET /api/v1/completions/{completionId}/timeline": "RunsApi",
    "GET /api/v1/batches/{batchId}/explanation": "RunsApi",
    "ANY /api/v1/callbacks/{proxy+}": "CallbacksApi",
    "ANY /api/v1/webhooks": "WebhooksApi",
    "ANY /api/v1/webhooks/{proxy+}": "WebhooksApi",
    "ANY /api/v1/reviews": "ReviewsApi",
    "ANY /api/v1/reviews/{proxy+}": "ReviewsApi",
    "ANY /api/v1/review-links": "ReviewsApi",
    "ANY /api/v1/review-links/{proxy+}": "ReviewsApi",
    "ANY /api/v1/reward-urls": "RewardsApi",
    "ANY /api/v1/reward-urls/{proxy+}": "RewardsApi",
    **{
        f"ANY /api/v1/{resource}{below}": "LlmBatchesApi"
        for resource in ("llm-batches", "llm-costs", "llm-estimates", "llm-budget")
        for below in ("", "/{proxy+}")
    },
    "ANY /api/v1/llm-requests": "LedgerApi",
    "ANY /api/v1/llm-requests/{proxy+}": "LedgerApi",
    "ANY /api/v1/llm-imports": "ImportsApi",
    "ANY /api/v1/llm-imports/{proxy+}": "ImportsApi",
    "ANY /api/v1/llm-connections": "ConnectionsApi",
    "ANY /api/v1/llm-connections/{proxy+}": "ConnectionsApi",
    "POST /api/v1/llm-batches/{llmBatchId}/resolve": "ConnectionsApi",
    "ANY /api/v1/llm-tokens": "ConnectionsApi",
    "ANY /api/v1/llm-tokens/{proxy+}": "ConnectionsApi",
    "ANY /api/v1/apprentice": "ApprenticeApi",
    "ANY /api/v1/apprentice/{proxy+}": "ApprenticeApi",
    "ANY /api/v1/apprentice/tasks/{taskName}/runs": "ApprenticeRunsApi",
    "GET /api/v1/apprentice/runs/{runId}": "ApprenticeRunsApi",
    "DELETE /api/v1/apprentice/runs/{runId}/content": "ApprenticeRunsApi",
    "ANY /api/v1/apprentice/tasks/{taskName}/examples": "ApprenticeExamplesApi",
    "ANY /api/v1/apprentice/tasks/{taskName}/examples/{proxy+}": "ApprenticeExamplesApi",
    "ANY /api/v1/apprentice/tasks/{taskName}/trainings": "ApprenticeTrainingsApi",
    "ANY /api/v1/apprentice/tasks/{taskName}/trainings/{proxy+}": "ApprenticeTrainingsApi",
    **{
        f"GET /api/v1/apprentice/tasks/{{taskName}}/{shown}": "ApprenticeReportsApi"
        for shown in ("status", "estimate")
    },
    "ANY /api/v1/apprentice/tasks/{taskName}/report": "ApprenticeReportsApi",
    "ANY /api/v1/deck-capture": "DecksApi",
    "ANY /api/v1/deck-capture/{proxy+}": "DecksApi",
    "ANY /v1/chat/completions": "ChatApi",
    "ANY /v1/models": "ChatApi",
    "ANY /v1/files": "OpenAiApi",
    "ANY /v1/files/{proxy+}": "OpenAiApi",
    "ANY /v1/batches": "OpenAiApi",
    "ANY /v1/batches/{proxy+}": "OpenAiApi",
    "ANY /console": "Pages",
    "ANY /console/{proxy+}": "Pages",
    "ANY /review": "ReviewPage",
    "ANY /review/{proxy+}": "ReviewPage",
    "ANY /api/v1/scores": "ScoresApi",
    "ANY /api/v1/scores/{proxy+}": "ScoresApi",
    "ANY /api/v1/scores/export": "ScoreExportApi",
    "POST /api/v1/decks": "DeckRunsApi",
    "ANY /api/v1/samples": "DeckTelemetryApi",
    "ANY /api/v1/unmatched-prompts": "DeckTelemetryApi",
    "ANY /api/v1/unmatched-prompts/{proxy+}": "DeckTelemetryApi",
    "ANY /api/v1/ingest-urls": "IngestUrlsApi",
    "ANY /api/v1/ingest-urls/{proxy+}": "IngestUrlsApi",
    "ANY /i/{proxy+}": "IngestApi",
    "ANY /api/v1/exports": "ExportsApi",
    "ANY /api/v1/exports/{proxy+}": "ExportsApi",
    **{
        f"ANY /api/v1/decks/{{deckId}}{below}": "DeckRunsApi"
        for below in (
            "/estimate",
            "/runs",
            "/runs/{proxy+}",
            "/graders/propose",
            "/graders/propose/estimate",
            "/graders/{graderId}/results",
            "/samples/{sampleId}/results",
        )
    },
    "ANY /api/v1/decks": "DecksApi",
    "ANY /api/v1/decks/{proxy+}": "DecksApi",
    "ANY /api/v1/decks/{deckId}/samples": "SamplesApi",
    "ANY /api/v1/decks/{deckId}/samples/{proxy+}": "SamplesApi",
    "ANY /api/v1/deck-inbox": "DeckFeedbackApi",
    "GET /api/v1/decks/{deckId}/labels": "DeckFeedbackApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/feedback": "DeckFeedbackApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/feedback/{proxy+}": "DeckFeedbackApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/truth": "DeckFeedbackApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/truth/{proxy+}": "DeckFeedbackApi",
    "ANY /api/v1/decks/{deckId}/prompt-edits": "DeckEditsApi",
    "ANY /api/v1/decks/{deckId}/prompt-edits/{proxy+}": "DeckEditsApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/edits": "DeckEditsApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/edits/{proxy+}": "DeckEditsApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/agreement": "DeckMeasuresApi",
    "GET /api/v1/decks/{deckId}/graders/{graderId}/disagreements": "DeckMeasuresApi",
    "GET /api/v1/decks/{deckId}/graders/{graderId}/patterns": "DeckMeasuresApi",
    "ANY /api/v1/decks/{deckId}/graders/{graderId}/means": "DeckMeasuresApi",
    "POST /api/v1/decks/{deckId}/graders/{graderId}/publish": "DeckMeasuresApi",
}


@pytest.fixture(scope="module")
def routes(aws):
    """Name of the function behind each route."""
    integrations = aws.service.find_resources("AWS::ApiGatewayV2::Integration")
    assert {each["Properties"]["PayloadFormatVersion"] for each in integrations.values()} == {"2.0"}
    targets = {
        logical_id: aws.function_name(each["Properties"]["IntegrationUri"])
        for logical_id, each in integrations.items()
    }
    return {
        each["Properties"]["RouteKey"]: targets[
            each["Properties"]["Target"]["Fn::Join"][1][1]["Ref"]
        ]
        for each in aws.service.find_resources("AWS::ApiGatewayV2::Route").values()
    }


def behind(method, path, routes):
    """Return the function that the API asks for a path: of the longest route that matches."""
    named = re.sub(r"<\w+>", "{}", path)
    functions = {re.sub(r"{\w+}", "{}", key): function for key, function in routes.items()}
    for key in (f"{method} {named}", f"ANY {named}"):
        if key in functions:
            return functions[key]
    above = named.rpartition("/")[0]
    while above:
        if f"ANY {above}/{{proxy+}}" in functions:
            return functions[f"ANY {above}/{{proxy+}}"]
        above = above.rpartition("/")[0]
    return routes["$default"]


def test_routes_lead_to_the_function_of_their_domain(routes):
    assert routes == ROUTES


def test_every_path_is_asked_of_the_function_that_serves_it(aws, routes):
    served = 0
    for name, function in aws.functions().items():
        module = importlib.import_module(function["Handler"].rpartition(".")[0])
        if name == "TrainersApi" or not hasattr(module, "app"):
            continue  # one has an address of its own, others serve no route
        for route in module.app.routes:
            served += 1
            assert behind(route.method, route.path, routes) == name, route.path
    assert served > 50


def test_a_function_serves_paths_of_few_kinds():
    """What a domain serves is in its own functions; completions come in batches as well."""
    kinds = {}
    for key, name in ROUTES.items():
        if " /api" in key:
            kinds.setdefault(name, set()).add(key.split("/")[3])
    assert {name: sorted(several) for name, several in kinds.items() if len(several) > 1} == {
        # A session is made by a key, and signs in its place.
        "AccessApi": ["keys", "sessions"],
        "CompletionsApi": ["batches", "completions"],
        # Captured calls become samples of decks.
        "DecksApi": ["deck-capture", "decks"],
        # Where a sample goes that no deck has, is listed there.
        "DeckTelemetryApi": ["samples", "unmatched-prompts"],
        # Who may ask through a connection is kept where connections are, and providers are asked
        # there for a job before a batch takes it.
        "ConnectionsApi": ["llm-batches", "llm-connections", "llm-tokens"],
        # What may be labelled is of many decks.
        "DeckFeedbackApi": ["deck-inbox", "decks"],
        # What a budget has room for decides what batches are made, and they are what is paid.
        "LlmBatchesApi": ["llm-batches", "llm-budget", "llm-costs", "llm-estimates"],
        # What is shown over time is read from the same counters.
        "OverviewApi": ["overview", "tasks"],
        "ReviewsApi": ["review-links", "reviews"],
        # What explains a completion reads runs, calls and reviews.
        "RunsApi": ["batches", "completions", "runs"],
        # Models are compared by their scores.
        "ScoresApi": ["scores", "tasks"],
        "WaitingApi": ["batches", "completions"],
    }
