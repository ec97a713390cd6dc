"""The proposer: graders from a prompt, and edits whose effect on the planted judge is known."""

import json
from dataclasses import replace

import pytest

from tests.judges.models import PROPOSING_MODEL
from tests.judges.planted import Planted, telling_runs, verdict
from tests.judges.planted_samples import RUBRIC, SYSTEM_PROMPT, samples
from tests.judges.proposals import DEGREES, edit, graders, ordered, patched
from tests.judges.writing import proposal_messages

SAMPLES = list(samples(200, seed=2))
LEVELS = "\n".join(
    f"{level}: {text}" for level, text in zip(range(-3, 4), RUBRIC.levels, strict=True)
)


def proposed(planted, field, *texts, with_schema=True):
    schema = {"type": "object", "properties": {field: {}}, "required": [field]}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    fields = {"response_format": form} if with_schema else {}
    answer = planted.chat(proposal_messages(field, texts), PROPOSING_MODEL, **fields)
    assert answer.status_code == 200, answer.text
    return json.loads(answer.json()["choices"][0]["message"]["content"])


def edits(planted, *samples):
    shown = [("criteria", RUBRIC.criteria), ("levels", LEVELS)]
    shown += [("response", one.text.output) for one in samples]
    return proposed(planted, "patch", *shown)["patch"]


@pytest.mark.parametrize("with_schema", [True, False])
def test_graders_quote_the_prompt_and_differ(planted, with_schema):
    found = proposed(planted, "graders", ("instructions", SYSTEM_PROMPT), with_schema=with_schema)
    assert 3 <= len(found["graders"]) <= 7
    for one in found["graders"]:
        assert all(quote in SYSTEM_PROMPT for quote in one["promptQuotes"])
        assert len(set(one["levels"])) == 7
        assert one["criteria"]
        assert one["notApplicableWhen"]
    assert len({one["name"] for one in found["graders"]}) == len(found["graders"])
    again = proposed(planted, "graders", ("instructions", SYSTEM_PROMPT))
    assert again == found


@pytest.mark.parametrize("sentences", range(1, 12))
def test_there_are_three_to_seven_graders_if_the_prompt_has_so_many_sentences(sentences):
    prompt = " ".join(f"Always do thing number {number}." for number in range(sentences))
    assert len(graders(prompt)) == min(sentences, 7)
    assert len(graders(f"{prompt} The shop is old. It is red.")) == min(max(sentences, 3), 7)


def test_faults_come_once_each_and_are_gone_when_it_is_asked_again(planted):
    def asked():
        return proposed(planted, "graders", ("instructions", SYSTEM_PROMPT))["graders"]

    faultless = asked()
    faults = ["quote", "levels", "name", "number", "criteria"]
    assert planted.control("POST", "/proposer", {"faults": faults}).status_code == 200
    quote, levels, name, number, criteria = (asked() for _ in faults)
    assert quote[0]["promptQuotes"][0] not in SYSTEM_PROMPT
    assert len(set(levels[0]["levels"])) == 6
    assert len({one["name"] for one in name}) < len(name)
    assert len(number) == 2
    assert criteria[0]["criteria"] == ""
    assert asked() == faultless


def test_shuffled_levels_come_back_in_order(planted):
    levels = [f"The response {degree}." for degree in DEGREES]
    places = [3, 0, 6, 2, 5, 1, 4]
    shuffled = [levels[place] for place in places]
    texts = [("level", text) for text in shuffled]
    order = proposed(planted, "order", *texts)["order"]
    assert [shuffled[place] for place in order] == levels
    assert ordered(["no degree", "nor here"]) == [0, 1]


def test_each_kind_of_edit_does_what_it_is_called(planted):
    kinds = ["good", "useless", "harmful", "abstaining", "copying"]
    planted.control("POST", "/proposer", {"edits": kinds})
    wrong = next(
        one
        for one in SAMPLES
        if verdict(RUBRIC, one.text, Planted(noise=0)) != one.level
        and len(one.text.output.split()) > 20
    )
    rubrics = {kind: patched(RUBRIC, edits(planted, wrong)) for kind in kinds}

    def off(rubric):
        scored = [(verdict(rubric, one.text, Planted(noise=0)), one.level) for one in SAMPLES]
        both = [
            (judged, level) for judged, level in scored if judged is not None and level is not None
        ]
        return sum(abs(judged - level) for judged, level in both) / len(both), len(both)

    before = off(RUBRIC)
    assert off(rubrics["good"])[0] == 0
    assert off(rubrics["useless"]) == before
    assert off(rubrics["harmful"])[0] > before[0]
    assert off(rubrics["abstaining"])[0] == 0
    assert off(rubrics["abstaining"])[1] < before[1] * 0.7
    copied = rubrics["copying"].criteria
    assert " ".join(next(telling_runs(wrong.text.output.split()))) in copied
    assert verdict(rubrics["copying"], wrong.text, Planted(noise=0)) == wrong.level
    # The last one stays.
    assert patched(RUBRIC, edits(planted, wrong)) == rubrics["copying"]


def test_edits_that_have_to_be_refused(planted):
    planted.control("POST", "/proposer", {"edits": ["long", "unfounded"]})
    assert len(patched(RUBRIC, edits(planted)).text) > 2 * len(RUBRIC.text)
    with pytest.raises(ValueError, match="not once"):
        patched(RUBRIC, edits(planted))
    for document in ({"edits": ["kind"]}, {"edits": []}, {"faults": ["none"]}):
        assert planted.control("POST", "/proposer", document).status_code == 400
    with pytest.raises(ValueError, match="no kind"):
        edit("kind", RUBRIC)


def test_codes_of_disagreements_and_patterns_of_codes(planted):
    codes = []
    for number, one in enumerate(SAMPLES[:12]):
        texts = [("criteria", RUBRIC.criteria), ("response", one.text.output)]
        codes.append((f"smp_{number}", proposed(planted, "code", *texts)["code"]))
    texts = [("disagreement", f"{sample} {code}") for sample, code in codes]
    patterns = proposed(planted, "patterns", *texts)["patterns"]
    assert 1 < len(patterns) <= 7
    cited = sorted(sample for one in patterns for sample in one["sampleIds"])
    assert cited == sorted(sample for sample, _ in codes)


@pytest.mark.parametrize("field", ["graders", "order", "code", "patterns", "patch"])
def test_a_prompt_without_what_the_answer_is_made_of_is_refused(planted, field):
    messages = proposal_messages(field, [("other", "text")])
    answer = planted.chat(messages, PROPOSING_MODEL)
    assert answer.status_code == 400
    assert field in answer.json()["error"]["message"]


def test_a_patch_is_of_the_text_that_is_there():
    twice = replace(RUBRIC, criteria=f"{RUBRIC.criteria} {RUBRIC.criteria}")
    with pytest.raises(ValueError, match="not once"):
        patched(twice, edit("good", RUBRIC))
