"""``autotune decks label`` and what follows from labels: truth, agreement, disagreements."""

import random

import pytest

from autotune.cli import exit_codes
from autotune_platform.decks.labels.cohorts import LEAST_LABELS
from tests.support.deck_labels import LabelledDeck
from tests.support.decks import new_deck_grader


@pytest.fixture
def deck(api):
    made = LabelledDeck(api.platform)
    inputs = [f"question {place}" for place in range(150)]
    made.add(*inputs, groups=[f"article {place // 2}" for place in range(150)])
    return made


@pytest.fixture
def levels(deck):
    """What one person says of each sample."""
    chance = random.Random(1)
    return {id_: chance.randint(-3, 3) for id_ in deck.samples}


def test_labels_of_a_file_give_agreement_with_its_interval(run, deck, levels, write_jsonl):
    lines = [{"sampleId": id_, "score": score} for id_, score in levels.items()]
    file = write_jsonl(lines)
    labelled = run("decks", "label", deck.id, deck.grader_id, file, "--rater", "ada", "--drawn")
    assert (labelled.exit_code, labelled.stderr) == (0, "150 stored, 0 there already, 0 rejected\n")
    again = run(
        "decks", "label", deck.id, deck.grader_id, file, "--rater", "ada", "--drawn", "--json"
    )
    assert again.json_lines == [
        {"accepted": 0, "repeated": 150, "notBlind": 0, "chosen": 0, "rejected": 0}
    ]
    chance = random.Random(2)
    judged = {id_: min(3, score + chance.choice([0, 0, 1])) for id_, score in levels.items()}
    deck.judged(judged)

    shown = run("decks", "agreement", deck.id, deck.grader_id)
    (found,) = run("decks", "agreement", deck.id, deck.grader_id, "--json").json_lines
    kappa = found["kappa"]
    assert f"kappa            {kappa['value']:.3f} ({kappa['low']:.3f} to " in shown.stdout
    assert "enough labels    yes" in shown.stdout
    assert "people           no sample was rated by several" in shown.stdout
    assert "JUDGE SAYS" in shown.stdout
    matrix = shown.stdout.splitlines()[-7:]
    assert sum(int(one) for line in matrix for one in line.split()[1:] if one != ".") == len(
        deck.of("development")
    )
    listed = run(
        "decks", "disagreements", deck.id, deck.grader_id, "--score", 3, "--json"
    ).json_lines
    assert {one["score"] for one in listed} == {3}
    assert {one["sampleId"] for one in listed} <= set(deck.of("development"))
    assert "SAMPLE" in run("decks", "disagreements", deck.id, deck.grader_id, "--applies").stdout
    table = run("decks", "disagreements", deck.id, deck.grader_id, "--limit", 2).stdout.splitlines()
    assert [line.split()[3] for line in table[1:]] == ["+1", "+1"]
    means = run("decks", "means", deck.id, deck.grader_id, "--model", "secret-model")
    (said,) = run("decks", "means", deck.id, deck.grader_id, "--json").json_lines
    # All of the held-out half has labels, so that there is nothing to correct.
    assert (said["unlabelled"], said["use"]) == (0, "labels_only")
    assert f"mean             {said['labelsOnly']['value']:+.2f} (" in means.stdout
    assert f"judge alone      {said['naive']:+.2f}" in means.stdout
    where = run("decks", "patterns", deck.id, deck.grader_id)
    assert where.stdout.startswith(f"{len(deck.of('development'))} samples of the development half")
    assert "SAMPLES WHOSE" in where.stdout
    (errors,) = run("decks", "patterns", deck.id, deck.grader_id, "--json").json_lines
    assert {one["factor"] for one in errors["errors"]} >= {"all", "length"}
    truths = run("decks", "truth", deck.id, deck.grader_id, "--limit", 200, "--json").json_lines
    assert {one["sampleId"]: one["score"] for one in truths} == levels
    progress = run("decks", "progress", deck.id, deck.grader_id)
    half = len(deck.of("holdout"))
    assert f"holdout          {half} of {half} rated, {half} of them drawn" in progress.stdout
    assert progress.last_line.split()[:2] == ["ada", "150"]


def test_few_labels_that_stand_for_most_samples_have_a_row_of_their_own(run, api):
    deck = LabelledDeck(api.platform, samples=100, holdoutShare=1)
    deck.judged(dict.fromkeys(deck.samples, 1))
    deck.label({id_: place % 5 - 2 for place, id_ in enumerate([*deck.samples][:60])})
    even = run("decks", "means", deck.id, deck.grader_id).stdout
    later = deck.add(*(f"later {place}" for place in range(300)))
    deck.judged(dict.fromkeys(later, 3))
    deck.label(dict.fromkeys(later[:LEAST_LABELS], 2))

    shown = run("decks", "means", deck.id, deck.grader_id).stdout

    assert "weights          -" in even
    assert "enough labels    no: uneven weights" in shown
    assert "weights          uneven: the 70 labels together say less than 50" in shown
    assert "no interval: uneven weights" in shown


