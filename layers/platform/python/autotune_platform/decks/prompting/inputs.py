"""What precedes a response: the input that is answered, under one prompt and another.

The ledger asks with one message of a user, so that inputs are of that form: conversations of
several turns, tools, images, and instructions that are not the deck's prompt are left out, and
counted.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.protocol.deck_prompt_edits import PromptGenerator
from autotune.protocol.limits import MAX_LEVELS_TEXT_CHARACTERS, MAX_PROMPT_EDIT_INPUTS
from autotune_platform.decks.fixing.copying import added_runs, is_copied
from autotune_platform.decks.models import Sample
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.judging.rubric.conversations import SampleTexts, sample_texts
from autotune_platform.judging.rubric.openai_messages import INSTRUCTIONS
from autotune_platform.judging.rubric.system_prompts import named_values, placeholders, with_values
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

_OF_TOOLS = ("tools", "functions")


@dataclass(frozen=True)
class Source:
    """A sample whose input is answered.

    Attributes:
        sizes: bytes of its input with each version's prompt as it is filled in, by version.
        is_copied: whether it is held out, and has words in a row that the edited prompt adds.
    """

    sample: Sample
    sizes: Mapping[int, int]
    is_copied: bool


@dataclass(frozen=True)
class DrawnSources:
    """The samples whose inputs are answered, and how many of the drawn ones cannot be."""

    sources: Sequence[Source]
    unusable: int


@part
class PromptInputs:
    """Draws inputs of a deck."""

    samples: SampleRepository

    def draw(self, edit: PromptEdit, prompts: Mapping[int, str]) -> DrawnSources:
        """Return the samples of groups that are drawn by chance, always the same ones.

        What another sample of the version was generated from is not drawn beside that one.

        Args:
            prompts: those of both versions.

        Raises:
            InvalidRequestError: the groups have more samples than an edit may have inputs.
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
        if len(chosen) > MAX_PROMPT_EDIT_INPUTS:  # before any text of them is read
            raise InvalidRequestError.of_field(
                "groups",
                f"fewer groups: {MAX_PROMPT_EDIT_INPUTS} inputs at most",
                detail=f"they have {len(chosen)}",
            )
        found = list(self._usable(edit, prompts, chosen))
        return DrawnSources(found, unusable=len(chosen) - len(found))

    def kept(self, edit: PromptEdit, prompts: Mapping[int, str]) -> DrawnSources:
        """Return the samples that were drawn when the first run of an edit began, and are there."""
        there = self.samples.headers(edit.deck_id, edit.sources)
        found = self._usable(edit, prompts, [there[id_] for id_ in edit.sources if id_ in there])
        return DrawnSources(list(found), edit.unusable)

    def copied(self, deck_id: str, base: str, prompt: str, *, at_most: int) -> str | None:
        """Return the newest held-out sample of which a prompt has what its base has not.

        That is eight words in a row of its input or its response. Of more samples than so many,
        the newest; none is read where so much is not added.
        """
        new = added_runs([(base, prompt)])
        if not new:
            return None
        held_out = [one for one in self.samples.walk(deck_id) if one.split == "holdout"]
        newest = sorted(held_out, key=lambda one: one.id, reverse=True)[:at_most]
        for sample, texts in self.samples.each_texts(newest):
            if is_copied(new, sample_texts(texts.request, texts.response)):
                return sample.id
        return None

    def _usable(
        self, edit: PromptEdit, prompts: Mapping[int, str], samples: Sequence[Sample]
    ) -> Iterator[Source]:
        base = prompts[edit.base_version]
        new = added_runs([(base, prompts[edit.candidate_version])])
        for sample, found in self.samples.each_texts(samples):
            if not _is_plain(found.request):
                continue
            read = found.read()
            values = values_of(base, read)
            if values is None or read.characters > MAX_LEVELS_TEXT_CHARACTERS:
                continue
            sizes = {
                version: sum(
                    len(one["content"].encode())
                    for one in messages_of(prompt, values, read.turns[0].text)
                )
                for version, prompt in prompts.items()
            }
            yield Source(sample, sizes, sample.split == "holdout" and is_copied(new, read))


def values_of(prompt: str, texts: SampleTexts) -> Mapping[str, str] | None:
    """Return what stands for a prompt's placeholders in a sample; None where it has another one.

    A sample without instructions has the deck's prompt, whose placeholders nobody knows then.
    Where redacting has changed literal text of the prompt, they are those that were kept with it.
    """
    if [turn.role for turn in texts.turns] != ["user"]:
        return None
    if texts.values is not None:
        return texts.values if texts.values.keys() >= {*placeholders(prompt)} else None
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
