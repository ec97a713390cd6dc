import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune import InvalidInputError, NewCompletion
from autotune.client import submissions
from autotune.client.submissions import BatchPacker, pack
from autotune.protocol.completions import BatchSubmitRequest
from autotune.protocol.limits import MAX_REQUEST_BYTES

TASK_ID = "task_" + "0" * 26


def completion(number, response="r"):
    return {"taskId": TASK_ID, "modelId": "m", "prompt": f"p{number}", "response": response}


@given(
    lengths=st.lists(st.integers(0, 1_200_000), max_size=12),
    batch_size=st.integers(1, 7),
)
def test_every_completion_is_in_one_batch_in_order_and_within_limits(lengths, batch_size):
    source = [completion(number, "é" * length) for number, length in enumerate(lengths)]
    batches = list(pack(source, BatchPacker(batch_size=batch_size, priority="high")))
    prompts = []
    for index, batch in enumerate(batches):
        request = BatchSubmitRequest.model_validate_json(batch.body)
        assert (batch.index, batch.offset) == (index, len(prompts))
        assert len(request.completions) == batch.count <= batch_size
        assert batch.count == 1 or len(batch.body) <= submissions.BATCH_BYTES_TARGET + 100
        assert len(batch.body) <= MAX_REQUEST_BYTES
        assert request.priority == "high"
        prompts += [one.prompt for one in request.completions]
    assert prompts == [one["prompt"] for one in source]


def test_equal_completions_have_equal_digests_and_others_have_not():
    one, two, three = (
        next(pack(items, BatchPacker()))
        for items in (
            [completion(1)],
            [NewCompletion.model_validate(completion(1))],
            [completion(2)],
        )
    )
    assert one.digest == two.digest != three.digest


def test_packing_is_lazy():
    def endless():
        number = 0
        while True:
            yield completion(number)
            number += 1

    batches = pack(endless(), BatchPacker(batch_size=10))
    assert [next(batches).offset for _ in range(3)] == [0, 10, 20]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"response": "r"}, r"completions\[1\]\.prompt: Field required"),
        (completion(1) | {"extra": 1}, r"completions\[1\]\.extra"),
        (completion(1) | {"taskId": "x"}, r"completions\[1\]\.taskId"),
        (completion(1, "x" * MAX_REQUEST_BYTES), r"completions\[1\]: at most"),
    ],
)
def test_a_completion_at_fault_is_named_by_its_place(broken, told):
    with pytest.raises(InvalidInputError, match=told):
        list(pack([completion(0), broken], BatchPacker()))


@pytest.mark.parametrize("batch_size", [0, 501])
def test_a_batch_size_out_of_range_is_refused(batch_size):
    with pytest.raises(InvalidInputError, match="batch_size"):
        BatchPacker(batch_size=batch_size)


def test_text_of_every_language_arrives_unchanged():
    text = 'quotes " and \\ and \u2028 and 漢字 and 🎲'
    body = next(pack([completion(0, text)], BatchPacker())).body
    assert json.loads(body)["completions"][0]["response"] == text
