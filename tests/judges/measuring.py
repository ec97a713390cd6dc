"""Measures through the API how far a judge agrees with people: from a deck to its κ.

It is handed what calls the API, so that a whole stack and the handlers in a test's process are
measured alike.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

from tests.judges.prompts import RubricText

SAMPLES_AT_ONCE = 100
LINES_AT_ONCE = 1_000
MAX_TOKENS = 2_000
T = TypeVar("T")


class Api(Protocol):
    """Calls the API as one organisation, and lets time pass."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Returns the JSON of a successful answer; ``bytes`` are sent as JSON Lines."""

    def let_it_work(self) -> None:
        """Lets what was started go on for a while."""


@dataclass(frozen=True)
class Shown:
    """A sample to upload.

    Attributes:
        group: Samples with the same one are never parted.
    """

    input: str
    output: str
    group: str | None = None


@dataclass(frozen=True)
class Rated:
    """One person's rating; ``score`` is None where the rubric does not apply."""

    sample_id: str
    rater: str
    score: int | None


class MeasuredDeck:
    """A deck that is made by the API.

    Args:
        connection_id: Of the judge's server.
        model: Of the judge.

    Attributes:
        id: Of the deck.
    """

    def __init__(
        self,
        api: Api,
        *,
        system_prompt: str,
        connection_id: str,
        model: str,
        holdout_share: float = 1.0,
    ) -> None:
        self._api = api
        self._judge = {
            "connectionId": connection_id,
            "model": model,
            "params": {"maxTokens": MAX_TOKENS},
        }
        body = {
            "name": "measured",
            "systemPrompt": system_prompt,
            "holdoutShare": holdout_share,
        }
        self.id: str = api.call("POST", "/decks", body)["deck"]["id"]

    def add_samples(self, samples: Iterable[Shown]) -> list[str]:
        """Uploads samples; returns their ids in the same order."""
        added: list[str] = []
        for some in _batches(samples, SAMPLES_AT_ONCE):
            body = {
                "samples": [
                    {
                        "input": one.input,
                        "output": one.output,
                        **({"groupKey": one.group} if one.group else {}),
                    }
                    for one in some
                ]
            }
            answer = self._call("POST", "/samples", body)
            added += [one["id"] for one in answer["samples"]]
        return added

    def add_grader(self, name: str, rubric: RubricText) -> str:
        """Makes a grader and activates it; returns its id."""
        body = {"name": name, "rubric": wire(rubric), "judge": self._judge}
        grader_id: str = self._call("POST", "/graders", body)["grader"]["id"]
        self._call("PATCH", f"/graders/{grader_id}", {"status": "active"})
        return grader_id

    def add_version(self, grader_id: str, rubric: RubricText) -> int:
        """Makes another version of a grader, which becomes the current one; returns its number."""
        body = {"rubric": wire(rubric)}
        made = self._call("POST", f"/graders/{grader_id}/versions", body)["version"]
        return int(made["version"])

    def grade(self, grader_ids: Sequence[str], *, steps: int = 1_000) -> dict[str, Any]:
        """Has all samples judged by the current versions; returns the run once it has ended.

        Raises:
            AssertionError: If it runs for ever, or ends otherwise than completed.
        """
        chosen = {"graderIds": list(grader_ids)}
        estimate = self._call("POST", "/estimate", chosen)["estimate"]
        body = {**chosen, "capNanoUsd": estimate["boundNanoUsd"]}
        run: dict[str, Any] = self._call("POST", "/runs", body)["run"]
        for _ in range(steps):
            if run["status"] != "running":
                break
            self._api.let_it_work()
            run = self._call("GET", f"/runs/{run['id']}")["run"]
        assert run["status"] == "completed", run
        counts = run["counts"]
        of_each = ("scored", "abstained", "failed", "canceled", "pending")
        assert counts["expected"] == sum(counts[name] for name in of_each), run
        assert counts["pending"] == counts["canceled"] == 0, run
        assert run["costNanoUsd"] <= run["capNanoUsd"], run
        return run

    def import_ratings(self, grader_id: str, ratings: Iterable[Rated]) -> None:
        """Uploads what people said, of samples that were drawn.

        Raises:
            AssertionError: If a line is refused.
        """
        for some in _batches(ratings, LINES_AT_ONCE):
            lines = [
                {
                    "sampleId": one.sample_id,
                    "rater": one.rater,
                    "selection": "random",
                    **({"doesNotApply": True} if one.score is None else {"score": one.score}),
                }
                for one in some
            ]
            content = "".join(json.dumps(line) + "\n" for line in lines).encode()
            found = self._call("POST", f"/graders/{grader_id}/feedback/bulk", content)
            assert found["rejected"] == [], found["rejected"][:3]
            assert found["accepted"] + found["repeated"] == len(lines)

    def results(self, grader_id: str) -> list[dict[str, Any]]:
        """Results of a grader's current version, page by page."""
        found: list[dict[str, Any]] = []
        path = query = f"/graders/{grader_id}/results?limit=100"
        while True:
            page = self._call("GET", query)
            found += page["results"]
            if not page.get("nextToken"):
                return found
            query = f"{path}&nextToken={page['nextToken']}"

    def agreement(self, grader_id: str, version: int) -> dict[str, Any]:
        """How far a version agrees with people."""
        path = f"/graders/{grader_id}/agreement"
        found: dict[str, Any] = self._call("POST", path, {"version": version})["agreement"]
        return found

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        return self._api.call(method, f"/decks/{self.id}{path}", body)


def wire(rubric: RubricText) -> dict[str, Any]:
    """A rubric as callers of the API send it."""
    sent: dict[str, Any] = {"criteria": rubric.criteria, "levels": list(rubric.levels)}
    if rubric.not_applicable_when:
        sent["notApplicableWhen"] = rubric.not_applicable_when
    if rubric.examples:
        sent["examples"] = [
            {"input": given, "output": said, "level": level, "explanation": "It was judged so."}
            for given, said, level in rubric.examples
        ]
    return sent


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
