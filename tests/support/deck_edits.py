"""A deck whose judge has a known fault, with what people say of its samples, and edits."""

import json
from typing import Any

from tests.judges.measuring import wire
from tests.judges.models import PLANTED_MODEL, serve_planted
from tests.judges.planted import Planted
from tests.judges.planted_samples import RUBRIC, SYSTEM_PROMPT, PlantedSample, labelled, samples
from tests.judges.prompts import SampleText
from tests.judges.proposals import edit
from tests.support.deck_runs import DeckRuns
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger

PRICES = {PLANTED_MODEL: {"inputUsd": "0.1", "outputUsd": "0.4"}}


class EditedDeck(DeckRuns):
    """A deck, its grader, and what people say of each of its samples."""

    def __init__(
        self, ledger: Ledger, *, number: int, seed: int = 5, judge_seed: int = 5, **deck: Any
    ) -> None:
        super().__init__(ledger, systemPrompt=SYSTEM_PROMPT, **deck)
        self.model = serve_planted(ledger.fake.world, Planted(seed=judge_seed))
        judge = {
            "connectionId": ledger.connect(maxWaitSeconds=0, prices=PRICES),
            "model": PLANTED_MODEL,
            "params": {"maxTokens": 800, "temperature": 0},
        }
        self.grader_id = self.add_grader(name="helpful", rubric=wire(RUBRIC), judge=judge)
        self.organization_id: str = self.platform.me()["organizationId"]
        self.grader_path = f"{self.path}/graders/{self.grader_id}"
        self.samples: dict[str, PlantedSample] = {}
        self.halves: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.add_planted(number, seed=seed)

    def add_planted(self, number: int, *, seed: int) -> list[str]:
        """Add samples; return their ids."""
        made = list(samples(number, seed=seed, not_applicable=0.02))
        added = []
        for start in range(0, number, 100):
            some = made[start : start + 100]
            # A token at the end tells where a sample's text has come to.
            tokens = [f"(zq{seed}x{start + place})" for place in range(len(some))]
            texts = [
                {"input": one.text.input, "output": f"{one.text.output} {token}"}
                for one, token in zip(some, tokens, strict=True)
            ]
            body = {"samples": texts}
            answer = self.platform.call("POST", f"{self.path}/samples", body)
            assert answer.status == 201, answer.text
            for one, token, stored in zip(some, tokens, answer.json["samples"], strict=True):
                self.tokens[stored["id"]] = token
                self.samples[stored["id"]] = one
                self.halves[stored["id"]] = stored["split"]
                added.append(stored["id"])
        return added

    def of(self, split: str) -> list[str]:
        """The samples of one half."""
        return [id_ for id_, half in self.halves.items() if half == split]

    def label(self, ids: list[str], *, rater: str = "ada", **fields: Any) -> None:
        """Have a person rate samples, as drawn ones."""
        lines = []
        for id_ in ids:
            level = labelled(self.samples[id_], rater)
            said = {"doesNotApply": True} if level is None else {"score": level}
            lines.append({"sampleId": id_, "rater": rater, "selection": "random", **said, **fields})
        raw = "\n".join(json.dumps(one) for one in lines).encode()
        answer = self.platform.call("POST", f"{self.grader_path}/feedback/bulk", raw=raw)
        assert answer.json["accepted"] == len(lines), answer.text

    def patch(self, kind: str, *ids: str) -> list[dict[str, str]]:
        """The patch of an edit of a kind that `tests.judges.proposals` knows."""
        shown = [SampleText("", self.samples[id_].text.output) for id_ in ids]
        return edit(kind, RUBRIC, shown)

    def propose(self, kind: str, **fields: Any) -> str:
        """Propose an edit of such a kind; return its id."""
        answer = self.send("", {"patch": self.patch(kind), **fields})
        assert answer.status == 201, answer.text
        made: str = answer.json["edit"]["id"]
        return made

    def send(self, below: str, body: Any) -> Answer:
        """Post something to the grader's edits."""
        return self.platform.call("POST", f"{self.grader_path}/edits{below}", body)

    def edit(self, edit_id: str) -> dict[str, Any]:
        """Read an edit, which measures it."""
        answer = self.platform.call("GET", f"{self.grader_path}/edits/{edit_id}")
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json["edit"]
        return found

    def replay(self, edit_id: str, split: str, **fields: Any) -> dict[str, Any]:
        """Replay an edit on one half to the end; return it as it was measured."""
        answer = self.send(f"/{edit_id}/replay", {"split": split, **fields})
        assert answer.status == 202, answer.text
        run = self.read(answer.json["edit"]["runId"])
        assert run["kind"] == "replay"
        ended = self.finish(run)
        assert ended["status"] == "completed", ended
        return self.edit(edit_id)

    def measure(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Propose an edit and replay it on both halves; return it."""
        edit_id = self.propose(kind)
        self.replay(edit_id, "development")
        return self.replay(edit_id, "holdout", **fields)

    def grader(self) -> dict[str, Any]:
        """Read the grader."""
        found: dict[str, Any] = self.platform.call("GET", self.grader_path).json["grader"]
        return found
