"""Runs of decks in tests: samples, judges that answer as they are told, and steps of the worker."""

import json
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import boto3

from tests.providers.answers import Ask, Reply
from tests.support.decks import RUBRIC, new_deck, new_deck_grader
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import MODEL, Ledger, later

_MOST_STEPS = 60

Judge = Callable[[Ask], Reply | str | None]


def verdict(level: object, why: str = "it says so") -> str:
    """An answer as a judge of levels gives it."""
    return f"I compared the two.\nEXPLANATION: {why}\nVERDICT: {level}"


class DeckRuns:
    """A deck with samples, graders that judge them, and the worker of runs."""

    def __init__(self, ledger: Ledger, **deck: Any) -> None:
        self.ledger = ledger
        self.platform = ledger.platform
        self.deck_id: str = new_deck(self.platform, **deck)["id"]
        self.path = f"/api/v1/decks/{self.deck_id}"
        self.connection_id = ledger.connect(maxWaitSeconds=0)
        self.asked: list[Ask] = []

    def judging(self, judge: Judge) -> None:
        """Have the model answer so; what it is asked is kept."""

        def answer(ask: Ask) -> Reply | str | None:
            self.asked.append(ask)
            return judge(ask)

        self.ledger.fake.world.answers.answerer = answer

    def add_grader(self, *, active: bool = True, **fields: Any) -> str:
        """Add a grader, activated unless it is only to be proposed; return its id."""
        judge = {
            "connectionId": self.connection_id,
            "model": MODEL,
            "params": {"maxTokens": 200, "temperature": 0},
        }
        made = new_deck_grader(self.platform, self.deck_id, **{"judge": judge, **fields})
        path = f"{self.path}/graders/{made['id']}"
        if active:
            activated = self.platform.call("PATCH", path, {"status": "active"})
            assert activated.status == 200, activated.text
        grader_id: str = made["id"]
        return grader_id

    def new_version(self, grader_id: str, **rubric: Any) -> int:
        """Give a grader another version; return its number."""
        body = {"rubric": {**RUBRIC, **rubric}}
        made = self.platform.call("POST", f"{self.path}/graders/{grader_id}/versions", body)
        assert made.status == 201, made.text
        number: int = made.json["version"]["version"]
        return number

    def add_samples(self, *outputs: str, **fields: Any) -> list[str]:
        """Add a sample for each output; return their ids."""
        samples = [
            {"input": f"Summarise document {place}: {text}", "output": text, **fields}
            for place, text in enumerate(outputs)
        ]
        return self.add_whole_samples(samples)

    def add_whole_samples(self, samples: list[dict[str, Any]]) -> list[str]:
        """Add samples as they are; return their ids."""
        answer = self.platform.call("POST", f"{self.path}/samples", {"samples": samples})
        assert answer.status == 201, answer.text
        return [one["id"] for one in answer.json["samples"]]

    def estimate(self, **body: Any) -> dict[str, Any]:
        answer = self.platform.call("POST", f"{self.path}/estimate", body)
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json["estimate"]
        return found

    def start(self, key: str | None = None, **body: Any) -> dict[str, Any]:
        """Start a run; return it."""
        headers = {} if key is None else {"idempotency-key": key}
        answer = self.platform.call("POST", f"{self.path}/runs", body, headers=headers)
        assert answer.status == 202, answer.text
        run: dict[str, Any] = answer.json["run"]
        return run

    def read(self, run_id: str) -> dict[str, Any]:
        run: dict[str, Any] = self.platform.call("GET", f"{self.path}/runs/{run_id}").json["run"]
        return run

    def results(self, grader_id: str, **query: Any) -> list[dict[str, Any]]:
        """All results of a grader, page by page."""
        found: list[dict[str, Any]] = []
        while True:
            path = f"{self.path}/graders/{grader_id}/results"
            page = self.platform.call("GET", path, query=query).json
            found += page["results"]
            if "nextToken" not in page or page["nextToken"] is None:
                return found
            query["nextToken"] = page["nextToken"]

    def started(self) -> list[dict[str, Any]]:
        """The input of every execution that was started for a run."""
        return list(inputs_of("work_deck_run").values())

    def step(self, state: dict[str, Any], *, seconds: float = 300) -> dict[str, Any]:
        """Do one step of an execution, after as much time as has passed in the ledger."""
        with later(timedelta(seconds=self.ledger.passed)):
            left: dict[str, Any] = handler("functions.decks.advance_deck_run")(
                state, LambdaContext(seconds)
            )
        return left

    def step_edits(self, state: dict[str, Any]) -> dict[str, Any]:
        """Do one step of an execution that goes on with edits."""
        with later(timedelta(seconds=self.ledger.passed)):
            left: dict[str, Any] = handler("functions.decks.advance_deck_edits")(
                state, LambdaContext(120)
            )
        return left

    def sweep(self) -> int:
        with later(timedelta(seconds=self.ledger.passed)):
            swept = handler("functions.decks.sweep_runs")({}, LambdaContext(60))
        overdue: int = swept["overdue"]
        return overdue

    def ask_models(self, *, seconds: float = 61) -> None:
        """Have the sweeper begin what is due a while later, and the ledger ask it."""
        self.ledger.passed += seconds
        with later(timedelta(seconds=self.ledger.passed)):
            self.ledger.sweep()
            self.ledger.run()

    def state(self, run: dict[str, Any]) -> dict[str, Any]:
        """The input of the latest execution of a run."""
        (state, *_) = sorted(
            (one for one in self.started() if one.get("run_id") == run["id"]),
            key=lambda one: -one["redrive"],
        )
        return state

    def finish(self, run: dict[str, Any], *, asking: bool = True) -> dict[str, Any]:
        """Do the steps of a run until it ends, and have models asked between them; return it."""
        state = self.state(run)
        for _ in range(_MOST_STEPS):
            state = self.step(state)
            if state["done"]:
                break
            if asking:
                self.ask_models(seconds=max(61, state["wait_seconds"]))
        return self.read(run["id"])

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the deck as the ledger lists them."""
        query = {"deckId": self.deck_id, "limit": 100}
        found = self.platform.call("GET", "/api/v1/llm-requests", query=query)
        assert found.status == 200, found.text
        rows: list[dict[str, Any]] = found.json["requests"]
        return rows


def exposure(runs: DeckRuns, run: dict[str, Any]) -> int:
    """What a run has cost and may yet, by the ledger's rows and not by what the run says."""
    rows = [one for one in runs.rows() if one["labels"]["run"] == run["id"]]
    open_ = sum(one["boundNanoUsd"] for one in rows if one["status"] in ("queued", "submitted"))
    return open_ + sum(one["costNanoUsd"] or 0 for one in rows)


