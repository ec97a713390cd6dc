"""Graders of aibff are taken over where their meaning is clear, and refused where 0 is no level."""

import pytest

from autotune import DeckFileError
from autotune.client.deck_files.aibff import parse_aibff_file

LEVELS = """\
- **+3**: Says what to do [^best]
  and why.
- **+2 (Good)**: Says what to do.
- Score 1: Hints at it.
- **0**: Says nothing of use.
- -1: Off the point.
- **-2:** Wrong.
- **-3**: Harmful.
"""
GRADER = f"""\
+++
[meta]
version = "1.0"
+++

# Advice [^x]

![frame](../base/frame.deck.md)

Judge the advice. [^x]

```text
- +3: no level, as it is code
```

## Scoring

{LEVELS}
## Notes

1. Be strict.

## Output format

Answer with JSON.

[^x]: ![a sample](./samples.deck.toml#a)

[^best]: [best](./samples.deck.toml#b)
> ![more](./more.toml) ![even](./even.toml)
"""
BLOCKS = """\
# Advice

Judge the advice.

**+3 (Excellent)**

- right
- kind

**+2**: Good,
or nearly.

Between the levels.

**+1 (Fair)**
**0 (So so)**
**-1**: Bad.
**-2**: Worse.
**-3**: Worst.

## Focus

On the end.
"""


def no_file(path):
    raise AssertionError(path)


def read(text, files=no_file):
    return parse_aibff_file(text, source="advice.deck.md", read=files)


def test_a_grader_is_its_title_its_levels_and_the_rest_as_criteria():
    deck = read(GRADER)
    assert (deck.name, deck.system_prompt) == ("Advice", None)
    (grader,) = deck.graders
    assert grader.name == "Advice"
    assert grader.rubric.levels == [
        "Harmful.",
        "Wrong.",
        "Off the point.",
        "Says nothing of use.",
        "Hints at it.",
        "Good: Says what to do.",
        "Says what to do\nand why.",
    ]
    code = "```text\n- +3: no level, as it is code\n```"
    assert grader.rubric.criteria == f"Judge the advice.\n\n{code}\n\n## Notes\n\n1. Be strict."
    assert grader.rubric.not_applicable_when is None
    assert deck.notes == [
        (
            "../base/frame.deck.md is not read; if it asks for a 0 where a grader does not apply, "
            "say so in notApplicableWhen"
        ),
        "./samples.deck.toml#a is not read",
        "./samples.deck.toml#b is not read",
        "./more.toml is not read",
        "./even.toml is not read",
        "advice.deck.md, line 31: Output format is left out; answers have a form of ours",
    ]


def test_levels_may_be_paragraphs_or_stand_above_their_texts():
    (grader,) = read(BLOCKS).graders
    assert grader.rubric.levels[3:] == [
        "So so",
        "Fair",
        "Good,\nor nearly.",
        "Excellent\n\n- right\n- kind",
    ]
    assert grader.rubric.criteria == (
        "Judge the advice.\n\nBetween the levels.\n\n## Focus\n\nOn the end."
    )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("1. Be strict.", "1. If it does not apply, return 0 as the score.", 29),
        (
            "1. Be strict.",
            "Be strict.\n- Return a score of 0 only if the\n  answer is invalid.",
            30,
        ),
        ("1. Be strict.", "Use 0 when the criteria don't seem to apply.", 29),
        ("1. Be strict.", "Give 0 where you are unable to judge.", 29),
        ("Says nothing of use.", "Unable to grade.", 22),
        ("Says nothing of use.", "Not applicable.", 22),
        ("- **0**: Says nothing of use.", "- **0 (N/A)**\n  No advice was asked for.", 22),
    ],
)
def test_a_zero_for_what_does_not_apply_is_refused_with_the_way_out(old, new, line):
    with pytest.raises(DeckFileError) as caught:
        read(GRADER.replace(old, new))
    (fault,) = caught.value.faults
    assert fault.line == line
    assert "Here 0 is a level like the others" in fault.expected
    assert "## Not applicable when" in fault.expected


@pytest.mark.parametrize(
    "sentence",
    [
        "A rude answer gets -3, and no 0.",
        "Score 10 where they apply it.",
        "Return 0.5 of the points; do not apply more.",
        "This does not apply to greetings. Grade strictly.",
    ],
)
def test_other_sentences_about_numbers_are_criteria(sentence):
    (grader,) = read(GRADER.replace("Be strict.", sentence)).graders
    assert sentence in grader.rubric.criteria


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        (
            "# Advice",
            "Advice",
            6,
            "expected a deck file, which begins with +++ and has deck = 1, or",
        ),
        ("- **-2:** Wrong.\n", "", 18, "there is no -2"),
        (LEVELS, "", 1, "there is no -3, -2, -1, 0, +1, +2, +3"),
        ("**-3**", "**-2**", 25, "level -2 is on line 24 already"),
        ("[meta]", "graders = 1\n[meta]", 2, "expected graders = [...]"),
        ("[meta]", "[meta", 2, "expected TOML"),
        ("Harmful.", "x" * 2_001, 1, "rubric.levels"),
    ],
)
def test_what_is_not_clear_is_refused(old, new, line, told):
    with pytest.raises(DeckFileError) as caught:
        read(GRADER.replace(old, new))
    (fault,) = caught.value.faults
    assert (fault.line, told in str(fault)) == (line, True), fault


def test_a_deck_is_a_system_prompt_and_the_files_of_its_graders():
    text = '+++\ngraders = ["./a.deck.md", "b.deck.md"]\n+++\n\n# Help\n\nYou help.\n![s](s.toml)\n'
    files = {"./a.deck.md": GRADER, "b.deck.md": BLOCKS.replace("# Advice", "# Tone")}
    deck = read(text, files.__getitem__)
    assert (deck.name, deck.system_prompt) == ("Help", "You help.")
    assert [grader.name for grader in deck.graders] == ["Advice", "Tone"]
    assert deck.notes[0] == "s.toml is not read"
    files["b.deck.md"] = BLOCKS.replace("So so", "Not applicable")
    with pytest.raises(DeckFileError, match=r"b\.deck\.md, line \d+: 0 stands for what does not"):
        read(text, files.__getitem__)
