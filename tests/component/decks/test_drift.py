"""A published judge that fresh labels speak against scores no more, until it is measured anew."""

from collections.abc import Iterator
from typing import Any

import pytest

from autotune_platform.graders.suspending import CalibrationKeeper
from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.outbox import event_in
from tests.support.ledger import MODEL, Ledger
from tests.support.published_decks import PublishedDeck

SAMPLES = 63
FRESH = 20


class DriftingDeck(PublishedDeck):
    """A deck that is published and calibrated, whose judge may change under the same name."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.grader_id = self.add_grader()
        self.add_levels(SAMPLES)
        self.label(self.grader_id)
        self.finish(self.start())
        with self.at_its_time():
            self.published = self.publish(self.grader_id)
        assert self.published["uncalibratedBecause"] is None
        self.task_id = self.platform.new_task(self.registered(self.published)["id"])

    def capture(self, count: int = FRESH, *, labels_first: bool = False) -> list[str]:
        """Take samples that came since, and have them judged and labelled; return their ids."""
        start = len(self.sample_ids)
        self.add_levels(count)
        if labels_first:
            with self.at_its_time():
                self.label(self.grader_id, since=start)
        self.finish(self.start(sampleIds=self.sample_ids[start:]))
        if not labels_first:
            with self.at_its_time():
                self.label(self.grader_id, since=start)
        return self.sample_ids[start:]

    def rated_one_by_one(self) -> Iterator[str]:
        """Have a person rate what the inbox gives, as it deserves; yield what they rated."""
        anna = self.platform.new_key("reviewer", principal_id="anna")
        path = f"{self.path}/graders/{self.grader_id}/feedback"
        with self.at_its_time():
            while (given := self.platform.call("GET", f"{path}/next", api_key=anna).json)["next"]:
                sample = given["next"]["sample"]
                body = {
                    "sampleId": sample["id"],
                    "score": int(sample["response"]["content"][-1]) - 3,
                }
                rated = self.platform.call("POST", path, body, api_key=anna)
                assert rated.status == 200, rated.text
                assert self.platform.call("POST", path, body, api_key=anna).json == rated.json
                yield sample["id"]

    def read_grader(self) -> dict[str, Any]:
        answer = self.platform.call("GET", f"{self.path}/graders/{self.grader_id}")
        grader: dict[str, Any] = answer.json["grader"]
        return grader

    def agreement(self) -> dict[str, Any]:
        path = f"{self.path}/graders/{self.grader_id}/agreement"
        with self.at_its_time():
            found: dict[str, Any] = self.platform.call("POST", path, {}).json["agreement"]
        return found

    def publish_now(self) -> dict[str, Any]:
        with self.at_its_time():
            return self.publish(self.grader_id)

    def events(self) -> list[dict[str, Any]]:
        """What events say of calibrations."""
        records = self.platform.stored_events()
        events = [event_in(Change.from_record(record)) for record in records]
        return [one.data for one in events if one.type == "grader.calibration_suspended"]


@pytest.fixture
def deck(ledger: Ledger) -> DriftingDeck:
    return DriftingDeck(ledger)


def test_twenty_fresh_labels_suspend_a_judge_that_changed_under_its_name(
    deck: DriftingDeck,
) -> None:
    assert deck.agreement()["published"]["fresh"] == {
        "labels": 0,
        "hits": 0,
        "predicted": None,
        "looks": 0,
    }
    deck.capture()
    held = deck.agreement()["published"]
    assert (held["fresh"]["looks"], held["uncalibratedBecause"]) == (1, None), "it is as it was"
    deck.off = 4
    deck.capture(FRESH - 1)
    open_ = deck.agreement()["published"]["fresh"]
    assert (open_["labels"], open_["looks"]) == (FRESH - 1, 1)
    assert deck.read_grader()["uncalibratedBecause"] is None, "nineteen say nothing"
    deck.capture(1)

    grader = deck.read_grader()
    assert grader["uncalibratedBecause"] == "drifted"
    suspended = grader["calibration"]["suspended"]
    assert (suspended["labels"], suspended["hits"]) == (
        FRESH,
        open_["hits"] + suspended["hits"] - open_["hits"],
    )
    assert suspended["hits"] / FRESH < suspended["predicted"]
    assert suspended["probability"] <= 0.01
    registered = deck.registered(grader)
    assert registered["calibrated"] is False
    assert registered["rubric"]["answer"]["calibration"]["suspended"]["labels"] == FRESH
    assert registered["version"] == grader["published"]["graderVersion"]
    (event,) = deck.events()
    assert (event["graderId"], event["model"], event["labels"]) == (registered["id"], MODEL, FRESH)
    published = deck.agreement()["published"]
    assert (published["isCurrent"], published["version"]) == (True, 1)
    assert published["uncalibratedBecause"] == "drifted"
    assert published["fresh"]["labels"] == FRESH

    asked = len(deck.asked)
    (found,) = deck.score(deck.task_id, 5)
    assert (found["state"], found["reasonCode"]) == ("abstained", "calibration_suspended")
    assert len(deck.asked) == asked, "nobody is asked, and nothing paid"
    refused = deck.platform.call(
        "POST",
        "/api/v1/tasks",
        {"name": "t", "graders": [{"graderId": registered["id"]}], "uncalibrated": "refuse"},
    )
    assert (refused.status, refused.json["code"]) == (409, "grader_not_calibrated")
    assert "fresh labels spoke against it" in refused.json["detail"]
    deck.agreement()
    assert deck.publish_now() == grader, "nothing was measured since"
    assert len(deck.events()) == 1


def test_a_judge_that_drifted_comes_back_by_what_it_says_since(deck: DriftingDeck) -> None:
    deck.off = 4
    fresh = deck.capture()
    assert deck.read_grader()["uncalibratedBecause"] == "drifted"
    deck.off = 0
    # What was right before it drifted says nothing of what it is now.
    deck.finish(deck.start(repeat=True, sampleIds=deck.sample_ids[:40]))
    assert deck.publish_now()["uncalibratedBecause"] == "drifted", (
        "it is judged where it erred, too"
    )
    deck.finish(deck.start(repeat=True, sampleIds=fresh))
    back = deck.publish_now()
    assert back["uncalibratedBecause"] is None
    calibration = back["calibration"]
    assert (calibration["n"], calibration.get("suspended")) == (60, None)
    assert deck.registered(back)["calibrated"]
    (found,) = deck.score(deck.task_id, 5)
    assert found["state"] == "scored"
    assert deck.publish_now() == back
    fresh = deck.agreement()["published"]["fresh"]
    assert (fresh["labels"], fresh["looks"]) == (0, 0), "what brought it back is not fresh"


def test_those_that_showed_drift_are_enough_to_be_judged_again_and_others_are_not(
    deck: DriftingDeck,
) -> None:
    deck.off = 4
    fresh = deck.capture()
    deck.off = 0
    deck.finish(deck.start(repeat=True, sampleIds=fresh))
    back = deck.publish_now()
    assert (back["uncalibratedBecause"], back["calibration"]["n"]) == (None, FRESH)
    # What somebody picks says nothing of another model.
    deck.model = "small-2027"
    deck.finish(deck.start(repeat=True, sampleIds=fresh))
    assert deck.publish_now() == back


def test_a_judge_that_errs_still_does_not_come_back(deck: DriftingDeck) -> None:
    deck.off = 4
    deck.capture()
    run = deck.finish(deck.start(repeat=True, labelled=True))
    assert run["counts"]["scored"] == len(deck.sample_ids), "all that people rated"
    assert deck.publish_now()["uncalibratedBecause"] == "drifted"
    # Another version is measured by what its own judge said, and by no labels of before.
    deck.new_version(deck.grader_id, criteria="Is it short?")
    other = deck.publish_now()
    assert (other["uncalibratedBecause"], other["calibration"]) == ("not_judged", None)


def test_labels_that_come_before_the_judge_count_once_it_said_something(
    deck: DriftingDeck,
) -> None:
    deck.off = 4
    deck.capture(labels_first=True)
    assert deck.read_grader()["uncalibratedBecause"] == "drifted", "the run looks at its end"
    assert len(deck.events()) == 1


def test_ratings_one_by_one_look_at_each_twentieth(deck: DriftingDeck) -> None:
    deck.off = 4
    start = len(deck.sample_ids)
    deck.add_levels(FRESH + 2)
    deck.finish(deck.start(sampleIds=deck.sample_ids[start:]))
    fresh = set(deck.sample_ids[start:])
    said: set[str] = set()
    for sample_id in deck.rated_one_by_one():
        said.add(sample_id)
        if len(said & fresh) == FRESH:
            break
        assert deck.read_grader()["uncalibratedBecause"] is None, len(said)
    assert len(said) > FRESH, "what others rated before is no fresh label"
    assert deck.read_grader()["uncalibratedBecause"] == "drifted"
    assert len(deck.events()) == 1


def test_a_look_that_was_killed_halfway_is_done_by_the_next(
    deck: DriftingDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck.off = 4
    deck.capture(FRESH - 1)
    suspend = CalibrationKeeper.suspend

    def killed(self: CalibrationKeeper, *args: Any) -> bool:
        suspend(self, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(CalibrationKeeper, "suspend", killed)
        with pytest.raises(KeyboardInterrupt):
            deck.capture(1)
    assert not deck.registered(deck.published)["calibrated"], "tasks stopped first"
    assert deck.read_grader()["uncalibratedBecause"] is None
    assert deck.agreement()["published"]["uncalibratedBecause"] == "drifted"
    assert deck.read_grader()["calibration"]["suspended"]["labels"] == FRESH
    assert len(deck.events()) == 1


def test_labels_of_another_system_prompt_say_nothing_of_what_is_published(
    deck: DriftingDeck,
) -> None:
    made = deck.platform.call("POST", f"{deck.path}/versions", {"systemPrompt": "Answer in verse."})
    assert made.status == 201, made.text
    deck.off = 4
    deck.capture()
    held = deck.agreement()["published"]
    assert (held["version"], held["uncalibratedBecause"]) == (1, None)
    assert (held["fresh"]["labels"], held["fresh"]["looks"]) == (0, 0)
    start = len(deck.sample_ids)
    deck.add_levels(FRESH)
    deck.finish(deck.start(sampleIds=deck.sample_ids[start:]))
    said = {*deck.rated_one_by_one()}
    assert said >= set(deck.sample_ids[start:])
    assert deck.read_grader()["uncalibratedBecause"] is None, "nor does the twentieth look"
    # What has the prompt that was published with does, whichever is the current one.
    assert deck.platform.call("PATCH", deck.path, {"version": 1}).status == 200
    deck.capture()
    assert deck.read_grader()["uncalibratedBecause"] == "drifted"
