"""What was generated for an edit of the prompt is in no figure but the edit's own."""

from autotune.protocol.ids import new_id
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
    deck.judge(edit["id"])
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
    deck.judge(edit["id"])
    responses = deck.generated()
    assert len(responses) == 2 * len(texts)
    deck.label(responses, said=lambda text: -3 if said_by_ada(text) > 0 else 3)
    found = deck.platform.call("GET", f"{path}/agreement").json["agreement"]["published"]
    assert found["uncalibratedBecause"] is None
    assert (found["fresh"]["labels"], found["fresh"]["looks"]) == (0, 0)
    assert deck.platform.call("GET", path).json["grader"] == published


def test_an_edit_of_the_rubric_is_measured_on_what_users_got(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=0, holdoutShare=0.5)
    for start in (0, 70):
        places = range(start, start + 70)
        deck.add_whole_samples(
            [{"input": f"question {one}?", "output": f"long {one % 3} of {one}"} for one in places]
        )
    path = f"{deck.path}/graders/{deck.grader_id}"
    patch = [{"field": "criteria", "find": "faithful", "replace": "quite faithful"}]
    users = deck.of_version(1)
    held_out = [one for one in users if one["split"] == "holdout"]
    deck.label(users)
    deck.finish(deck.start())
    prompt_edit = deck.propose(split=None)
    deck.generate(prompt_edit["id"])
    deck.judge(prompt_edit["id"])
    responses = deck.generated()
    assert {one["split"] for one in responses} == {"development", "holdout"}
    deck.label(responses)
    # Two people are apart on each: with these, too few of the held-out half would have a truth.
    deck.label(responses, said=lambda text: -said_by_ada(text) or 3, rater="bob")

    made = deck.platform.call("POST", f"{path}/edits", {"patch": patch})
    edit = f"{path}/edits/{made.json['edit']['id']}"
    started = deck.platform.call("POST", f"{edit}/replay", {"split": "development"})
    assert started.status == 202, started.text
    run = deck.finish(deck.read(started.json["edit"]["runId"]))
    assert run["samples"] == len(users) - len(held_out)
    wanted = deck.platform.call("POST", f"{edit}/estimate", {"split": "holdout"})
    assert wanted.status == 200, wanted.text
    assert wanted.json["estimate"]["samples"] == len(held_out)
    trial = deck.platform.call("GET", edit).json["edit"]["trial"]
    assert trial["old"]["n"] == len(users) - len(held_out)

    # Nor do lists of where the judge errs have them.
    listed = deck.platform.call("GET", f"{path}/disagreements", query={"limit": 100}).json
    shown = {one["sampleId"] for one in listed["disagreements"]}
    assert shown
    assert shown <= {one["id"] for one in users}
    assert sum(map(sum, listed["confusion"])) == len(users) - len(held_out)
    patterns = deck.platform.call("GET", f"{path}/patterns").json["patterns"]
    assert patterns["n"] == len(users) - len(held_out)


def test_a_run_judges_what_was_generated_only_for_an_edit_that_is_named(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=6)
    edit, other = deck.propose(), deck.propose("Answer in verse.")
    deck.generate(edit["id"])
    deck.generate(other["id"], capNanoUsd=0)
    deck.label(deck.of_version(1), said=lambda _: 1)
    assert len(deck.of_version(1)) == 12
    for chosen in ({}, {"split": "holdout", "deckVersion": 1}, {"labelled": True}):
        assert deck.estimate(**chosen)["samples"] == 6, chosen
    assert deck.judge(edit["id"])["samples"] == 12
    of_new = deck.start(promptEditId=edit["id"], deckVersion=2, split="holdout")
    assert (of_new["samples"], of_new["promptEditId"], of_new["kind"]) == (6, edit["id"], "grade")
    assert [one["graderId"] for one in of_new["graders"]] == [deck.grader_id]
    deck.finish(of_new)
    assert deck.estimate(repeat=True, labelled=True)["samples"] == 6
    (named, *_) = deck.generated()
    assert deck.estimate(sampleIds=[named["id"]])["samples"] == 1

    nothing = deck.platform.call("POST", f"{deck.path}/estimate", {"promptEditId": other["id"]})
    assert nothing.status == 409
    unknown = deck.platform.call("POST", f"{deck.path}/runs", {"promptEditId": new_id("ped")})
    assert (unknown.status, unknown.json["errors"][0]["field"]) == (422, "promptEditId")
    both = {"promptEditId": edit["id"], "labelled": True}
    assert deck.platform.call("POST", f"{deck.path}/runs", both).status == 422


def test_people_are_given_no_responses_of_an_edit_that_is_decided(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=3)
    path = f"{deck.path}/graders/{deck.grader_id}/feedback"
    anna = deck.platform.new_key("reviewer", principal_id="anna")

    def given() -> set[str]:
        """All that the inbox has for a person, who leaves each to others."""
        found: list[str] = []
        while True:
            query = [("skip", id_) for id_ in found]
            answer = deck.platform.call("GET", f"{path}/next", query=query, api_key=anna).json
            assert answer["left"] >= (answer["next"] is not None)
            if answer["next"] is None:
                return set(found)
            found.append(answer["next"]["sample"]["id"])

    def rateable() -> int:
        progress = deck.platform.call("GET", f"{path}/progress").json["progress"]
        half: int = progress["holdout"]["samples"]
        return half

    edit, other = deck.propose(), deck.propose("Answer in verse.")
    for one in (edit, other):
        deck.generate(one["id"])
    every = {one["id"]: one for number in (1, 2, 3) for one in deck.of_version(number)}
    assert len(every) == 15
    assert (given(), rateable()) == (set(every), 15)

    # Two people are apart on responses of both edits.
    apart = [one for one in every.values() if one["promptEditId"]]
    deck.label(apart, said=lambda _: 3)
    deck.label(apart, said=lambda _: -3, rater="bob")
    adjudicating = {"task": "adjudication"}
    answer = deck.platform.call("GET", f"{path}/next", query=adjudicating, api_key=anna).json
    assert answer["left"] == 12

    assert deck.act(edit["id"], "reject").status == 200
    wanted = {id_ for id_, one in every.items() if one["promptEditId"] != edit["id"]}
    assert (given(), rateable()) == (wanted - {one["id"] for one in apart}, 9)
    answer = deck.platform.call("GET", f"{path}/next", query=adjudicating, api_key=anna).json
    assert answer["left"] == 6
    assert deck.act(other["id"], "accept", consent=True).status == 200
    assert (len(given()), rateable()) == (3, 3)
    # Whoever asks for the first time is given no others.
    anna = deck.platform.new_key("reviewer", principal_id="zoe")
    assert given() == {*deck.sources}
