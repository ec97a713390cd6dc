import io
import json

import pytest

from autotune import InvalidInputError
from autotune.cli import lines as lines_module
from autotune.cli.lines import InvalidLineError, count_lines, parse_line, read_completions

TASK_ID = "task_" + "0" * 26
OTHER_TASK_ID = "task_" + "1" * 26
GOOD = {"prompt": "p", "response": "r", "modelId": "m"}


def read(content: bytes, **options):
    return list(
        read_completions(
            io.BytesIO(content),
            source="f.jsonl",
            **{"task_id": TASK_ID, "model_id": None, "rejected": None, **options},
        )
    )


def parse(value, model_id=None):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return parse_line(raw, task_id=TASK_ID, model_id=model_id)


def test_a_line_becomes_a_completion_of_the_task():
    completion = parse(GOOD | {"metadata": {"answer": "18"}})
    assert (completion.task_id, completion.model_id) == (TASK_ID, "m")
    assert completion.metadata == {"answer": "18"}


def test_the_model_option_replaces_or_supplies_the_model_id():
    assert parse(GOOD, model_id="x").model_id == "x"
    assert parse({"prompt": "p", "response": "r"}, model_id="x").model_id == "x"
    assert parse({"prompt": "p", "response": "r", "model_id": "y"}, model_id="x").model_id == "x"


def test_a_line_may_repeat_the_task_but_not_name_another():
    assert parse(GOOD | {"taskId": TASK_ID}).task_id == TASK_ID
    with pytest.raises(InvalidInputError, match=f"taskId: {TASK_ID}"):
        parse(GOOD | {"taskId": OTHER_TASK_ID})


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"{", "one JSON object"),
        (b"null", "not NoneType"),
        (b'"text"', "not str"),
        (b'{"prompt": "\xff"}', "UTF-8"),
        (b'{"prompt": NaN}', "NaN is not JSON"),
        (b"[" * 100_000, "nests less deep"),
        (b'{"prompt": "\\ud800", "response": "r", "modelId": "m"}', "prompt: "),
        (json.dumps(GOOD | {"extra": 1}).encode(), "extra: Extra inputs"),
        (json.dumps(GOOD | {"modelId": ""}).encode(), "modelId: "),
        (json.dumps(GOOD | {"metadata": []}).encode(), "metadata: "),
        (json.dumps(GOOD | {"metadata": {"x": "y" * 70_000}}).encode(), "at most 65536 bytes"),
        (json.dumps(GOOD | {"response": "y" * 5_000_000}).encode(), "completion: at most"),
        (b'{"prompt": "p"}', "response: Field required"),
    ],
)
def test_a_line_at_fault_is_told_with_its_field(raw, told):
    with pytest.raises(InvalidInputError, match=told):
        parse(raw)


def test_numbers_count_every_line_and_blank_ones_are_skipped():
    good = json.dumps(GOOD).encode()
    assert len(read(b"\xef\xbb\xbf" + good + b"\n\n  \r\n" + good)) == 2
    with pytest.raises(InvalidLineError, match=r"^f\.jsonl, line 4: expected one JSON ") as caught:
        read(good + b"\n\n\n{\n" + good)
    assert caught.value.line == 4


def test_a_line_without_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(lines_module, "LONGEST_LINE_BYTES", 100)
    with pytest.raises(InvalidLineError, match="line 2: expected at most 100 bytes"):
        read(json.dumps(GOOD).encode() + b"\n" + b"x" * 101)


@pytest.mark.parametrize(
    ("content", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)]
)
def test_lines_are_counted_and_the_file_is_wound_back(content, count):
    stream = io.BytesIO(content)
    assert count_lines(stream) == count
    assert stream.read() == content
