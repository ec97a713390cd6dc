"""One question, one answer, at the standard price."""

from typing import Any

from tests.providers import (  # noqa: F401 - each registers its dialect
    chat_anthropic,
    chat_bedrock,
    chat_gemini,
    chat_openai,
)
from tests.providers.dialects import DIALECTS
from tests.providers.execution import drawn_for_call, execute
from tests.providers.routes import Route
from tests.providers.state import World
from tests.providers.wire import Answer, ProviderError, Request


def body_of(request: Request) -> Any:
    """The JSON body.

    Raises:
        ProviderError: If it is no JSON object.
    """
    try:
        document = request.document()
    except ValueError:
        raise ProviderError(400, "invalid", "We could not parse the JSON body.") from None
    if not isinstance(document, dict):
        raise ProviderError(400, "invalid", "The body must be a JSON object.")
    return document


def call(world: World, request: Request) -> Answer:
    """Answers in the dialect of the request's provider."""
    body = body_of(request)
    named = request.value("model") if "model" in request.path_values else None
    dialect = DIALECTS[request.provider]
    if named is None and request.provider != "gemini" and "model" not in body:
        raise ProviderError(400, "invalid", "you must provide a model parameter", param="model")
    ask = dialect.read(body, named)
    model = world.prices.find(request.provider, ask.model)
    if model is None:
        raise ProviderError(
            404, "unknown_model", f"The model `{ask.model}` does not exist.", param="model"
        )
    traps = drawn_for_call(world, request.provider, ask)
    outcome = execute(world, request.provider, model, ask, body, traps=traps)
    answer = Answer.json(dialect.render(outcome, world))
    answer.token = outcome.execution.token
    answer.headers["x-request-id"] = f"req_{outcome.execution.token}"
    if request.provider == "anthropic":
        answer.headers["request-id"] = answer.headers["x-request-id"]
    return answer


def models(world: World, request: Request) -> Answer:
    """The models that there are, which is how a key is tried without paying."""
    names = sorted(world.prices.models.get(request.provider, {}))
    if request.provider == "gemini":
        return Answer.json({"models": [{"name": f"models/{name}"} for name in names]})
    listed = [{"id": name, "object": "model", "created": 0, "owned_by": "fake"} for name in names]
    return Answer.json({"object": "list", "data": listed})


_DEPLOYMENT = r"/openai/deployments/(?P<model>[^/]+)/chat/completions"

ROUTES = [
    Route("POST", r"/v1/messages", "anthropic", "chat", call),
    Route("POST", r"/v1/chat/completions", "openai", "chat", call),
    Route("GET", r"/v1(beta)?/models", "gemini", "models", models),
    Route("GET", r"/v1/models", "openai", "models", models),
    Route("POST", _DEPLOYMENT, "azure", "chat", call),
    Route("POST", r"/openai/v1/chat/completions", "azure", "chat", call),
    Route("GET", r"/openai/(v1/)?models", "azure", "models", models),
    Route("POST", r"/v1(beta)?/models/(?P<model>[^/:]+):generateContent", "gemini", "chat", call),
    Route("POST", r"/api/v1/chat/completions", "openrouter", "chat", call),
    Route("GET", r"/api/v1/models", "openrouter", "models", models),
    Route("POST", r"/model/(?P<model>[^/]+)/converse", "bedrock", "chat", call),
    # Any other base path is an OpenAI-compatible server of one's own.
    Route("POST", r"/.+/chat/completions", "compatible", "chat", call),
    Route("GET", r"/.+/models", "compatible", "models", models),
]
