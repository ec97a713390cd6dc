"""What the fakes take a judge's prompt to hold, once it is read."""

import hashlib
import json
from dataclasses import dataclass

LEVELS = (-3, -2, -1, 0, 1, 2, 3)
NOT_APPLICABLE = "NOT_APPLICABLE"


@dataclass(frozen=True)
class RubricText:
    """A rubric as a judge reads it.

    Attributes:
        levels: Seven texts, from -3 to +3.
        not_applicable_when: Empty if the rubric applies to everything.
        examples: Input, output and level of each.
    """

    criteria: str
    levels: tuple[str, ...]
    not_applicable_when: str = ""
    examples: tuple[tuple[str, str, int], ...] = ()

    @property
    def text(self) -> str:
        """All of it, for whoever looks for a clause."""
        shown = [text for example in self.examples for text in example[:2]]
        return "\n".join((self.criteria, *self.levels, self.not_applicable_when, *shown))

    @property
    def digest(self) -> str:
        """The same for the same rubric, whatever white space lies between its words."""
        parts = [
            _words(self.criteria),
            [_words(level) for level in self.levels],
            _words(self.not_applicable_when),
            [[_words(given), _words(said), level] for given, said, level in self.examples],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class SampleText:
    """What is judged: what was asked, and the response."""

    input: str
    output: str

    @property
    def digest(self) -> str:
        """The same for the same texts, whatever white space lies between their words."""
        return hashlib.sha256(f"{_words(self.input)}\0{_words(self.output)}".encode()).hexdigest()


@dataclass(frozen=True)
class JudgePrompt:
    """One question to a judge.

    Attributes:
        raw_response: The response as it stands in the prompt, which is what a judge may repeat.
    """

    rubric: RubricText
    sample: SampleText
    deck_prompt: str = ""
    raw_response: str = ""


def said(reasoning: str, explanation: str, verdict: int | str) -> str:
    """An answer as the platform asks for it: reasoning, explanation, and the verdict in the end."""
    return f"{reasoning.strip()}\nEXPLANATION: {_words(explanation)}\nVERDICT: {verdict}"


def _words(text: str) -> str:
    return " ".join(text.split())
