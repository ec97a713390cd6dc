"""What becomes of edits of a real judge, by its real levels and those of experts.

A replay finds what was judged before, so that stored levels stand for the judge: none is asked.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from autotune.protocol.ids import derived_id
from autotune_platform.decks.prompts import group_hash
from autotune_platform.decks.result_models import GraderResult, ResultWords
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.splitting import split_of
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.storage.table import Table
from tests.support.deck_runs import DeckRuns
from tests.support.decks import RUBRIC
from tests.support.ledger import Ledger
from tests.support.summary_levels.reading import SummaryLevels, summary_levels

SUMMARIES, SAMPLES_AT_ONCE, LINES_AT_ONCE = 1_200, 100, 1_000
ARTICLES, TRIED, SHARE = 100, 3, 0.5


class RealDeck(DeckRuns):
    """A deck whose samples stand for 1,200 summaries, and three more of the development half."""

    def __init__(self, ledger: Ledger, levels: SummaryLevels) -> None:
        super().__init__(ledger, holdoutShare=SHARE)
        self.levels = levels
        self.organization_id: str = self.platform.me()["organizationId"]
        keys = self._keys()
        groups = [keys["holdout"][group] for group in levels.groups.tolist()]
        groups += keys["development"][:TRIED]
        self.halves: dict[str, str] = {}
        for start in range(0, len(groups), SAMPLES_AT_ONCE):
            samples = [
                {
                    "input": f"Article {place}",
                    "output": f"Summary {place}",
                    "groupKey": groups[place],
                }
                for place in range(start, min(start + SAMPLES_AT_ONCE, len(groups)))
            ]
            answer = self.platform.call("POST", f"{self.path}/samples", {"samples": samples})
            assert answer.status == 201, answer.text
            self.halves |= {one["id"]: one["split"] for one in answer.json["samples"]}
        self.ids = list(self.halves)
        assert list(self.halves.values()) == ["holdout"] * SUMMARIES + ["development"] * TRIED
        self.grader_id = self.add_grader()
        self.grader_path = f"{self.path}/graders/{self.grader_id}"
        self._label()

    def _keys(self) -> dict[str, list[str]]:
        """Group keys of both halves, enough for every article."""
        found: dict[str, list[str]] = {"holdout": [], "development": []}
        for place in range(3 * ARTICLES):
            group = group_hash(self.organization_id, "given", f"article {place}")
            split = split_of(self.organization_id, group, holdout_share=SHARE)
            found[split].append(f"article {place}")
        return found

    def _label(self) -> None:
        truth = [*self.levels.truth.tolist(), *[0.0] * TRIED]
        lines = [
            {"sampleId": id_, "rater": "median", "selection": "random", "score": int(level)}
            for id_, level in zip(self.ids, truth, strict=True)
        ]
        for start in range(0, len(lines), LINES_AT_ONCE):
            raw = "\n".join(json.dumps(one) for one in lines[start : start + LINES_AT_ONCE])
            answer = self.platform.call(
                "POST", f"{self.grader_path}/feedback/bulk", raw=raw.encode()
            )
            assert answer.json["rejected"] == [], answer.text

    def judged(self, version: int, prompt: str) -> None:
        """Have a version of the grader have said what the judge said with a prompt."""
        results = ResultRepository(Table("decks", clients.dynamodb()))
        levels = [*self.levels.judged(prompt).tolist(), *[0.0] * TRIED]
        for place, (id_, level) in enumerate(zip(self.ids, levels, strict=True)):
            is_level = not np.isnan(level)
            result = GraderResult(
                id=derived_id("res", self.grader_id, id_, str(version)),
                organization_id=self.organization_id,
                deck_id=self.deck_id,
                grader_id=self.grader_id,
                version=version,
                sample_id=id_,
                split="holdout" if place < SUMMARIES else "development",
                group_key=id_,
                # What failed would be asked for again.
                status="scored" if is_level else "abstained",
                score=int(level) if is_level else None,
                run_id="drn",
                created_at=SYSTEM_CLOCK.now(),
            )
            assert results.add(result, ResultWords())

    def measured(self, sentence: str, prompt: str) -> dict[str, Any]:
        """Replay an edit of the criteria after which the judge says so; return it."""
        patch = [{"field": "criteria", "find": RUBRIC["criteria"], "replace": sentence}]
        made = self.platform.call("POST", f"{self.grader_path}/edits", {"patch": patch})
        assert made.status == 201, made.text
        path = f"{self.grader_path}/edits/{made.json['edit']['id']}"
        for split in ("development", "holdout"):
            begun = self.platform.call("POST", f"{path}/replay", {"split": split})
            assert begun.status == 202, begun.text
            run = self.read(begun.json["edit"]["runId"])
            if split == "development":
                self.judged(run["graders"][0]["version"], prompt)
            assert self.finish(run, asking=False)["status"] == "completed"
        found: dict[str, Any] = self.platform.call("GET", path).json["edit"]
        return found

    def accept(self, edit: dict[str, Any], status: int, **body: Any) -> Any:
        path = f"{self.grader_path}/edits/{edit['id']}/accept"
        answer = self.platform.call("POST", path, body)
        assert answer.status == status, answer.text
        return answer.json


def outcome(edit: dict[str, Any]) -> tuple[str, Sequence[str], int]:
    effect = edit["effect"]
    return effect["outcome"], effect["refusals"], effect["newlyPositive"]


def test_a_better_rubric_is_accepted_after_consent_and_one_that_is_no_better_is_not(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck = RealDeck(ledger, summary_levels("coherence"))
    deck.judged(1, "altrts")
    better = deck.measured("How coherent is it?", "mcq")
    assert outcome(better) == ("needs_consent", [], 17)
    effect = better["effect"]
    assert [round(effect[of]["value"], 3) for of in ("old", "new")] == [0.108, 0.395]
    assert (effect["look"], effect["low"] > 0) == (1, True)
    deck.accept(better, 409)
    deck.accept(better, 200, consent=True)
    monkeypatch.setitem(RUBRIC, "criteria", "How coherent is it?")
    same = deck.measured("How coherent is the summary?", "altmcq")
    assert outcome(same)[0] == "no_evidence"
    effect = same["effect"]
    assert [round(effect[of]["value"], 3) for of in ("old", "new")] == [0.395, 0.397]
    deck.accept(same, 409, consent=True)
    assert ledger.fake.world.bill()["executions"] == 0


def test_a_worse_rubric_is_refused_whatever_percent_agreement_says(ledger: Ledger) -> None:
    deck = RealDeck(ledger, summary_levels("relevance"))
    deck.judged(1, "rts")
    worse = deck.measured("How relevant is it?", "altmcq")
    assert outcome(worse) == ("refused", ["agrees_less"], 10)
    effect = worse["effect"]
    # Of samples that both scored: five have no level with the first one.
    assert (round(effect["old"]["value"], 3), effect["old"]["n"]) == (0.419, SUMMARIES - 5)
    deck.accept(worse, 409, consent=True)
    assert ledger.fake.world.bill()["executions"] == 0
