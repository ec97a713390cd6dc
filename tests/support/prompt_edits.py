"""Edits of a system prompt in tests: a model that answers by its prompt, judged and labelled."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.providers.answers import Ask
from tests.providers.wire import ProviderError
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.lambdas import Answer
from tests.support.ledger import MODEL, Ledger

OLD, NEW = "Answer the question.", "Answer the question in one sentence."


class PromptEdits(DeckRuns):
    """A deck whose model writes better under the new prompt, and a grader that sees it."""

    def __init__(self, ledger: Ledger, *, samples: int = 4, **deck: Any) -> None:
        super().__init__(ledger, **{"systemPrompt": OLD, "holdoutShare": 1, **deck})
        self.grader_id = self.add_grader(name="brief")
        self.sources = self.add_inputs(samples) if samples else []
        self.judging(self.answer)
        self.refused: set[str] = set()
        self.refused_under_new: set[str] = set()

    def add_inputs(self, number: int) -> list[str]:
        """Add samples of another model; return their ids."""
        made: list[str] = []
        for start in range(0, number, 100):
            some = range(start, min(number, start + 100))
            texts = [{"input": f"question {one}?", "output": "so so"} for one in some]
            made += self.add_whole_samples(texts)
        return made

    def answer(self, ask: Ask) -> str:
        """Answer a question by the prompt, or judge such an answer."""
        if "VERDICT" in ask.prompt:
            return verdict(_level(ask.prompt))
        number = int(ask.texts[0].removeprefix("question ").removesuffix("?"))
        refused = self.refused | (self.refused_under_new if ask.system == NEW else set())
        if ask.texts[0] in refused:
            raise ProviderError(400, "invalid", "this is refused")
        return f"{'short' if ask.system == NEW else 'long'} {number % 3} of {number}"

    def propose(self, prompt: str = NEW, **fields: Any) -> dict[str, Any]:
        """Make an edit; return it."""
        answer = self.try_proposing(prompt, **fields)
        assert answer.status == 201, answer.text
        edit: dict[str, Any] = answer.json["edit"]
        return edit

    def try_proposing(self, prompt: str = NEW, **fields: Any) -> Answer:
        """Ask for an edit."""
        generator = {
            "connectionId": self.connection_id,
            "model": MODEL,
            "params": {"maxTokens": 50, "temperature": 0},
        }
        body = {"systemPrompt": prompt, "generator": generator, **fields}
        return self.platform.call("POST", f"{self.path}/prompt-edits", body)

    def act(self, edit_id: str, what: str, **body: Any) -> Answer:
        """Do something with an edit."""
        return self.platform.call("POST", f"{self.path}/prompt-edits/{edit_id}/{what}", body)

    def edit(self, edit_id: str) -> dict[str, Any]:
        """Read an edit."""
        found: dict[str, Any] = self.platform.call(
            "GET", f"{self.path}/prompt-edits/{edit_id}"
        ).json["edit"]
        return found

    def generate(self, edit_id: str, **body: Any) -> dict[str, Any]:
        """Have the inputs answered; return the run when it has ended."""
        answer = self.act(edit_id, "generate", **body)
        assert answer.status == 202, answer.text
        return self.finish(self.read(answer.json["edit"]["runId"]))

    def judge(self, edit_id: str) -> dict[str, Any]:
        """Have the responses of an edit judged; return the run when it has ended."""
        return self.finish(self.start(promptEditId=edit_id))

    def of_version(self, version: int) -> list[dict[str, Any]]:
        """The samples of a version, with their texts."""
        listed: list[dict[str, Any]] = []
        query: dict[str, Any] = {"deckVersion": version, "limit": 200}
        while True:
            page = self.platform.call("GET", f"{self.path}/samples", query=query).json
            listed += page["samples"]
            if not page.get("nextToken"):
                return listed
            query["nextToken"] = page["nextToken"]

    def generated(self) -> list[dict[str, Any]]:
        """The samples that were generated, of both versions."""
        every = [*self.of_version(1), *self.of_version(2)]
        return [one for one in every if one["collection"] == "generated"]

    def label(
        self,
        samples: Sequence[dict[str, Any]],
        *,
        said: Callable[[str], int] | None = None,
        rater: str = "ada",
    ) -> None:
        """Have a person rate drawn responses, who likes them as the judge does, half a level less.

        Who says so twice in a row is no chance: it follows from the text.

        Args:
            said: what they say of a text, if it is something else.
        """
        say = said or said_by_ada
        lines = [
            {
                "sampleId": one["id"],
                "rater": rater,
                "selection": "random",
                "score": say(one["outputExcerpt"]),
            }
            for one in samples
        ]
        body = "\n".join(map(json.dumps, lines)).encode()
        path = f"{self.path}/graders/{self.grader_id}/feedback/bulk"
        answer = self.platform.call("POST", path, raw=body)
        assert answer.json["accepted"] == len(lines), answer.text


def said_by_ada(text: str) -> int:
    """Return what a person says of an answer."""
    return max(-3, _level(text) - int(text.rsplit(maxsplit=1)[-1]) % 2)


def _level(text: str) -> int:
    """Return how good an answer is: what the model wrote tells by its words."""
    for place in range(3):
        if f"short {place}" in text:
            return place + 1
        if f"long {place}" in text:
            return place - 1
    return 0
