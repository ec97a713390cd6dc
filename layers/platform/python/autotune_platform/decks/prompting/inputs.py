"""What precedes a response: the input that is answered anew, under one prompt and another.

The ledger asks with one message of a user, so that inputs are of that form: conversations of
several turns, tools, images, and instructions that are not the deck's prompt are left out, and
counted.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.protocol.deck_prompt_edits import PromptGenerator
from autotune.protocol.limits import MAX_LEVELS_TEXT_CHARACTERS
from autotune_platform.decks.models import Sample
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.judging.rubric.conversations import SampleTexts, sample_texts
from autotune_platform.judging.rubric.openai_messages import INSTRUCTIONS
from autotune_platform.judging.rubric.system_prompts import named_values, placeholders, with_values
from autotune_platform.runtime.parts import part

_TOGETHER = 25
_OF_TOOLS = ("tools", "functions")


@dataclass(frozen=True)
class Source:
    """A sample whose input is answered.

    Attributes:
        size: bytes of its input and of what stands for the prompt's placeholders.
        is_stored: whether its response was made by the same model in the same way.
    """

    sample: Sample
    size: int
    is_stored: bool


@dataclass(frozen=True)
class DrawnSources:
    """The samples whose inputs are answered, and how many of the drawn ones cannot be."""

    sources: Sequence[Source]
    unusable: int


@part
class PromptInputs:
    """Draws inputs of a deck."""

    samples: SampleRepository

    def draw(self, edit: PromptEdit, base_prompt: str, *, provider: str) -> DrawnSources:
        """Return the samples of groups that are drawn by chance, always the same ones.

        What another sample of the version was generated from is not drawn beside that one.
        """
        of_version = [
            one for one in self.samples.walk(edit.deck_id) if one.deck_version == edit.base_version
        ]
        ids = {one.id for one in of_version}
        wanted = [
            one
            for one in of_version
            if one.source_id not in ids and edit.split in {None, one.split}
        ]
        groups = sorted({one.group_key for one in wanted}, key=lambda key: _chance(edit, key))
        drawn = set(groups[: edit.groups])
        chosen = [one for one in wanted if one.group_key in drawn]
        found = list(self._usable(edit, base_prompt, chosen, provider))
        return DrawnSources(found, unusable=len(chosen) - len(found))

    def _usable(
        self, edit: PromptEdit, prompt: str, samples: Sequence[Sample], provider: str
    ) -> Iterator[Source]:
        for start in range(0, len(samples), _TOGETHER):
            some = samples[start : start + _TOGETHER]
            texts = self.samples.texts(some)
            for sample in some:
                found = texts.get(sample.id)
                if found is None or not _is_plain(found.request):
                    continue
                read = sample_texts(found.request, found.response)
                values = values_of(prompt, read)
                if values is None or read.characters > MAX_LEVELS_TEXT_CHARACTERS:
                    continue
                parts = [read.turns[0].text, *values.values()]
                yield Source(
                    sample=sample,
                    size=sum(len(one.encode()) for one in parts),
                    is_stored=(sample.provider, sample.model) == (provider, edit.generator.model)
                    and parameters(edit.generator) == _parameters_of(found.request),
                )


def values_of(prompt: str, texts: SampleTexts) -> Mapping[str, str] | None:
    """Return what stands for a prompt's placeholders in a sample; None where it has another one.

    A sample without instructions has the deck's prompt, whose placeholders nobody knows then.
    """
    if [turn.role for turn in texts.turns] != ["user"]:
        return None
    if texts.system is None:
        return None if placeholders(prompt) else {}
    return named_values(prompt, texts.system)


def messages_of(prompt: str, values: Mapping[str, str], text: str) -> list[dict[str, str]]:
    """Return the messages that a model is given."""
    return [
        {"role": "system", "content": with_values(prompt, values)},
        {"role": "user", "content": text},
    ]


def parameters(generator: PromptGenerator) -> dict[str, Any]:
    """Return how a model is asked, as a request of OpenAI's has it."""
    given = generator.params.model_dump(by_alias=False, exclude_none=True)
    return {**given, **given.pop("extra", {})}


def _parameters_of(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in {"messages", "model"}}


def _is_plain(request: Mapping[str, Any]) -> bool:
    """Return whether a request has texts alone, and no tools."""
    messages = [one for one in request.get("messages", ()) if one.get("role") not in INSTRUCTIONS]
    contents = [one.get("content") for one in messages]
    return not any(request.get(name) for name in _OF_TOOLS) and all(map(_is_text, contents))


def _is_text(content: Any) -> bool:
    if isinstance(content, list):
        return all(isinstance(one, dict) and one.get("type") == "text" for one in content)
    return isinstance(content, str) and bool(content.strip())


def _chance(edit: PromptEdit, group_key: str) -> bytes:
    return hashlib.sha256(f"{edit.id} {group_key}".encode()).digest()
