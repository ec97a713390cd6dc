"""Edits of a system prompt: both prompts' responses by one model, labelled anew, compared."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune.protocol.deck_prompt_edits import PromptEffect
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.providers.answers import Ask, Reply
from tests.support.deck_runs import counted, exposure, texts_left
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger
from tests.support.prompt_edits import NEW, OLD, PromptEdits, said_by_ada


def change(deck: PromptEdits, edit_id: str, **fields: Any) -> None:
    """Change an edit as it is stored."""
    edits = PromptEditRepository(Table("decks", clients.dynamodb()))
    edit = edits.require(deck.deck_id, edit_id)
    after = edit.model_copy(update={**fields, "revision": edit.revision + 1})
    assert edits.change(edit, after)


def test_a_model_answers_drawn_inputs_under_both_prompts_within_a_cap(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=6)
    edit = deck.propose(groups=4, note="briefer")
    assert (edit["baseVersion"], edit["candidateVersion"], edit["status"]) == (1, 2, "proposed")
    now = deck.platform.call("GET", deck.path).json["deck"]
    assert (now["version"], now["systemPrompt"]) == (1, OLD), "it is not the current one"
    version = deck.platform.call("GET", f"{deck.path}/versions/2").json["version"]
    assert (version["systemPrompt"], version["parent"], version["note"]) == (NEW, 1, "briefer")

    price = deck.act(edit["id"], "estimate").json["estimate"]
    assert (price["samples"], price["requests"], price["known"], price["unusable"]) == (4, 8, 0, 0)
    assert 0 < price["estimateNanoUsd"] < price["boundNanoUsd"]
    assert (price["fits"], deck.asked, deck.rows()) == (True, [], [])

    started = deck.act(edit["id"], "generate").json["edit"]
    assert (started["status"], started["inputs"]) == ("generating", 4)
    assert deck.act(edit["id"], "generate").json["edit"]["runId"] == started["runId"]
    run = deck.finish(deck.read(started["runId"]))
    assert (run["kind"], run["status"], run["promptEditId"]) == (
        "generate",
        "completed",
        edit["id"],
    )
    assert counted(run)["scored"] == run["counts"]["expected"] == 8
    assert 0 < run["costNanoUsd"] == exposure(deck, run) <= run["boundNanoUsd"]
    assert {row["purpose"] for row in deck.rows()} == {"prompt_generation"}
    assert texts_left() == []

    made = deck.generated()
    assert len(made) == 8
    sources = {one["id"]: one for one in deck.of_version(1) if one["id"] in deck.sources}
    for one in made:
        whole = deck.platform.call("GET", f"{deck.path}/samples/{one['id']}").json["sample"]
        source = sources[one["sourceId"]]
        assert (one["groupKey"], one["split"]) == (source["groupKey"], source["split"])
        prompt, kind = (OLD, "long") if one["deckVersion"] == 1 else (NEW, "short")
        system, user = whole["request"]["messages"]
        assert (system["content"], user["content"]) == (prompt, source["inputExcerpt"])
        assert f"] {kind} " in one["outputExcerpt"]
        assert (one["promptEditId"], one["model"]) == (edit["id"], "small")
        assert (whole["request"]["max_tokens"], whole["request"]["temperature"]) == (50, 0)
    asked = [(ask.system, ask.texts) for ask in deck.asked]
    assert sorted(asked) == sorted(
        (prompt, (sources[id_]["inputExcerpt"],))
        for prompt in (OLD, NEW)
        for id_ in {one["sourceId"] for one in made}
    )
    assert deck.edit(edit["id"])["status"] == "generated"

    # A second run finds them, and pays nothing; another edit has both prompts answered anew.
    again = deck.generate(edit["id"])
    assert (again["counts"]["known"], again["costNanoUsd"], len(deck.asked)) == (8, 0, 8)
    other = deck.propose("Answer in verse.")
    price = deck.act(other["id"], "estimate").json["estimate"]
    assert (price["samples"], price["requests"], price["known"]) == (6, 12, 0)


def test_a_refused_response_fails_its_pair_alone_and_a_cap_stops_cleanly(ledger: Ledger) -> None:
    deck = PromptEdits(ledger)
    deck.refused = {"question 2?"}
    edit = deck.propose()
    run = deck.generate(edit["id"])
    assert run["status"] == "completed"
    assert (counted(run)["scored"], run["counts"]["failed"]) == (6, 2)
    other = deck.propose("Answer in verse.", groups=4)
    price = deck.act(other["id"], "estimate").json["estimate"]
    cap = price["boundNanoUsd"] // 8  # one at a time
    stopped = deck.generate(other["id"], capNanoUsd=cap)
    assert (stopped["status"], stopped["stoppedBecause"]) == ("stopped", "cap")
    assert exposure(deck, stopped) <= cap
    assert deck.edit(other["id"])["unfinished"] == "stopped"
    # What is missing can be asked for by another run, of the same inputs.
    deck.add_inputs(4)
    price = deck.act(other["id"], "estimate").json["estimate"]
    assert (price["samples"], price["known"]) == (4, stopped["counts"]["scored"])
    whole = deck.generate(other["id"])
    assert whole["status"] == "completed"
    assert whole["counts"]["known"] == stopped["counts"]["scored"]


def test_inputs_that_cannot_be_asked_so_are_left_out_and_counted(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=1, systemPrompt="Answer {{name}}.")
    answer = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}
    of_ada = [
        {"role": "system", "content": "Answer Ada."},
        {"role": "user", "content": "question 7?"},
    ]
    turns = [*of_ada, {"role": "assistant", "content": "?"}, {"role": "user", "content": "so"}]
    image = [of_ada[0], {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]
    other = [{"role": "system", "content": "Be rude."}, of_ada[1]]
    deck.add_whole_samples(
        [
            {"request": {"messages": messages, **more}, "response": answer}
            for messages, more in (
                (of_ada, {}),
                (turns, {}),
                (image, {}),
                (other, {}),
                (of_ada, {"tools": [{"type": "function"}]}),
            )
        ]
    )
    refused = deck.try_proposing("Answer {{whom}}.")
    assert (refused.status, set(refused.fields)) == (422, {"systemPrompt"})
    edit = deck.propose("Answer {{name}} briefly.")
    price = deck.act(edit["id"], "estimate").json["estimate"]
    assert (price["samples"], price["unusable"]) == (1, 5)
    deck.generate(edit["id"])
    assert sorted(ask.system for ask in deck.asked) == ["Answer Ada briefly.", "Answer Ada."]


def test_a_stored_response_is_no_draw_under_the_old_prompt(ledger: Ledger) -> None:
    """What people complain of is uploaded: any prompt would be better than that."""
    deck = PromptEdits(ledger, samples=0)
    messages = [{"role": "system", "content": OLD}, {"role": "user", "content": "question 1?"}]
    answer = {"choices": [{"message": {"role": "assistant", "content": "the worst of many"}}]}
    request = {"messages": messages, "model": "small", "max_tokens": 50, "temperature": 0.0}
    deck.add_whole_samples([{"request": request, "response": answer, "provider": "simulated"}])
    edit = deck.propose()
    price = deck.act(edit["id"], "estimate").json["estimate"]
    assert (price["samples"], price["requests"], price["known"]) == (1, 2, 0)
    run = deck.generate(edit["id"])
    assert (run["counts"]["scored"], run["counts"]["known"]) == (2, 0)
    assert sorted(one["deckVersion"] for one in deck.generated()) == [1, 2]


def test_a_response_that_was_deleted_is_not_made_until_it_pleases(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=2)
    edit = deck.propose()
    deck.generate(edit["id"])
    one = next(one for one in deck.generated() if one["deckVersion"] == 2)
    deck.platform.call("DELETE", f"{deck.path}/samples/{one['id']}")
    price = deck.act(edit["id"], "estimate").json["estimate"]
    assert (price["samples"], price["requests"], price["known"]) == (2, 0, 3)
    run = deck.generate(edit["id"])
    assert (run["counts"]["known"], run["counts"]["canceled"]) == (3, 1)
    assert (len(deck.generated()), len(deck.asked)) == (3, 4)
    (effect,) = deck.act(edit["id"], "measure").json["edit"]["effects"]
    assert (effect["inputs"], effect["pairs"]) == (2, 1)
    assert effect["insufficientBecause"] == "missing_responses"


def test_a_prompt_under_which_a_model_refuses_is_not_better(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=60)
    deck.refused_under_new = {f"question {one}?" for one in range(4)}
    edit = deck.propose()
    deck.generate(edit["id"])
    made = deck.generated()
    deck.label([one for one in made if one["deckVersion"] == 1])
    deck.label([one for one in made if one["deckVersion"] == 2])
    measured = deck.act(edit["id"], "measure").json["edit"]
    (effect,) = measured["effects"]
    assert effect["new"]["labels"] == 56, "there are labels enough"
    answered = (effect["inputs"], effect["old"]["answered"], effect["new"]["answered"])
    assert answered == (60, 60, 56)
    assert (effect["outcome"], effect["delta"], measured["look"]) == ("insufficient", None, None)
    assert effect["insufficientBecause"] == "missing_responses"
    refused = deck.act(edit["id"], "accept")
    assert (refused.status, "56 under the new" in refused.json["detail"]) == (409, True)


def test_another_model_of_the_same_name_leaves_nothing_to_claim(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=2)

    def answer(ask: Ask) -> Reply:
        is_newer = ask.system == NEW and "question 1?" in ask.texts
        return Reply(deck.answer(ask), served_model="m-2" if is_newer else "m-1")

    deck.judging(answer)
    edit = deck.propose()
    deck.generate(edit["id"])
    (effect,) = deck.act(edit["id"], "measure").json["edit"]["effects"]
    assert (effect["pairs"], effect["otherModel"]) == (2, 1)
    assert (effect["outcome"], effect["insufficientBecause"]) == ("insufficient", "other_model")
    refused = deck.act(edit["id"], "accept")
    assert (refused.status, "another model" in refused.json["detail"]) == (409, True)
    assert deck.act(edit["id"], "accept", consent=True).status == 200


def test_what_was_said_before_the_run_takes_the_pair_out(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=2)
    edit = deck.propose()
    deck.generate(edit["id"])
    deck.label([deck.generated()[0]])
    (effect,) = deck.act(edit["id"], "measure").json["edit"]["effects"]
    assert (effect["pairs"], effect["insufficientBecause"]) == (2, None)
    change(deck, edit["id"], started_at=datetime.now(UTC) + timedelta(days=1))
    (effect,) = deck.act(edit["id"], "measure").json["edit"]["effects"]
    assert (effect["pairs"], effect["old"]["answered"]) == (1, 2)
    assert effect["insufficientBecause"] == "missing_responses"


def test_a_grader_that_said_worse_is_not_silenced_by_setting_it_inactive(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=1)
    edit = deck.propose()
    deck.generate(edit["id"])
    (effect,) = deck.act(edit["id"], "measure").json["edit"]["effects"]
    said = {**effect, "graderId": "grd_inactive", "graderName": "kind", "outcome": "worse"}
    change(deck, edit["id"], effects=[PromptEffect.model_validate(said)])
    measured = deck.act(edit["id"], "measure").json["edit"]
    assert [one["graderName"] for one in measured["effects"]] == ["brief", "kind"]
    refused = deck.act(edit["id"], "accept")
    assert (refused.status, "worse by kind" in refused.json["detail"]) == (409, True)


def test_a_prompt_has_no_words_of_what_it_is_measured_on(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=1)
    question = "At what degree does tungsten hexafluoride boil near the sea?"
    deck.add_whole_samples([{"input": question, "output": "At seventeen."}])
    refused = deck.try_proposing(f"{OLD} For example: {question} At seventeen.")
    assert (refused.status, set(refused.fields)) == (422, {"systemPrompt"})
    later = "At what degree does uranium hexafluoride boil near the sea?"
    edit = deck.propose(f"{OLD} For example: {later} At fifty-six.")
    deck.add_whole_samples([{"input": later, "output": "At fifty-six."}])
    refused = deck.act(edit["id"], "generate")
    assert (refused.status, "words in a row" in refused.json["detail"]) == (409, True)


def test_a_bound_is_of_the_prompt_as_it_is_filled_in(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=0, systemPrompt="Answer {{name}}.")
    messages = [
        {"role": "system", "content": f"Answer {'Ada' * 1_000}."},
        {"role": "user", "content": "question 1?"},
    ]
    answer = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}
    deck.add_whole_samples([{"request": {"messages": messages}, "response": answer}])
    bounds = [
        deck.act(deck.propose(prompt)["id"], "estimate").json["estimate"]["boundNanoUsd"]
        for prompt in ("Answer {{name}} briefly.", "Answer {{name}} {{name}} {{name}} briefly.")
    ]
    assert bounds[1] > 1.5 * bounds[0]


def test_what_was_generated_goes_with_its_source(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=2)
    edit = deck.propose()
    deck.generate(edit["id"])
    first, second = deck.sources
    gone = deck.platform.call("DELETE", f"{deck.path}/samples/{first}")
    assert gone.status == 204
    assert {one["sourceId"] for one in deck.generated()} == {second}
    assert deck.platform.call("GET", deck.path).json["deck"]["samples"] == 3


def test_an_input_that_is_deleted_while_it_is_answered_leaves_no_response(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=2)
    edit = deck.propose()
    started = deck.act(edit["id"], "generate").json["edit"]
    run = deck.read(started["runId"])
    state = deck.step(deck.state(run))
    assert not state["done"]
    deck.platform.call("DELETE", f"{deck.path}/samples/{deck.sources[0]}")
    run = deck.finish(run)
    assert (run["counts"]["scored"], run["counts"]["canceled"]) == (2, 2)
    assert {one["sourceId"] for one in deck.generated()} == {deck.sources[1]}


@pytest.mark.parametrize("labels", [40, 60])
def test_an_effect_is_claimed_with_labels_enough_and_each_showing_spends_a_look(
    ledger: Ledger, labels: int
) -> None:
    deck = PromptEdits(ledger, samples=80)
    # What was said before the run began says nothing of the responses.
    edit = deck.propose(labels=max(50, labels))
    refused = deck.act(edit["id"], "measure")
    assert refused.status == 409
    deck.generate(edit["id"])
    made = deck.generated()
    arms = [[one for one in made if one["deckVersion"] == version] for version in (1, 2)]
    for arm in arms:
        deck.label(arm[:labels])
    # Which responses are judged is chosen: what the judge says counts once it has judged all.
    chosen = [one["id"] for one in made if "long 0" in one["outputExcerpt"]]
    deck.finish(deck.start(sampleIds=[*chosen, *(one["id"] for one in arms[1])]))
    measured = deck.act(edit["id"], "measure").json["edit"]
    (effect,) = measured["effects"]
    assert (effect["inputs"], effect["pairs"], effect["insufficientBecause"]) == (80, 80, None)
    assert (effect["old"]["labels"], effect["new"]["labels"]) == (labels, labels)
    assert (effect["old"]["unjudged"], effect["new"]["unjudged"]) == (80 - len(chosen), 0)
    assert effect["new"]["judged"] == 80 - labels
    if labels < 50:
        assert (effect["outcome"], effect["delta"], measured["look"]) == (
            "insufficient",
            None,
            None,
        )
        assert effect["new"]["mean"] is None
        assert effect["new"]["insufficientBecause"] == "few_labels"
        needs = deck.act(edit["id"], "accept")
        assert (needs.status, "consent" in needs.json["detail"]) == (409, True)
        assert deck.act(edit["id"], "accept", consent=True).json["edit"]["consented"]
        return
    assert (effect["outcome"], measured["look"]) == ("better", 1)
    assert effect["low"] < effect["delta"] < effect["high"]
    assert effect["delta"] == pytest.approx(2, abs=0.5)
    assert effect["confidence"] == pytest.approx(0.95)
    said = [said_by_ada(one["outputExcerpt"]) for one in arms[0][:labels]]
    assert effect["old"]["mean"]["value"] == pytest.approx(sum(said) / labels)
    deck.judge(edit["id"])
    again = deck.act(edit["id"], "measure").json["edit"]
    assert again["effects"][0]["old"]["unjudged"] == 0
    assert again["effects"][0]["old"]["judged"] == 80 - labels
    assert again["look"] == 2, "each showing spends one"
    assert again["effects"][0]["confidence"] == pytest.approx(0.975)
    assert deck.edit(edit["id"])["look"] == 2, "reading spends none"

    accepted = deck.act(edit["id"], "accept").json["edit"]
    assert (accepted["status"], accepted["consented"]) == ("accepted", False)
    assert deck.act(edit["id"], "accept").json["edit"] == accepted
    now = deck.platform.call("GET", deck.path).json["deck"]
    assert (now["version"], now["systemPrompt"]) == (2, NEW)
    assert deck.act(edit["id"], "reject").status == 409
    back = deck.act(edit["id"], "rollback", reason="too short").json["edit"]
    assert (back["status"], back["reason"]) == ("rolled_back", "too short")
    assert deck.platform.call("GET", deck.path).json["deck"]["version"] == 1
    assert len(deck.of_version(2)) == 80, "nothing is overwritten"


def test_an_edit_of_another_version_than_the_current_one_is_not_accepted(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=1)
    edit = deck.propose()
    assert deck.try_proposing(OLD).status == 422
    deck.platform.call("POST", f"{deck.path}/versions", {"systemPrompt": "Be brief."})
    assert deck.act(edit["id"], "accept", consent=True).status == 409
    assert deck.try_proposing(baseVersion=1).status == 409
    rejected = deck.act(edit["id"], "reject", reason="late").json["edit"]
    assert rejected["status"] == "rejected"
    assert deck.act(edit["id"], "reject").json["edit"] == rejected
    assert deck.act(edit["id"], "generate").status == 409
    listed = deck.platform.call("GET", f"{deck.path}/prompt-edits").json["edits"]
    assert [one["id"] for one in listed] == [edit["id"]]


def test_a_deck_is_not_pointed_at_a_prompt_that_an_edit_tries(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=1)
    edit = deck.propose()

    def point(version: int) -> Answer:
        return deck.platform.call("PATCH", deck.path, {"version": version})

    refused = point(2)
    assert (refused.status, "accept the edit" in refused.json["detail"]) == (409, True)
    assert edit["id"] in refused.json["detail"]
    assert deck.platform.call("GET", deck.path).json["deck"]["version"] == 1
    assert deck.platform.call("PATCH", deck.path, {"name": "other"}).status == 200
    assert deck.act(edit["id"], "accept", consent=True).status == 200
    # Once that is decided, the versions are as any others.
    assert [point(version).status for version in (1, 2)] == [200, 200]
