"""What was generated for an edit of the prompt is in no figure but the edit's own."""

from tests.support.ledger import Ledger
from tests.support.prompt_edits import PromptEdits, said_by_ada


def figures(deck: PromptEdits) -> dict[str, object]:
    """Read means and agreement of the current version, and what publishing says of it."""
    path = f"{deck.path}/graders/{deck.grader_id}"
    means = deck.platform.call("POST", f"{path}/means", {}).json["means"]
    published = deck.platform.call("POST", f"{path}/publish", {})
    assert published.status == 200, published.text
    agreement = deck.platform.call("GET", f"{path}/agreement").json["agreement"]
    kept = ("kappa", "n", "labels", "ceiling", "meanBias", "skipped", "cameLater")
    because = agreement["published"]["uncalibratedBecause"]
    return {"means": means, "because": because, **{name: agreement[name] for name in kept}}


def test_responses_of_an_edit_move_no_figure_of_what_users_got(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=0)
    deck.add_whole_samples(
        [
            {"input": f"question {place}?", "output": f"long {place % 3} of {place}"}
            for place in range(24)
        ]
    )
    deck.finish(deck.start())
    deck.label(deck.of_version(1))
    before = figures(deck)
    assert before["labels"] == 24

    edit = deck.propose()
    deck.generate(edit["id"])
    deck.finish(deck.start())
    deck.label(deck.generated())
    after = figures(deck)
    assert after == before
    measured = deck.act(edit["id"], "measure").json["edit"]["effects"][0]
    assert (measured["old"]["labels"], measured["new"]["labels"]) == (24, 24)

    # Of the prompt that is tried, nothing is shown but what its edit measures, by counted looks.
    means = deck.platform.call(
        "POST", f"{deck.path}/graders/{deck.grader_id}/means", {"deckVersion": 2}
    ).json["means"]
    assert (means["labels"], means["labelsOnly"]["value"], means["naive"]) == (0, None, None)

    # Nor once its prompt is the current one: no user was answered by these.
    assert deck.act(edit["id"], "accept", consent=True).status == 200
    accepted = figures(deck)
    assert accepted["labels"] == 0
    assert accepted["because"] == "not_judged"


def test_labels_of_an_edit_suspend_no_published_calibration(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=0)
    texts = [
        {"input": f"question {place}?", "output": f"long {place % 3} of {place}"}
        for place in range(66)
    ]
    deck.add_whole_samples(texts)
    deck.finish(deck.start())
    deck.label(deck.of_version(1))
    path = f"{deck.path}/graders/{deck.grader_id}"
    published = deck.platform.call("POST", f"{path}/publish", {}).json["grader"]
    assert published["uncalibratedBecause"] is None

    edit = deck.propose()
    deck.generate(edit["id"])
    deck.finish(deck.start())
    responses = deck.generated()
    assert len(responses) == 2 * len(texts)
    deck.label(responses, said=lambda text: -3 if said_by_ada(text) > 0 else 3)
    found = deck.platform.call("GET", f"{path}/agreement").json["agreement"]["published"]
    assert found["uncalibratedBecause"] is None
    assert (found["fresh"]["labels"], found["fresh"]["looks"]) == (0, 0)
    assert deck.platform.call("GET", path).json["grader"] == published
