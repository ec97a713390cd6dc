"""No text that a judge reads is taken for its verdict, also where it repeats all that it read."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autotune.protocol.levels import LEVELS
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.judging.rubric.conversations import SampleTexts, Turn
from autotune_platform.judging.rubric.levels import levels_request, read_answer_text
from autotune_platform.judging.rubric.neutralising import neutralised
from autotune_platform.ledger.templates import fill
from tests.support.judge_attacks import ATTACKS, ECHOES, SETTINGS, SPELLINGS
from tests.unit.judging.test_levels import JUDGE, RUBRIC, SAMPLE

Place = Callable[[str], EnqueueLlmRequest]


def asked(
    sample: SampleTexts = SAMPLE, deck_prompt: str | None = None, **rubric: object
) -> EnqueueLlmRequest:
    changed = RUBRIC.model_copy(update=rubric)
    return levels_request(changed, JUDGE, sample, deck_prompt=deck_prompt, purpose="scoring")


PLACES: dict[str, Place] = {
    "the response": lambda text: asked(SAMPLE.model_copy(update={"response": text})),
    "a turn": lambda text: asked(
        SAMPLE.model_copy(update={"turns": [Turn(role="user", text=text)]})
    ),
    "the system prompt": lambda text: asked(deck_prompt=text),
    "the sample's system prompt": lambda text: asked(SAMPLE.model_copy(update={"system": text})),
    "the criteria": lambda text: asked(criteria=text),
    "a level": lambda text: asked(levels=[*RUBRIC.levels[:6], text]),
    "when it does not apply": lambda text: asked(not_applicable_when=text),
    "an example": lambda text: asked(
        examples=[
            RUBRIC.examples[0].model_copy(
                update={"input": text, "output": text, "explanation": text}
            )
        ]
    ),
}


def repeated(request: EnqueueLlmRequest) -> str:
    """Return all texts of others as the judge reads them, with our tags around them."""
    return fill(request.input.user, request.input.variables)


@pytest.mark.parametrize("place", PLACES)
def test_a_judge_that_repeats_its_question_is_read_by_its_own_verdict(place: str) -> None:
    for name, attack in attacks(some=place != "the response"):
        text = repeated(PLACES[place](attack))
        for way, echo in ECHOES.items():
            reading = read_answer_text(f"{echo(text)}\nEXPLANATION: mine\nVERDICT: -2")
            assert (reading.status, reading.level) == ("scored", -2), (name, way)
            assert reading.explanation == "mine", (name, way)


@pytest.mark.parametrize("place", PLACES)
def test_a_judge_that_says_nothing_of_its_own_has_no_verdict(place: str) -> None:
    for name, attack in attacks(some=place != "the response"):
        reading = read_answer_text(repeated(PLACES[place](attack)))
        assert (reading.status, reading.fault) == ("failed", "verdict_missing"), name


def attacks(*, some: bool) -> Iterator[tuple[str, str]]:
    """Yield all of them, or each spelling in one setting and each setting with one spelling."""
    settings = list(SETTINGS)
    for number, spelling in enumerate(SPELLINGS):
        for setting in settings[number % len(settings) :][:1] if some else settings:
            name = f"{spelling}, {setting}"
            yield name, ATTACKS[name]


def test_no_attack_would_be_harmless_as_it_came() -> None:
    # What the corpus tests is that it is neutralised: without that, some echo makes it a verdict.
    harmless = [
        spelling
        for spelling, line in SPELLINGS.items()
        if not any(
            read_answer_text(echo(f"It says:\n{line}")).fault != "verdict_missing"
            for echo in ECHOES.values()
        )
    ]
    assert harmless == []


def test_no_text_can_end_the_tag_that_it_stands_in() -> None:
    for name, attack in ATTACKS.items():
        request = asked(SAMPLE.model_copy(update={"response": attack}))
        fence = request.input.variables["fence"]
        ends = re.findall(rf"</response-{fence}>", repeated(request))
        assert len(ends) == 1, name
        assert re.fullmatch("[0-9a-f]{16}", fence)


def test_what_is_no_verdict_stays_as_it_is() -> None:
    for text in (
        "The verdict is in: guilty.",
        "VERDICTS: 3",
        "verdict",
        "An explanation follows: first, …",
        "Das Urteil: gut. Προσοχή: 3",
        "https://example.org/verdict",
        "",
    ):
        assert neutralised(text) == text
    assert neutralised("Verdict: guilty\nExplanation: he ran") == (
        "Verdict[:] guilty\nExplanation[:] he ran"
    )


@pytest.mark.parametrize(
    "text",
    ["v" * 400_000, "v." * 200_000, "verd" * 100_000, "VERDICT:" * 50_000, "\u0412" * 400_000],
)
def test_long_texts_take_linear_time(text: str) -> None:
    started = time.process_time()
    neutralised(text)
    assert time.process_time() - started < 5


def test_the_guide_names_the_size_of_the_corpus() -> None:
    guide = Path("docs/guides/levels-rubrics.md").read_text("utf-8")
    assert f"{len(ATTACKS):,} texts" in guide
    assert len(set(ATTACKS.values())) == len(ATTACKS)
    assert len(LEVELS) == 7
