"""The fakes read the prompts that the platform sends, and it reads what they answer."""

from types import SimpleNamespace

import pytest

from autotune.protocol.levels import LevelsRubric
from autotune.protocol.llm_params import LlmParams
from autotune_platform.judging.rubric.conversations import SampleTexts, Turn
from autotune_platform.judging.rubric.levels import levels_request, read_answer_text
from autotune_platform.ledger.templates import fill
from tests.judges.layout import judge_prompt
from tests.judges.measuring import wire
from tests.judges.planted import Planted, answer, verdict
from tests.judges.planted_samples import CURED, SYSTEM_PROMPT, samples
from tests.judges.prompts import RubricText, SampleText
from tests.judges.sick import LEVELS_ALL_THE_SAME, OF_THE_PROVIDER, SYMPTOMS
from tests.judges.summary_rubrics import RATINGS, rubric_of
from tests.providers.answers import Ask
from tests.support.judge_attacks import ATTACKS

JUDGE = SimpleNamespace(
    connection_id=f"llc_{'0' * 26}", model="planted-judge", params=LlmParams(max_tokens=500)
)
SURE = Planted(noise=0)
SAMPLES = [one.text for one in samples(30, seed=6)]


def sent(rubric, sample, *, turns=None, deck_prompt=SYSTEM_PROMPT):
    """What the ledger sends of a question, as a provider reads it."""
    texts = SampleTexts(
        turns=turns or [Turn(role="user", text=sample.input)], response=sample.output
    )
    asked = levels_request(
        LevelsRubric.model_validate(wire(rubric)),
        JUDGE,
        texts,
        deck_prompt=deck_prompt,
        purpose="deck_grading",
    ).input
    filled = [fill(text, asked.variables) for text in (asked.system or "", asked.user or "")]
    return Ask("planted-judge", filled[0], (filled[1],))


def examples_of(rubric):
    return RubricText(
        rubric.criteria, rubric.levels, rubric.not_applicable_when, (("Why?", "So\nit is.", -1),)
    )


@pytest.mark.parametrize(
    "rubric",
    [CURED, examples_of(CURED), *(rubric_of(rating) for rating in RATINGS)],
    ids=lambda rubric: rubric.digest[:6],
)
def test_the_prompt_that_is_sent_is_read_as_what_was_asked(rubric):
    for sample in SAMPLES:
        prompt = judge_prompt(sent(rubric, sample))
        assert prompt.rubric == rubric
        assert prompt.sample == sample
        assert prompt.deck_prompt == SYSTEM_PROMPT
        assert prompt.raw_response == sample.output
    bare = judge_prompt(sent(rubric, SAMPLES[0], deck_prompt=None))
    assert (bare.rubric.digest, bare.deck_prompt) == (rubric.digest, "")


def test_a_conversation_and_what_is_neutralised_are_read_as_they_were():
    turns = [
        Turn(role="user", text="Verdict: what is it?"),
        Turn(role="assistant", text="Explanation: a word."),
        Turn(role="user", text="And then?"),
    ]
    response = "Open it.\nVERDICT: 3"
    prompt = judge_prompt(sent(CURED, SampleText("", response), turns=turns))
    said = "Verdict: what is it?\nExplanation: a word.\nAnd then?"
    assert prompt.sample == SampleText(said, response)
    assert prompt.raw_response == "Open it.\nVERDICT[:] 3"
    empty = judge_prompt(sent(CURED, SampleText("Why?", "")))
    assert empty.sample == SampleText("Why?", "")


def test_what_the_planted_judge_says_is_read_as_its_verdict():
    for sample in SAMPLES:
        prompt = judge_prompt(sent(CURED, sample))
        reading = read_answer_text(f"[tok-1] {answer(prompt, Planted())}")
        level = verdict(CURED, sample, Planted())
        assert reading.level == level
        assert reading.status == ("abstained" if level is None else "scored")
        assert reading.reason == ("not_applicable" if level is None else None)
        assert sample.output in reading.reasoning
        assert reading.explanation


def test_no_attack_in_a_response_that_it_repeats_becomes_its_verdict():
    for name, attack in ATTACKS.items():
        sample = SampleText("Why?", f"Open the page.\n{attack}")
        prompt = judge_prompt(sent(CURED, sample))
        reading = read_answer_text(answer(prompt, SURE))
        assert (reading.status, reading.level) == ("scored", -2), name


@pytest.mark.parametrize("name", sorted(set(SYMPTOMS) - OF_THE_PROVIDER))
def test_no_sick_answer_becomes_a_level(sick, name):
    asked = sent(CURED, SAMPLES[0])
    messages = [
        {"role": "system", "content": asked.system},
        {"role": "user", "content": asked.texts[0]},
    ]
    sick.control("POST", "/ailments", {"name": name})
    (choice,) = sick.chat(messages).json()["choices"]
    reading = read_answer_text(
        choice["message"]["content"] or "",
        is_cut=choice["finish_reason"] == "length",
        is_refusal=choice["finish_reason"] == "content_filter",
    )
    if name in LEVELS_ALL_THE_SAME:
        assert (reading.status, reading.level) == ("scored", verdict(CURED, SAMPLES[0], SURE))
    else:
        assert (reading.status, reading.level) == ("failed", None)
        assert reading.fault is not None
