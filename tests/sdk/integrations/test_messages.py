import pytest

from autotune.integrations.rollouts import text_of


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("2 + 2 = ?", "2 + 2 = ?"),
        ("", ""),
        ([], ""),
        ([{"role": "user", "content": "2 + 2 = ?"}], "2 + 2 = ?"),
        (
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2 = ?"}],
            "system: Be brief.\n\nuser: 2 + 2 = ?",
        ),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "image_url"}, {"type": "text", "text": "What is this?"}],
                }
            ],
            "[image_url]\nWhat is this?",
        ),
        ([{"role": "user", "content": ["a", "b"]}], "a\nb"),
        (
            [{"role": "assistant", "content": None, "tool_calls": [{"name": "f", "x": "é"}]}],
            '{"name":"f","x":"é"}',
        ),
        ([{"role": "assistant", "content": None}], ""),
    ],
)
def test_what_was_said_is_text(said, text):
    assert text_of(said) == text
