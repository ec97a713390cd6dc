"""What is wrong in a deck file is told by line, field and limit."""

import re

import pytest

from autotune import DeckFileError, parse_deck_file
from autotune.client.deck_files.faults import DeckFileFault
from autotune.client.deck_files.toml_blocks import TomlBlock
from autotune.protocol import limits
from tests.support.deck_files import GRADER, WRITTEN
from tests.support.growth import growth

EXAMPLES = "answer.\n\n## Examples\n\n```toml\n[[examples]]\n{}\n```\n"
SETTINGS = "# Grader: Tone\n\n```toml\n{}\n```\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("+++\ndeck", "deck", 1, "expected a line +++"),
        ("+++\n\n# Sys", "\n# Sys", 1, "expected a second line +++"),
        ("deck = 1\n", "", 1, "deck: expected deck = 1"),
        ("deck = 1", "deck = 2", 2, "deck: expected deck = 1"),
        ('"Support"', "Support", 3, "expected TOML: Invalid value"),
        (
            '"Support"',
            '"Support"\nholdoutShare = 1.5',
            4,
            "holdoutShare: Input should be less than",
        ),
        (
            '"Support"',
            '"""\n\n"""\nholdout = 1',
            6,
            "holdout: no field of a deck file has this name",
        ),
        ('"Support"', '"Support"\n\ngraders = []', 5, "graders: expected a section # Grader"),
        ('"Support"', f'"{"x" * 201}"', 3, "name: String should have at most 200 characters"),
        ('name = "Support"', "# name", 1, "name: is missing"),
        (
            '"Support"',
            '"S"\n[judge]\nmodel = "m"\n\n[judge.params]\nx = 1',
            7,
            "judge.params.maxTokens: is",
        ),
        (
            '"Support"',
            '"S"\n[judge]\nmodel = "m"\nparams = "{"',
            6,
            "judge.params: expected a table, or J",
        ),
        (
            '"Support"',
            '"S"\n[judge]\nconnection = "x"\nmodel = "m"',
            5,
            "judge.connection: String should m",
        ),
        (
            '"Support"',
            '"Support"\nsystemPrompt = "x"',
            7,
            "systemPrompt: is given on line 4 already",
        ),
        (
            "\n\n# System",
            "\n\nHello\n\n# System",
            6,
            "expected # System prompt and # Grader: NAME;",
        ),
        ("# Grader: Tone", "# Judge: Tone", 19, "expected # System prompt and # Grader: NAME, not"),
        ("# Grader: Tone", "````", 19, "expected an end of this fence"),
        (
            "# Grader: Tone",
            "# System prompt\n\n```\nx\n```\n\n# Grader: T",
            19,
            "systemPrompt: is given on line 6",
        ),
        (
            "````\n\n# G",
            "````\nand more\n\n# G",
            18,
            "systemPrompt: expected the system prompt in one",
        ),
        (
            "````\n\n# G",
            "````\n\n## Levels\n\n# G",
            19,
            "systemPrompt: expected the system prompt in",
        ),
        ("# Grader: Tone", "# Grader", 19, "grader 1, name: is missing"),
        (
            "# Grader: Tone",
            SETTINGS.format("levels = 1"),
            22,
            "grader Tone, levels: expected a table of",
        ),
        (
            "# Grader: Tone",
            SETTINGS.format('tone = "x"'),
            22,
            "grader Tone, tone: no field of a deck",
        ),
        (
            "# Grader: Tone",
            SETTINGS.format("a = "),
            22,
            "grader Tone: expected TOML: Invalid value",
        ),
        (
            "# Grader: Tone",
            SETTINGS.format('\nname = "x"'),
            23,
            "grader Tone, name: is given on line 19",
        ),
        ("# Grader: Tone", "# Grader: Tone\n\nhello", 21, "grader Tone: expected a fence of TOML"),
        (
            "## Criteria",
            "## Criterion",
            21,
            "grader Tone: unknown section; a grader has ## Criteria",
        ),
        (
            "Is it kind?\n\n### What counts\n\n- a greeting",
            "",
            21,
            "expected text below ## Criteria",
        ),
        ("Is it kind?", "x" * 10_001, 21, "criteria: expected at most 10000 characters, not 10032"),
        ("- **-3**: Rude.", "", 29, "grader Tone, levels: expected seven levels; there is no -3"),
        ("- **-3**: Rude.", "- **-4**: Rude.", 38, "expected a level from -3 to +3, not -4"),
        ("- **-3**: Rude.", "- **+3**: Rude.", 38, "level +3 is on line 31 already"),
        (
            "Cold.",
            "x" * 2_001,
            37,
            "grader Tone, level -2: expected at most 2000 characters, not 2001",
        ),
        ("  and to", "and to", 32, "further lines of a level begin with two spaces"),
        (
            "There is no answer.",
            "x" * 2_001,
            40,
            "grader Tone, notApplicableWhen: expected at most 2000",
        ),
        (
            "## Not app",
            "## Criteria\n\nx\n\n## Not app",
            40,
            "criteria: is given on line 21 already",
        ),
        (
            "answer.\n",
            "answer.\n\n## Examples\n\n- x",
            46,
            "expected a fence of TOML with [[examples]]",
        ),
        (
            "answer.\n",
            EXAMPLES.format('input = "a"\noutput = """\n"""\n\nlevel = 4'),
            52,
            "grader Tone, example 1, level: Input should be less than or equal to 3",
        ),
        (
            "answer.\n",
            EXAMPLES.format('\n[[examples]]\ninput = "a"\nlevel = 1'),
            49,
            "grader Tone, example 2, output: is missing",
        ),
    ],
)
def test_what_is_wrong_is_told_by_line_field_and_limit(old, new, line, told):
    assert WRITTEN.count(old) == 1, old
    with pytest.raises(DeckFileError) as caught:
        parse_deck_file(WRITTEN.replace(old, new), source="a.deck.md")
    found = {fault.line: str(fault) for fault in caught.value.faults}
    assert line in found, found
    assert told in found[line]
    assert str(caught.value).startswith("a.deck.md, line ")
    assert re.fullmatch(r"(line \d+: .*)", found[line])


