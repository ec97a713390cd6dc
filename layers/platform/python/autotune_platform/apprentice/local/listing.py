"""What a server says that it serves, looked up before it is believed.

Ollama has a digest of each model. vLLM and llama.cpp have none: theirs is a hash of what they say
of a model, such as its path, size and template. Weights that are replaced in place, under the same
path and with the same size, are not noticed; so each version should have a name of its own.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from autotune.protocol.apprentice_models import ServingBackend
from autotune_platform.apprentice.local.contract import Reason
from autotune_platform.apprentice.local.exchanging import ModelServers, NoAnswerError

_OF_VLLM = ("id", "root", "parent", "max_model_len")
_OF_LLAMA_CPP = ("n_params", "size", "n_vocab", "n_embd", "n_ctx_train", "vocab_type")
_OF_ADAPTER = ("id", "path", "scale")
_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that a server lists.

    Attributes:
        model: its name there, in full.
        digest: what changes when another model gets that name, ``sha256:`` and 64 digits.
    """

    model: str
    digest: str


def api_of(url: str) -> str:
    """Return the base of a server's addresses; people write it with ``/v1`` or without."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def look(servers: ModelServers, backend: ServingBackend, url: str, model: str) -> Listed:
    """Return a model as a server lists it.

    Raises:
        NoAnswerError: it does not list it, or is not such a server.
    """
    return _LOOKS[backend](servers, api_of(url), model)


def _of_vllm(servers: ModelServers, base: str, model: str) -> Listed:
    cards = _entries(servers.ask(f"{base}/v1/models"), "data")
    card = _named(cards, "id", model)
    return Listed(model, _hash({name: card.get(name) for name in _OF_VLLM}))


def _of_llama_cpp(servers: ModelServers, base: str, model: str) -> Listed:
    cards = _entries(servers.ask(f"{base}/v1/models"), "data")
    meta = _named(cards, "id", model).get("meta")
    if not isinstance(meta, dict):
        raise NoAnswerError(Reason.NOT_READY, f"{model} is not loaded")
    # A server of several models goes by this parameter; that of one leaves it out of account.
    asked = f"?model={quote(model, safe='')}"
    properties = servers.ask(f"{base}/props{asked}")
    adapters = servers.ask(f"{base}/lora-adapters{asked}")
    if not isinstance(properties, dict) or not isinstance(adapters, list):
        raise _unlike("llama.cpp")
    return Listed(
        model,
        _hash(
            {
                "id": model,
                "meta": {name: meta.get(name) for name in _OF_LLAMA_CPP},
                "path": properties.get("model_path"),
                "template": properties.get("chat_template"),
                "adapters": [
                    {name: one.get(name) for name in _OF_ADAPTER}
                    for one in adapters
                    if isinstance(one, dict)
                ],
            }
        ),
    )


def _of_ollama(servers: ModelServers, base: str, model: str) -> Listed:
    cards = _entries(servers.ask(f"{base}/api/tags"), "models")
    # Without a tag, Ollama takes the latest.
    name = model if ":" in model.rpartition("/")[2] else f"{model}:latest"
    card = _named(cards, "name", name)
    digest = card.get("digest")
    if card.get("remote_host"):
        raise NoAnswerError(Reason.REFUSED, f"{name} runs elsewhere, at the vendor's")
    if not isinstance(digest, str) or not digest:
        raise _unlike("Ollama")
    return Listed(name, f"sha256:{digest.removeprefix('sha256:')}")


_LOOKS: Mapping[str, Callable[[ModelServers, str, str], Listed]] = {
    "vllm": _of_vllm,
    "llama_cpp": _of_llama_cpp,
    "ollama": _of_ollama,
}
"""Servers whose models are registered; what others serve is made by us."""

REGISTERED: frozenset[str] = frozenset(_LOOKS)


def _entries(answer: Any, name: str) -> list[Mapping[str, Any]]:
    entries = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise NoAnswerError(Reason.UNREADABLE, "its list of models has another form")
    return entries


def _named(cards: list[Mapping[str, Any]], key: str, model: str) -> Mapping[str, Any]:
    for card in cards:
        if card.get(key) == model:
            return card
    names = [name for card in cards if isinstance(name := card.get(key), str) and len(name) <= 200]
    listed = ", ".join(sorted(names)[:_MOST_NAMES]) or "none"
    raise NoAnswerError(Reason.NO_MODEL, f"it does not list {model}; it lists {listed}")


def _hash(said: Mapping[str, Any]) -> str:
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _unlike(server: str) -> NoAnswerError:
    return NoAnswerError(Reason.UNREADABLE, f"it does not answer as {server} does")
