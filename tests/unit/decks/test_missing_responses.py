"""When a comparison of two prompts stands although responses are missing."""

import pytest

from autotune_platform.decks.prompting.missing import missing_because


@pytest.mark.parametrize(
    ("drawn", "pairs", "old", "new", "because"),
    [
        (100, 100, 100, 100, None),
        (100, 95, 98, 97, None),
        (100, 94, 97, 97, "missing_responses"),
        (1000, 995, 1000, 995, None),
        (1000, 994, 1000, 994, "unequal_responses"),
        (1000, 994, 994, 1000, "unequal_responses"),
        (1000, 960, 980, 980, None),
        (0, 0, 0, 0, None),
    ],
)
def test_few_missing_responses_of_both_prompts_alike_are_borne(
    drawn: int, pairs: int, old: int, new: int, because: str | None
) -> None:
    assert missing_because(drawn, pairs, old=old, new=new) == because
