"""Which YAML is refused whatever it says, and on which line."""

import pytest

from autotune.client.apprentice_files.faults import ApprenticeFileError
from autotune.client.apprentice_files.yaml_text import MOST_BYTES, MOST_DEPTH, read_yaml


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: &x [1]\nb: *x\n", 2, "aliases such as *x"),
        ("a:\n  b: 1\n  c: *x\n", 3, "aliases"),
        ("? *x\n: 1\n", 1, "aliases"),
        ("a: 1\nb: !!python/object/apply:os.system [ls]\n", 2, "tags"),
        ("a: 1\n---\nb: 2\n", 2, "one document"),
        ("a: [1\nb: 2\n", 2, "no YAML"),
        ("a: 1\nb:\tc: d\n", 2, "no YAML"),
        ('a: 1\nb: "\\U00110000"\n', 2, "no character"),
        ('a: 1\nb: "\\ud800"\n', 2, "surrogate"),
        ("a: 1\nb: \x00\n", 2, "U+0000"),
        ("a: 1\n? [b]\n: 2\n", 2, "a text"),
        (f"a: 1\nb: {'9' * 19}\n", 2, "18 digits"),
        ("a: 1\nb: 1e999\n", 2, "finite"),
        (f"a: 1\n{'k' * 201}: 1\n", 2, "200 characters"),
        ("a: 1\nb: " + "[" * 100_000, 2, f"{MOST_DEPTH} levels"),
        ("a: 1\nb: [" + "1," * 60_000 + "]", 2, "50000 values"),
        ("a: " + "x" * MOST_BYTES, 1, f"{MOST_BYTES} bytes"),
    ],
)
def test_what_is_no_bounded_yaml_has_its_line(text, line, said):
    try:
        faults = read_yaml(text, source="f").faults
    except ApprenticeFileError as error:
        faults = error.faults
    (fault,) = faults
    assert fault.line == line
    assert said in fault.expected


def test_a_billion_laughs_are_refused_at_the_first():
    lines = ["a0: &a0 [lol, lol]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]
    with pytest.raises(ApprenticeFileError, match=r"^f:2: a1"):
        read_yaml("\n".join(lines), source="f")
