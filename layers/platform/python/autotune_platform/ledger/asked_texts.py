"""What a request asks, as texts: with variables put in, and how many bytes it is at most."""

from collections.abc import Iterable

from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune.protocol.llm_templates import MissingVariableError
from autotune_platform.ledger.conversations import Conversation
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.registry import unsupported_turn
from autotune_platform.ledger.templates import fill
from autotune_platform.ledger.turns import turns_in
from autotune_platform.runtime.errors import InvalidRequestError


def filled(request: EnqueueLlmRequest, within: str) -> list[str]:
    """Return the texts of a request, with its variables put in.

    Args:
        within: what is before the names of the request's fields in an error.

    Raises:
        InvalidRequestError: a variable is missing, or the texts would be too long.
    """
    given = request.input
    try:
        texts = [given.user] if given.system is None else [given.system, given.user]
        return [fill(text, given.variables, field=f"{within}input") for text in texts]
    except MissingVariableError as error:
        raise InvalidRequestError.of_field(
            f"{within}input.variables", f"a value for {error.name}"
        ) from error


def said(asked: Conversation, connection: Connection) -> list[str]:
    """Return the texts of a conversation.

    Raises:
        InvalidRequestError: they are too long, or the provider has no place for one.
    """
    texts = asked.texts()
    place = unsupported_turn(connection.provider, turns_in(asked.messages))
    if place is not None:
        raise InvalidRequestError.of_field(
            f"messages[{place}].role",
            "user or assistant",
            detail=f"{connection.provider} takes system and developer messages before all others "
            "only",
        )
    return texts


def size_of(texts: Iterable[str], params: LlmParams) -> int:
    """Return the bytes of texts, and of what a format of the answer, or ``extra``, adds at most."""
    added = params.model_dump_json(include={"response_format", "extra"}, exclude_none=True)
    return sum(len(text.encode()) for text in texts) + len(added.encode())
