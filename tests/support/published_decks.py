"""Decks whose graders are published, and score."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

from autotune.protocol.signing import sign_api_request
from tests.providers.answers import Ask, Reply
from tests.support import platform as platform_module
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.ledger import Ledger, later


class PublishedDeck(DeckRuns):
    """A deck whose judge reads the level from the response, and says which model it is."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger, holdoutShare=1)
        self.model: str | None = None
        self.off = 0
        self.judging(self._judge)
        self.sample_ids: list[str] = []

    def _judge(self, ask: Ask) -> Any:
        (worth,) = set(re.findall(r"worth-(\d)", ask.prompt))
        level = max(-3, min(3, int(worth) - 3 + self.off))
        return Reply(verdict(level), served_model=self.model)

    def add_levels(self, count: int) -> None:
        """Add samples of all levels in turn."""
        outputs = [f"Answer {place} worth-{place % 7}" for place in range(count)]
        self.sample_ids += self.add_samples(*outputs)

    def label(self, grader_id: str, *, miss: int = 2, since: int = 0) -> None:
        """Have a person rate samples as the judge does, but for one in so many.

        Where judge and person agree on all but one, there is no interval, and so no calibration:
        every second it is, of which any twenty that are drawn have several.

        Args:
            since: the place of the first of them.
        """
        lines = []
        for place, id_ in list(enumerate(self.sample_ids))[since:]:
            level = place % 7 - 3
            level += (1 if level < 0 else -1) if place % miss == 0 else 0
            line = {"sampleId": id_, "rater": "ada", "selection": "random", "score": level}
            lines.append(json.dumps(line))
        path = f"{self.path}/graders/{grader_id}/feedback/bulk"
        answer = self.platform.call("POST", path, raw="\n".join(lines).encode())
        assert answer.json["accepted"] == len(lines), answer.text

    def publish(self, grader_id: str) -> dict[str, Any]:
        """Publish a grader; return it."""
        answer = self.platform.call("POST", f"{self.path}/graders/{grader_id}/publish")
        assert answer.status == 200, answer.text
        grader: dict[str, Any] = answer.json["grader"]
        return grader

    def registered(self, grader: dict[str, Any]) -> dict[str, Any]:
        """What tasks name, of a deck's grader."""
        path = f"/api/v1/graders/{grader['published']['graderId']}"
        found: dict[str, Any] = self.platform.call("GET", path).json["grader"]
        return found

    def score(self, task_id: str, *worths: int) -> list[dict[str, Any]]:
        """Submit completions and have them judged; return their verdicts."""
        completions = [{"response": f"Answer worth-{worth}"} for worth in worths]
        accepted = self.platform.submit(task_id, *completions).json
        before = {run["run_id"] for run in self.platform.runs()}
        self.platform.dispatch(self.platform.queued())
        runs = [one for one in self.platform.runs() if one["run_id"] not in before]
        left = [self.platform.grade(run) for run in runs]
        self.ask_models()
        for run in left:
            with later(timedelta(seconds=self.ledger.passed)):
                self.platform.grade(run)
        found: list[dict[str, Any]] = self.platform.batch(accepted["batchId"])["verdicts"]
        return found

    @contextmanager
    def at_its_time(self) -> Iterator[None]:
        """Have requests come when as much time has passed as in the ledger."""
        signed = partial(sign_api_request, timestamp=int(time.time() + self.ledger.passed))
        with (
            later(timedelta(seconds=self.ledger.passed)),
            patch.object(platform_module, "sign_api_request", signed),
        ):
            yield
