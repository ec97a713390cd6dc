"""What judges and people said for a grader that is deleted goes with it, however it was deleted."""

from datetime import timedelta

import pytest

from tests.component.decks.test_deleting import clock, erase, left
from tests.support.clock import TurnedClock
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.ledger import Ledger

__all__ = ["clock"]


def tried_and_deleted(ledger: Ledger) -> tuple[DeckRuns, str, str]:
    """A deck whose proposed grader was tried on a sample, rated, and deleted."""
    runs = DeckRuns(ledger, holdoutShare=0)
    runs.judging(lambda ask: verdict(2, "SECRET of the judge"))
    grader_id = runs.add_grader(active=False)
    (sample_id,) = runs.add_samples("alpha")
    ended = runs.finish(runs.start(graderIds=[grader_id], sampleIds=[sample_id]))
    assert ended["status"] == "completed"
    path = f"{runs.path}/graders/{grader_id}"
    said = {"sampleId": sample_id, "score": 1, "explanation": "SECRET of a person"}
    assert runs.platform.call("POST", f"{path}/feedback", said).status == 200
    assert runs.platform.call("DELETE", path).status == 204
    return runs, grader_id, sample_id


@pytest.mark.parametrize("deck_too", [False, True])
def test_a_deleted_grader_takes_all_along_that_was_said_for_it(
    ledger: Ledger, clock: TurnedClock, deck_too: bool
) -> None:
    runs, grader_id, sample_id = tried_and_deleted(ledger)
    assert any("feedback#" in one for one in left(grader_id))
    if deck_too:
        assert runs.platform.call("DELETE", runs.path).status == 204
    erase()
    named = [one for one in left(grader_id) if runs.deck_id not in one and "ledger" not in one]
    assert named == [], "nothing in its own partition, and nothing that leads there"
    clock.ahead = timedelta(hours=1, seconds=1)
    erase()
    assert [one for one in left(grader_id) if "gone#" in one] == []
    if not deck_too:
        found = runs.platform.call("GET", f"{runs.path}/samples/{sample_id}/results")
        assert (found.status, found.json["results"]) == (200, [])
