"""Deck files: what is written is read back as the same deck."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from autotune import DeckFile, DeckFileError, format_deck_file, parse_deck_file
from autotune.client.deck_files import toml_text
from autotune.client.deck_files.toml_blocks import TomlBlock
from tests.support.deck_files import GRADER, PROMPT, WRITTEN

CONNECTION = "llc_" + "0" * 26
PARTS = (
    "# System prompt",
    "# Grader: X",
    "## Levels",
    "### Tone",
    "#",
    "```",
    "````toml",
    "~~~",
    "```text",
    "+++",
    "- **+3**: a",
    "- +3: a",
    "  b",
    "",
    " ",
    "a",
    " a",
    "a ",
    "a\t",
    "\ta",
    "a\rb",
    "\r",
    "\x00",
    "\x7f",
    "\x0b",
    "\x85",
    "\u2028",
    '"""',
    "'''",
    '"',
    '""',
    "\\",
    "\\n",
    "{{name}}",
    "[judge]",
    "name = 1",
    "é😀",
    "\ufeff",
)
NASTY = st.lists(st.sampled_from(PARTS) | st.text(max_size=8), max_size=5).map("\n".join)
GIVEN = NASTY.filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | NASTY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NASTY, inner, max_size=3),
    max_leaves=6,
)
PARAMS = st.fixed_dictionaries(
    {"maxTokens": st.integers(1, 4_000)},
    optional={
        "temperature": st.floats(0, 2),
        "topP": st.floats(0, 1),
        "stop": st.lists(NASTY.filter(bool), max_size=2),
        "seed": st.integers(0, 2**53 - 1),
        "extra": st.dictionaries(NASTY.map("x{}".format), JSON, max_size=3),
    },
)
JUDGES = st.none() | st.fixed_dictionaries(
    {"model": st.sampled_from(["m", 'openai/"x"\\']), "params": PARAMS},
    optional={"connection": st.just(CONNECTION)},
)
EXAMPLES = st.fixed_dictionaries(
    {"input": NASTY, "output": NASTY, "level": st.integers(-3, 3)},
    optional={"explanation": NASTY, "sampleId": st.just("smp_" + "1" * 26)},
)
GRADERS = st.fixed_dictionaries(
    {
        "name": GIVEN,
        "judge": JUDGES,
        "rubric": st.fixed_dictionaries(
            {"criteria": NASTY.filter(bool), "levels": st.lists(NASTY, min_size=7, max_size=7)},
            optional={
                "notApplicableWhen": NASTY,
                "examples": st.lists(EXAMPLES, max_size=2),
            },
        ),
    }
)
DECKS = st.fixed_dictionaries(
    {"name": GIVEN, "systemPrompt": GIVEN},
    optional={
        "description": NASTY,
        "holdoutShare": st.floats(0, 1),
        "judge": JUDGES,
        "graders": st.lists(GRADERS, max_size=3),
    },
)


def deck_of(fields):
    try:
        return DeckFile.model_validate(fields)
    except ValidationError:
        return None  # such as a name of 200 characters


@given(DECKS.map(deck_of).filter(bool), st.booleans())
def test_what_is_written_is_read_back_as_the_same_deck(deck, on_windows):
    text = format_deck_file(deck)
    again = parse_deck_file(text.replace("\n", "\r\n") if on_windows else text)
    assert again == deck
    assert format_deck_file(again) == text


def test_most_strategies_of_decks_are_decks():
    """Else the test above would prove little."""
    found = []

    @given(DECKS)
    def count(fields):
        found.append(deck_of(fields))

    count()
    assert sum(map(bool, found)) > len(found) / 2


@given(st.dictionaries(NASTY, NASTY | JSON.filter(lambda one: not toml_text.has_null(one))))
@example({"": "", "a.b": {"": [{}, [], -0.0, 1e300, 10**30]}, "+3": '"""\\\n""'})
def test_toml_is_written_as_the_standard_library_reads_it(values):
    text = "\n".join(toml_text.table(values))
    assert TomlBlock(text, 1).values == values
    assert all(one.isprintable() or one in "\n\t" or ord(one) > 127 for one in text)


def test_a_file_written_by_hand_is_read_and_then_stays_as_it_is_written():
    deck = parse_deck_file(f"\ufeff{WRITTEN}")
    assert deck.system_prompt == PROMPT
    (grader,) = deck.graders
    assert grader.name == "Tone"
    assert grader.rubric.criteria == "Is it kind?\n\n### What counts\n\n- a greeting"
    assert grader.rubric.levels[:3] == ["Rude.", "Cold.", "Curt."]
    assert grader.rubric.levels[6] == "Warm,\nand to the point."
    assert grader.rubric.not_applicable_when == "There is no answer."
    assert (deck.holdout_share, deck.description, deck.judge) == (0.5, "", None)
    text = format_deck_file(deck)
    assert format_deck_file(parse_deck_file(text)) == text
    assert GRADER[GRADER.index("## Criteria") : GRADER.index("## Levels")] in text


def test_a_judge_stands_once_for_all_graders_or_with_its_own():
    judge = '[judge]\nmodel = "m"\nparams = { maxTokens = 9 }\n'
    own = f"\n```toml\n{judge.replace(chr(34) + 'm', chr(34) + 'other')}```\n"
    text = WRITTEN.replace("+++\n\n# System", f"{judge}+++\n\n# System")
    deck = parse_deck_file(text + GRADER.replace("Tone\n", f"Clarity\n{own}"))
    first, second = deck.graders
    assert [deck.judge_of(one).model for one in (first, second)] == ["m", "other"]
    assert deck.judge_of(first).at(CONNECTION).connection_id == CONNECTION
    assert first.judge is None


def test_the_example_of_the_guide_is_a_deck_file_as_it_is_written():
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "deck-files.md").read_text("utf-8")
    (text,) = re.findall(r"^`````markdown\n(.*?)^`````$", guide, re.M | re.S)
    deck = parse_deck_file(text)
    assert format_deck_file(deck) == text
    assert [grader.name for grader in deck.graders] == ["Promises nothing", "Friendly"]
    assert [deck.judge_of(grader).model for grader in deck.graders] == [
        "gpt-4.1-mini",
        "claude-haiku-4-5",
    ]
    assert deck.system_prompt.endswith("```")
    (told,) = re.findall(r"^autotune: (support.deck.md, line .*)$", guide, re.M)
    longer = text.replace("- **+2**: Warm.", f"- **+2**: {'x' * 2_310}")
    with pytest.raises(DeckFileError) as caught:
        parse_deck_file(longer, source="support.deck.md")
    assert str(caught.value) == told
