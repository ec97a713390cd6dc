"""What the models say: the same for the same seed, model and prompt, with a token that is not."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_TEXT = (
    "the answer names each step it takes and shows its working so that a reader can follow it "
    "line by line although one claim lacks a source and the tone drifts near the end"
)
WORDS = _TEXT.split()
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
REASONING_TOKENS = 24


@dataclass(frozen=True)
class Ask:
    """One request as every provider's adapter reads it."""

    model: str
    system: str
    texts: tuple[str, ...]
    max_tokens: int | None = None
    json_schema: dict[str, Any] | None = None
    json_mode: bool = False

    @property
    def prompt(self) -> str:
        return "\n".join((self.system, *self.texts))

    @property
    def input_tokens(self) -> int:
        """Never more than the UTF-8 bytes of the input and a constant for each message."""
        parts = [text for text in (self.system, *self.texts) if text]
        return sum(tokens_of(text) + TOKENS_PER_MESSAGE for text in parts)


@dataclass(frozen=True)
class Usage:
    """How many tokens an answer is charged for; of the output's, ``reasoning`` are not shown."""

    input: int
    output: int
    reasoning: int = 0


@dataclass(frozen=True)
class Reply:
    """What a model answers, where its text alone does not say it all.

    Attributes:
        finish: ``stop``, ``length`` or ``refusal``.
        served_model: The model that the answer names; None for the one that was asked for.
        usage: What is charged; None for what the texts come to.
        tells_usage: Whether the answer says how many tokens it took. They are charged all the same.
        has_token: Whether the execution's token is put into the text.
    """

    text: str
    finish: str = "stop"
    served_model: str | None = None
    usage: Usage | None = None
    tells_usage: bool = True
    has_token: bool = True


# May raise a `ProviderError`, which is then the answer: nothing was executed or charged.
Answerer = Callable[[Ask], Reply | str | None]


def tokens_of(text: str) -> int:
    return -(-len(text.encode()) // CHARACTERS_PER_TOKEN)


@dataclass
class Rule:
    """Answers ``text`` to prompts that hold ``contains``."""

    contains: str
    text: str


@dataclass
class Answers:
    """The answer function; a test sets ``answerer``, or rules over HTTP, which are asked first."""

    seed: int
    labels: list[str] = field(default_factory=lambda: ["pass", "fail"])
    rules: list[Rule] = field(default_factory=list)
    answerer: Answerer | None = None

    def reply(self, ask: Ask) -> Reply:
        """The answer without its token.

        Raises:
            ProviderError: If the answerer refuses to answer.
        """
        for rule in self.rules:
            if rule.contains in ask.prompt:
                return Reply(rule.text)
        if self.answerer is not None and (said := self.answerer(ask)) is not None:
            return said if isinstance(said, Reply) else Reply(said)
        return Reply(self._drawn(ask))

    def _drawn(self, ask: Ask) -> str:
        digest = hashlib.sha256(f"{self.seed}|{ask.model}|{ask.prompt}".encode()).digest()
        if ask.json_schema is not None or ask.json_mode:
            return json.dumps(_instance(ask.json_schema or {}, digest))
        words = " ".join(WORDS[byte % len(WORDS)] for byte in digest[: 8 + digest[0] % 16])
        label = self.labels[digest[1] % len(self.labels)]
        return f"{words.capitalize()}.\nVERDICT: {label}"


def with_token(text: str, token: str) -> str:
    """The answer with its token: in front, so that no length cuts it off.

    An answer that is a JSON object keeps being one, with the token in it.
    """
    if text.startswith("{"):
        try:
            document = json.loads(text)
        except ValueError:
            return f"[{token}] {text}"
        return json.dumps(_put_token(document, token))
    return f"[{token}] {text}"


def _put_token(document: dict[str, Any], token: str) -> dict[str, Any]:
    for name, value in document.items():
        if isinstance(value, str) and value.endswith("…"):
            return {**document, name: f"[{token}] {value}"}
    return {**document, "token": token}


def _instance(schema: dict[str, Any], digest: bytes) -> Any:
    """A value that a plain JSON Schema admits; free texts end with an ellipsis."""
    if "enum" in schema:
        return schema["enum"][digest[2] % len(schema["enum"])]
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties") or {"verdict": {"type": "string"}}
        return {name: _instance(inner, digest) for name, inner in properties.items()}
    values: dict[str, Any] = {
        "string": f"{WORDS[digest[3] % len(WORDS)]}…",
        "integer": int(digest[4] % 5),
        "number": digest[4] % 5 / 2,
        "boolean": digest[5] % 2 == 0,
        "array": [],
    }
    return values.get(kind)
