"""Ratings and judges' results for tests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol.ids import derived_id
from autotune_platform.decks.result_models import GraderResult, ResultWords
from autotune_platform.decks.results import ResultRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.storage.table import Table
from tests.support.decks import new_deck, new_deck_grader
from tests.support.lambdas import Answer
from tests.support.platform import Platform


class LabelledDeck:
    """A deck with a grader and samples, and what is said of them."""

    def __init__(self, platform: Platform, *, samples: int = 0, **deck: Any) -> None:
        self.platform = platform
        made = new_deck(platform, **deck)
        self.id: str = made["id"]
        self.organization_id: str = made["organizationId"]
        self.grader_id: str = new_deck_grader(platform, self.id)["id"]
        self.path = f"/api/v1/decks/{self.id}/graders/{self.grader_id}"
        self.samples: dict[str, str] = {}
        """Each sample's half."""
        if samples:
            self.add(*(f"question {place}" for place in range(samples)))

    def add(self, *inputs: str, groups: Sequence[str] | None = None) -> list[str]:
        """Add samples; return their ids."""
        bodies = [
            {"input": text, "output": f"answer to {text}", "model": "secret-model"}
            | ({"groupKey": groups[place]} if groups else {})
            for place, text in enumerate(inputs)
        ]
        made: list[str] = []
        for start in range(0, len(bodies), 100):
            answer = self.platform.call(
                "POST",
                f"/api/v1/decks/{self.id}/samples",
                {"samples": bodies[start : start + 100]},
            )
            assert answer.status == 201, answer.text
            for sample in answer.json["samples"]:
                self.samples[sample["id"]] = sample["split"]
                made.append(sample["id"])
        return made

    def of(self, split: str) -> list[str]:
        """The samples of one half."""
        return [id_ for id_, half in self.samples.items() if half == split]

    def get(self, what: str, *, api_key: str | None = None, **query: Any) -> Any:
        """Read something of the grader."""
        if what in {"agreement", "means"}:  # as clients do: it spends a look
            answer = self.platform.call("POST", f"{self.path}/{what}", query, api_key=api_key)
        else:
            answer = self.platform.call("GET", f"{self.path}/{what}", query=query, api_key=api_key)
        assert answer.status == 200, answer.text
        return answer.json

    def rate(
        self, sample_id: str, score: int | None, *, api_key: str | None = None, **fields: Any
    ) -> Answer:
        """Rate a sample; None says that the question does not apply."""
        said = {"doesNotApply": True} if score is None else {"score": score}
        body = {"sampleId": sample_id, **said, **fields}
        return self.platform.call("POST", f"{self.path}/feedback", body, api_key=api_key)

    def adjudicate(
        self, sample_id: str, score: int, *, api_key: str | None = None, **fields: Any
    ) -> Answer:
        """Decide what is true of a sample."""
        path = f"{self.path}/truth/{sample_id}"
        return self.platform.call("PUT", path, {"score": score, **fields}, api_key=api_key)

    def upload(self, lines: Sequence[Any], *, api_key: str | None = None) -> Answer:
        """Send a file of ratings; a line is what it says, or as it stands."""
        text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
        path = f"{self.path}/feedback/bulk"
        return self.platform.call("POST", path, raw=text.encode(), api_key=api_key)

    def judged(
        self, levels: Mapping[str, int | None], *, version: int = 1, failed: Sequence[str] = ()
    ) -> None:
        """Have a version of the grader judge samples; None abstains."""
        results = ResultRepository(Table("decks", clients.dynamodb()))
        for sample_id, level in levels.items():
            status = "failed" if sample_id in failed else "abstained" if level is None else "scored"
            result = GraderResult(
                id=derived_id("res", self.grader_id, sample_id, str(version)),
                organization_id=self.organization_id,
                deck_id=self.id,
                grader_id=self.grader_id,
                version=version,
                sample_id=sample_id,
                split=self.samples[sample_id],
                group_key=sample_id,
                status=status,
                score=level if status == "scored" else None,
                run_id="drn",
                created_at=SYSTEM_CLOCK.now(),
            )
            assert results.add(result, ResultWords(explanation=f"explained {level}"))

    def label(self, ratings: Mapping[str, int | None], rater: str = "ada", **fields: Any) -> None:
        """Have a person rate samples that were drawn."""
        lines = [
            {
                "sampleId": id_,
                "rater": rater,
                "selection": "random",
                **({"doesNotApply": True} if score is None else {"score": score}),
                **fields,
            }
            for id_, score in ratings.items()
        ]
        for start in range(0, len(lines), 1_000):
            some = lines[start : start + 1_000]
            answer = self.upload(some)
            assert answer.json["accepted"] == len(some), answer.text
