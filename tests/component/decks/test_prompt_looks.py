"""Edits of system prompts: planned numbers of labels, looks of the deck, and blind raters."""

from tests.support.ledger import Ledger
from tests.support.prompt_edits import NEW, OLD, PromptEdits


def arms(deck: PromptEdits, edit: dict[str, object]) -> list[list[dict[str, object]]]:
    """Return an edit's responses under either version."""
    made = [
        one
        for version in (edit["baseVersion"], edit["candidateVersion"])
        for one in deck.of_version(int(str(version)))
        if one["promptEditId"] == edit["id"]
    ]
    return [
        [one for one in made if one["deckVersion"] == edit[name]]
        for name in ("baseVersion", "candidateVersion")
    ]


def test_labels_beyond_the_planned_number_wait_for_the_next_one(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=110)
    refused = deck.try_proposing(labels=49)
    assert (refused.status, set(refused.fields)) == (422, {"labels"})
    edit = deck.propose()
    assert edit["labels"] == 50
    deck.generate(edit["id"])
    both = arms(deck, edit)
    for arm in both:
        deck.label(arm[:50])
    first = deck.act(edit["id"], "measure").json["edit"]
    assert first["look"] == 1
    # Whoever reads on, and measures when it looks better, finds what there was.
    for arm in both:
        deck.label(arm[50:70])
    again = deck.act(edit["id"], "measure").json["edit"]
    assert again["effects"][0]["delta"] == first["effects"][0]["delta"]
    assert (again["effects"][0]["new"]["labels"], again["look"]) == (50, 2)
    for arm in both:
        deck.label(arm[70:105])
    later = deck.act(edit["id"], "measure").json["edit"]
    assert (later["effects"][0]["new"]["labels"], later["look"]) == (100, 3)


def test_fewer_labels_than_were_planned_are_named_as_the_reason(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=104)
    edit = deck.propose(labels=100)
    deck.generate(edit["id"])
    made = deck.generated()
    deck.label([one for arm in (1, 2) for one in made if one["deckVersion"] == arm][:60])
    deck.label([one for one in made if one["deckVersion"] == 2][:60])
    measured = deck.act(edit["id"], "measure").json["edit"]
    (effect,) = measured["effects"]
    assert effect["insufficientBecause"] == "fewer_labels_than_planned"
    assert [effect[arm]["insufficientBecause"] for arm in ("old", "new")] == [None, None]
    assert (effect["outcome"], effect["delta"], measured["look"]) == ("insufficient", None, None)


def test_each_edit_of_a_deck_makes_the_next_one_less_sure(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=60)
    for number, prompt in enumerate(("Answer in one line.", "Answer briefly.", "Answer."), start=1):
        edit = deck.propose(prompt)
        deck.generate(edit["id"])
        # Of the first two the labels may be read, and no figure asked for.
        if number < 3:
            continue
        for arm in arms(deck, edit):
            deck.label(arm[:50])
        measured = deck.act(edit["id"], "measure").json["edit"]
        assert measured["look"] == 3
        assert measured["effects"][0]["confidence"] == 1 - 0.1 / 2**3


def test_who_rates_a_response_is_not_shown_under_which_prompt_it_was_made(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=2)
    edit = deck.propose()
    deck.generate(edit["id"])
    origins = {one["id"]: one["promptEditId"] for one in [*deck.of_version(1), *deck.of_version(2)]}
    anna = deck.platform.new_key("reviewer", principal_id="anna")
    path = f"{deck.path}/graders/{deck.grader_id}"
    shown = {}
    for _ in origins:
        found = deck.platform.call("GET", f"{path}/feedback/next", api_key=anna)
        assert found.status == 200, found.text
        sample = found.json["next"]["sample"]
        shown[sample["id"]] = sample
        if origins[sample["id"]]:
            assert (OLD in found.text, NEW in found.text) == (False, False)
        body = {"sampleId": sample["id"], "score": 1}
        assert deck.platform.call("POST", f"{path}/feedback", body, api_key=anna).status == 200
    assert shown.keys() == origins.keys()
    for id_, origin in origins.items():
        assert shown[id_]["promptWithheld"] == (origin is not None)
        assert [one["role"] for one in shown[id_]["messages"]] == ["user"]