def counted(run: dict[str, Any]) -> dict[str, int]:
    """The counts of a run, whose sum is checked."""
    counts: dict[str, int] = run["counts"]
    parts = ("scored", "abstained", "failed", "canceled", "pending")
    assert counts["expected"] == sum(counts[name] for name in parts), counts
    return counts


def items_of(table: str, prefixes: Iterable[str] = ("",)) -> list[dict[str, Any]]:
    """All items of a table whose key begins with one of some prefixes."""
    pages = boto3.client("dynamodb").get_paginator("scan")
    found = pages.paginate(TableName=table, ConsistentRead=True)
    begins = tuple(prefixes)
    return [one for page in found for one in page["Items"] if one["pk"]["S"].startswith(begins)]


def texts_left() -> list[str]:
    """Sort keys of texts of rows that the ledger still has."""
    return [
        one["sk"]["S"]
        for one in items_of("ledger", ["llm_"])
        if one["sk"]["S"].startswith(("input", "output"))
    ]


def open_amount(organization_id: str) -> dict[str, int]:
    """How much an organisation has under way in the ledger."""
    (found,) = items_of("ledger", [f"open#{organization_id}"]) or [{}]
    return {name: int(json.loads(found.get(name, {"N": "0"})["N"])) for name in ("rows", "bytes")}
