"""Texts of many samples are compared without holding all of them."""

import pytest

from autotune_platform.decks import sample_repository
from tests.support.deck_labels import LabelledDeck
from tests.support.platform import Platform


def test_an_edit_unpacks_the_samples_that_it_is_compared_with_one_by_one(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck = LabelledDeck(platform, samples=30)
    deck.label(dict.fromkeys(deck.samples, 1))
    held: list[int] = []
    compared = 0
    unpack, walk = sample_repository.unpack, sample_repository.SampleRepository.each_texts

    def counted(body: bytes) -> object:
        held[-1] += 1
        return unpack(body)

    def walked(repository: sample_repository.SampleRepository, samples: object) -> object:
        nonlocal compared
        held.append(0)
        for one in walk(repository, samples):  # type: ignore[arg-type]
            assert held[-1] == 1, "the one before is let go before another is unpacked"
            compared += 1
            yield one
            held[-1] = 0

    monkeypatch.setattr(sample_repository, "unpack", counted)
    monkeypatch.setattr(sample_repository.SampleRepository, "each_texts", walked)
    patch = [{"field": "criteria", "find": "", "replace": "Say why, in your own words."}]
    rubric = platform.call("GET", deck.path).json["grader"]["rubric"]
    patch[0]["find"] = rubric["criteria"]
    answer = platform.call("POST", f"{deck.path}/edits", {"patch": patch, "baseVersion": 1})
    assert answer.status == 201, answer.text
    assert compared == len(deck.samples)
