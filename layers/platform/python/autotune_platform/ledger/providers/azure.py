"""Azure OpenAI: chat completions of a deployment, whose name stands for the model.

As in https://learn.microsoft.com/azure/ai-services/openai/reference, as of August 2026.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from autotune_platform.ledger.calls import HttpQuestion
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.json_format import json_question
from autotune_platform.ledger.providers.openai import OpenAiFormat
from autotune_platform.ledger.providers.refusals import Vocabulary

_API_VERSION = "2024-10-21"


class AzureFormat(OpenAiFormat):
    """Chat completions with a deployment in the URL, and a header of its own for the key.

    Azure asks for money where its filter or the model's limit ended a question (status 400), and
    where the model took too long (408).
    """

    vocabulary = Vocabulary(
        account=OpenAiFormat.vocabulary.account,
        filtered=OpenAiFormat.vocabulary.filtered | {"ResponsibleAIPolicyViolation"},
        paid=frozenset(
            {"content_filter", "context_length_exceeded", "ResponsibleAIPolicyViolation"}
        ),
    )
    own_fields = OpenAiFormat.own_fields | {"data_sources"}

    def post(
        self,
        connection: Connection,
        key: str | None,
        model: str,
        own: Mapping[str, Any],
        extra: Mapping[str, Any],
    ) -> HttpQuestion:
        """Return a request for a deployment."""
        base = connection.base_url.rstrip("/")
        version = api_version(connection)
        deployment = quote(model, safe="")
        return json_question(
            f"{base}/openai/deployments/{deployment}/chat/completions?{version}",
            key_header(key),
            own,
            extra,
        )


def api_version(connection: Connection) -> str:
    """Return the query that names the version of the API.

    Without one of the connection's own it is the last dated one that is generally available: older
    ones have no batches.
    """
    return urlencode({"api-version": connection.api_version or _API_VERSION})


def key_header(key: str | None) -> dict[str, str]:
    """Return the header that holds the key."""
    return {"api-key": key} if key else {}
