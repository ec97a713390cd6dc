"""What counts as copied from a sample, in scripts with and without spaces between words."""

import pytest

from autotune_platform.decks.fixing.copying import added_runs, is_copied
from autotune_platform.judging.rubric.conversations import SampleTexts

ENGLISH = "It rained the whole day in Ulm and nobody walked the streets at all"
CHINESE = "今天乌尔姆下了一整天的雨。街道上几乎没有行人。商店也都早早关门了。晚上还停了电。"
JAPANESE = "今日はウルムで一日中雨が降り、通りにはほとんど人がいませんでした。"
THAI = "วันนี้ฝนตกทั้งวันในเมืองอุล์มและแทบไม่มีใครเดินบนถนนเลย"


def from_sample(text: str, added: str, *, before: str = "Is it right?") -> bool:
    sample = SampleTexts(turns=(), response=f"He said: {text}")
    return is_copied(added_runs([(before, before + added)]), sample)


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, JAPANESE, THAI])
def test_a_long_run_of_a_sample_is_copied_in_any_script(text: str) -> None:
    assert from_sample(text, f" {text}")
    assert from_sample(text, f" ({text.swapcase()})"), "case makes no difference"
    assert not from_sample(text, f" {text[: len(text) // 5]}")
    assert not from_sample(text, " It is long", before=text), "what stood there was there before"


@pytest.mark.parametrize(
    ("text", "least"), [("a b c d e f g h i j", 15), ("一二三四五六七八九十百千万億兆京垓", 16)]
)
def test_a_run_is_eight_words_or_as_many_characters_as_these_have(text: str, least: int) -> None:
    assert from_sample(text, " " + text[:least])
    assert not from_sample(text, " " + text[: least - 1])


def test_words_among_characters_count_as_words() -> None:
    text = "请用 Python 写一个函数 sorted list 返回结果和说明"
    assert from_sample(text, text)
    assert not from_sample(text, "请用 Python 写一个函数")
