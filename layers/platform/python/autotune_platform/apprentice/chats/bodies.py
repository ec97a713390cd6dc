"""Reading a chat completion that asks a task: its last message is the input."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from autotune.protocol import limits
from autotune.protocol.apprentice_runs import StartApprenticeRun
from autotune_platform.apprentice.chats.parameters import require_nothing_else
from autotune_platform.ledger.compatible.chat_bodies import parsed, refused
from autotune_platform.runtime.bounded_json import parse_strictly

_INSTRUCTIONS: Final = ("system", "developer")
_LENGTHS: Final = ("max_completion_tokens", "max_tokens")
_SAYS_HOW_A_STREAM_ENDS: Final = "include_usage"
_OBFUSCATES: Final = "include_obfuscation"


@dataclass(frozen=True)
class Said:
    """The text of a message, and where it stands, such as ``messages[1].content``."""

    field: str
    text: str


@dataclass(frozen=True)
class TaskChat:
    """What a program asks of a task.

    Attributes:
        user: the input.
        system: what stands before it; the task has to have the same words.
        lengths: most tokens of the answer, by parameter.
        form: the JSON Schema that the answer is to be of, where one is named.
    """

    model: str
    user: Said
    lengths: Mapping[str, int]
    system: Said | None = None
    form: Mapping[str, Any] | None = None
    is_streamed: bool = False
    with_usage: bool = False

    @property
    def texts(self) -> list[str]:
        """All that it says."""
        return [one.text for one in (self.system, self.user) if one is not None]


def task_chat_of(content: bytes) -> TaskChat:
    """Return what a program asks.

    Raises:
        MalformedRequestError: it is no such JSON, or has what no task heeds; the parameter or
            message is named.
    """
    document = parsed(content)
    model = document.get("model")
    if not isinstance(model, str) or not model:
        raise refused("model", "a text")
    require_nothing_else(document)
    is_streamed = document.get("stream")
    if not isinstance(is_streamed, bool | None):
        raise refused("stream", "true or false")
    system, user = _said(document.get("messages"))
    return TaskChat(
        model=model,
        user=user,
        system=system,
        lengths=_lengths(document),
        form=_form(document.get("response_format")),
        is_streamed=is_streamed is True,
        with_usage=_with_usage(document.get("stream_options"), is_streamed=is_streamed is True),
    )


def input_of(asked: TaskChat, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input of a run, which the task's schema may refuse yet.

    Where the task takes one property and that is a text, the message is this text, whatever it
    looks like. Else the message is a JSON object.

    Args:
        document: the task's configuration.

    Raises:
        MalformedRequestError: it is none, or it asks for what the task does not answer.
    """
    _require_heeded(asked, document)
    properties: Mapping[str, Any] = document["inputSchema"]["properties"]
    if len(properties) == 1:
        ((name, schema),) = properties.items()
        if isinstance(schema, dict) and schema.get("type") == "string":
            return _bounded(asked.user, {name: asked.user.text})
    named = ", ".join(sorted(properties))[:500]
    try:
        value = parse_strictly(asked.user.text.encode(), most_values=limits.MAX_REQUEST_VALUES)
    except ValueError as error:
        raise refused(
            asked.user.field, f"one JSON object with the properties of the input: {named}"
        ) from error
    if not isinstance(value, dict):
        raise refused(asked.user.field, f"one JSON object with the properties: {named}")
    return _bounded(asked.user, value)


def _bounded(said: Said, value: dict[str, Any]) -> dict[str, Any]:
    try:
        return StartApprenticeRun(input=value).input
    except ValidationError as error:
        why = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise refused(said.field, why.removeprefix("expected ")) from error


def _require_heeded(asked: TaskChat, document: Mapping[str, Any]) -> None:
    if asked.system is not None and asked.system.text != document["systemPrompt"]:
        raise refused(
            asked.system.field,
            "the system prompt of the task, word for word, or no such message",
            "the task has a system prompt of its own",
        )
    most = document["remote"]["primary"]["maxOutputTokens"]
    for name, value in asked.lengths.items():
        if value < most:
            raise refused(name, f"{most} or more, or left out", "the task bounds its answers")
    if asked.form is not None and asked.form != document["outputSchema"]:
        raise refused(
            "response_format.json_schema.schema",
            "the output schema of the task",
            "answers of this task have the schema of its configuration",
        )


def _said(messages: Any) -> tuple[Said | None, Said]:
    if not isinstance(messages, list) or not messages:
        raise refused("messages", "a list with a message at least")
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            raise refused(f"messages[{place}]", "an object")
    last = len(messages) - 1
    if messages[last].get("role") != "user":
        raise refused(f"messages[{last}].role", "user", "the last message is the input")
    for place, message in enumerate(messages[:last]):
        if place > 0 or message.get("role") not in _INSTRUCTIONS:
            raise refused(
                f"messages[{place}]",
                "one message of the user, behind the task's system prompt at most",
                "each input of a task is answered by itself",
            )
    system = _text(messages[0], 0) if last else None
    return system, _text(messages[last], last)


def _text(message: Mapping[str, Any], place: int) -> Said:
    for name, value in message.items():
        if name not in ("role", "content") and value is not None:
            raise refused(f"messages[{place}].{name[:100]}", "left out")
    field = f"messages[{place}].content"
    content = message.get("content")
    if isinstance(content, str) and content:
        return Said(field, content)
    if not isinstance(content, list) or not content:
        raise refused(field, "a text, or a list of parts that are texts")
    if len(content) > limits.MAX_LLM_MESSAGE_PARTS:
        raise refused(field, f"at most {limits.MAX_LLM_MESSAGE_PARTS} parts")
    for number, part in enumerate(content):
        is_text = isinstance(part, dict) and part.get("type") == "text"
        if not is_text or not isinstance(part.get("text"), str):
            raise refused(f"{field}[{number}]", "a part of the type text")
    return Said(field, "".join(part["text"] for part in content))


def _lengths(document: Mapping[str, Any]) -> Mapping[str, int]:
    given = {name: document[name] for name in _LENGTHS if document.get(name) is not None}
    for name, value in given.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise refused(name, "a whole number from 1 on")
    return given


def _form(said: Any) -> Mapping[str, Any] | None:
    if said is None:
        return None
    kind = said.get("type") if isinstance(said, dict) else None
    if kind in ("text", "json_object"):  # an answer is JSON, and that is text
        return None
    if kind != "json_schema":
        raise refused("response_format.type", "text, json_object or json_schema")
    within = said.get("json_schema")
    schema = within.get("schema") if isinstance(within, dict) else None
    if not isinstance(schema, dict):
        raise refused("response_format.json_schema.schema", "a JSON Schema")
    return schema


def _with_usage(options: Any, *, is_streamed: bool) -> bool:
    if options is None:
        return False
    if not is_streamed:
        raise refused("stream_options", "left out where stream is not true")
    if not isinstance(options, dict):
        raise refused("stream_options", "an object")
    for name, value in options.items():
        if name not in (_SAYS_HOW_A_STREAM_ENDS, _OBFUSCATES) and value is not None:
            raise refused(f"stream_options.{name[:100]}", "left out")
        if not isinstance(value, bool | None):
            raise refused(f"stream_options.{name}", "true or false")
    if options.get(_OBFUSCATES):
        raise refused(f"stream_options.{_OBFUSCATES}", "false, or left out")
    return options.get(_SAYS_HOW_A_STREAM_ENDS) is True
