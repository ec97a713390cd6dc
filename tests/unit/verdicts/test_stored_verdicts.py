"""A verdict is stored under its generation, and the first generation as it always was."""

import pytest

from autotune_platform.verdicts.stored_verdicts import (
    opinion_key,
    verdict_attributes,
    verdict_from,
    verdict_key,
)
from tests.support.verdicts import verdict


def test_the_first_generation_has_the_keys_and_attributes_of_before() -> None:
    assert verdict_key("grd_1", "1#2") == "verdict#grd_1#1#2"
    assert opinion_key("grd_1", "1#2") == "opinion#grd_1#1#2"
    assert "generation" not in verdict_attributes(verdict(1))


@pytest.mark.parametrize("version", ["1.0.0", "1#2", "#1#", "1#grd_1"])
@pytest.mark.parametrize("generation", [0, 1, 20])
def test_a_generation_is_read_from_the_key_whatever_the_version(
    version: str, generation: int
) -> None:
    stored = verdict(1, generation=generation, grader_id="grd_1", grader_version=version)
    sort_key = verdict_key(stored.grader_id, version, generation)
    item = {"pk": stored.completion_id, "sk": sort_key, **verdict_attributes(stored)}
    assert verdict_from(item) == stored