def test_what_cannot_be_claimed_is_said(run, deck):
    shown = run("decks", "agreement", deck.id, deck.grader_id).stdout
    assert "kappa            undefined: no pairs" in shown
    assert "enough labels    no: few labels" in shown
    assert "Development half" not in shown


def test_lines_that_are_wrong_are_told_before_anything_is_sent_or_by_the_server(
    api, run, deck, write_jsonl
):
    first = next(iter(deck.of("holdout")))
    lines = [
        {"sampleId": first, "score": 4},
        {"sampleId": first},
        "{",
        {"sampleId": first, "doesNotApply": True},
    ]
    api.received.clear()
    wrong = run("decks", "label", deck.id, deck.grader_id, write_jsonl(lines))
    assert wrong.exit_code == exit_codes.USAGE
    assert "line 1: score: " in wrong.stderr
    assert "line 3: expected one JSON object" in wrong.stderr
    assert wrong.stderr.endswith("autotune: 3 lines are wrong, so nothing was sent\n")
    assert api.received == []
    lines = ["", {"sampleId": first, "score": 1}, {"sampleId": "smp_" + "0" * 26, "score": 1}]
    some = run("decks", "label", deck.id, deck.grader_id, write_jsonl(lines))
    assert some.exit_code == exit_codes.INCOMPLETE
    assert "line 3: sampleId: " in some.stderr
    assert "1 stored, 0 there already, 1 rejected; 1 of the stored are of held-out" in some.stderr
    assert "is empty" in run("decks", "label", deck.id, deck.grader_id, write_jsonl([])).stderr


def test_exported_labels_are_taken_in_as_they_are(run, deck, levels, write_jsonl, api):
    lines = [{"sampleId": id_, "score": score} for id_, score in levels.items()]
    file = write_jsonl(lines)
    run("decks", "label", deck.id, deck.grader_id, file, "--rater", "ada", "--drawn")
    found = run("decks", "labels", "export", deck.id, "--grader", deck.grader_id)
    assert found.exit_code == 0
    assert {one["sampleId"]: one["truth"]["score"] for one in found.json_lines} == levels
    other = new_deck_grader(api.platform, deck.id, name="another")["id"]
    taken = run("decks", "label", deck.id, other, write_jsonl(found.json_lines))
    assert (taken.exit_code, taken.stderr) == (0, "150 stored, 0 there already, 0 rejected\n")
    both = run("decks", "labels", "export", deck.id, "--results").json_lines
    assert len(both) == 300
    mixed = run("decks", "label", deck.id, other, write_jsonl(both))
    assert mixed.exit_code == exit_codes.USAGE
    assert "graderId: labels of one grader" in mixed.stderr


def test_labels_are_carried_to_another_deck_by_external_ids(run, write_jsonl, api):
    decks = [LabelledDeck(api.platform, name=name) for name in ("one", "other")]
    names = [f"ticket {place}" for place in range(6)]
    for deck in decks:
        samples = [{"input": name, "output": "yes", "externalId": name} for name in names]
        added = api.platform.call("POST", f"/api/v1/decks/{deck.id}/samples", {"samples": samples})
        assert added.status == 201, added.text
    one, other = decks
    lines = [{"externalId": name, "score": place - 2} for place, name in enumerate(names)]
    labelled = run(
        "decks", "label", one.id, one.grader_id, write_jsonl(lines), "--rater", "ada", "--drawn"
    )
    assert (labelled.exit_code, labelled.stderr) == (0, "6 stored, 0 there already, 0 rejected\n")
    exported = run("decks", "labels", "export", one.id).json_lines
    assert {one["externalId"]: one["truth"]["score"] for one in exported} == {
        name: place - 2 for place, name in enumerate(names)
    }
    carried = run("decks", "label", other.id, other.grader_id, write_jsonl(exported))
    assert (carried.exit_code, carried.stderr) == (0, "6 stored, 0 there already, 0 rejected\n")
    there = run("decks", "labels", "export", other.id).json_lines
    said = [
        [(one["externalId"], one["truth"]["score"], one["truth"]["selection"]) for one in labels]
        for labels in (exported, there)
    ]
    assert sorted(said[0]) == sorted(said[1])
    again = run("decks", "label", one.id, one.grader_id, write_jsonl(exported))
    assert again.stderr == "0 stored, 6 there already, 0 rejected\n"


def test_a_line_names_one_sample_by_one_id(run, deck, write_jsonl):
    first = next(iter(deck.samples))
    lines = [{"sampleId": first, "externalId": "a", "score": 1}, {"score": 1}]
    wrong = run("decks", "label", deck.id, deck.grader_id, write_jsonl(lines))
    assert wrong.exit_code == exit_codes.USAGE
    assert wrong.stderr.count("either sampleId or externalId") == 2
    answer = deck.upload([*lines, {"externalId": "a", "score": 1}, {"sampleId": first, "score": 1}])
    assert answer.json["accepted"] == 1
    assert [(one["line"], one["field"]) for one in answer.json["rejected"]] == [
        (1, "line"),
        (2, "line"),
        (3, "externalId"),
    ]