def test_all_faults_are_told_and_none_twice():
    broken = WRITTEN.replace("deck = 1", "deck = 2\nx = 1").replace("Cold.", "x" * 2_001)
    broken = broken.replace("- **0**: Neither.\n", "") + GRADER.replace("Rude", "x" * 2_001)
    with pytest.raises(DeckFileError) as caught:
        parse_deck_file(broken)
    told = [(fault.line, fault.field) for fault in caught.value.faults]
    assert told == [
        (2, "deck"),
        (3, "x"),
        (30, "grader Tone, levels"),
        (broken.split("\n").index("- **-3**: " + "x" * 2_001 + ".") + 1, "grader Tone, level -3"),
    ]


def test_a_file_that_is_too_large_is_not_looked_at():
    with pytest.raises(DeckFileError, match="expected at most 5000000 bytes, not 5000001"):
        parse_deck_file("é" * 2_500_000 + "x")
    most = limits.MAX_DECK_GRADERS * limits.MAX_LEVELS_RUBRIC_BYTES
    assert most + 4 * limits.MAX_DECK_PROMPT_CHARACTERS < 2_500_000


HEAD = '+++\ndeck = 1\nname = "x"\n+++\n\n# System prompt\n'


def faults(text: str) -> list[DeckFileFault]:
    with pytest.raises(DeckFileError) as caught:
        parse_deck_file(text)
    return list(caught.value.faults)


def test_blank_lines_before_a_text_take_linear_time() -> None:
    # Four times as many take four times as long, and sixteen times where it is quadratic.
    assert growth(lambda lines: faults(HEAD + "\n" * lines + "x"), 25_000, 100_000) < 9


def test_a_fault_behind_a_long_value_takes_linear_time() -> None:
    def long_value(lines: int) -> str:
        listed = '"' + "a" * 40 + '",\n'
        return f"+++\ndeck = 1\na = [\n{listed * lines}]\nname = 3\n+++\n"

    assert 1_000 + 5 in {one.line for one in faults(long_value(1_000)) if one.field == "name"}
    assert growth(lambda lines: faults(long_value(lines)), 500, 2_000) < 9


def test_the_line_is_found_behind_strings_that_hold_brackets_comments_and_quotes() -> None:
    block = TomlBlock(
        "\n".join(
            [
                '# a comment ] with "quotes',
                'first = """',
                '[ \\""" # no comment',
                'ends with two ""',
                '"""""',
                "second = '''",
                "it''s ] here",
                "''''",
                'third = ["]", \'"[\', # [',
                "  { inner = [1,",
                "  2] }]",
                "",
                "[table.'odd]name']",
                'fourth = "#[\\"" # ]',
                "[[list]]",
                "a = 1",
                "[[list]]",
                "a = 2",
            ]
        ),
        10,
    )
    lines = {
        ("first",): 12,
        ("second",): 16,
        ("third",): 19,
        ("third", 2, "inner"): 19,
        ("table", "odd]name"): 23,
        ("table", "odd]name", "fourth"): 24,
        ("list", 0, "a"): 26,
        ("list", 1, "a"): 28,
    }
    assert {path: block.line_of(path) for path in lines} == lines


def test_a_key_of_very_many_parts_is_a_fault_and_no_crash() -> None:
    deep = ".".join(["a"] * 5_000)
    assert faults(f"+++\ndeck = 1\n{deep} = 1\n+++\n")
