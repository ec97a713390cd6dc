"""Requests are packed into bodies that the API takes; a change of one leaves those before it."""

import pytest

from autotune.client import llm_packing
from autotune.protocol.llm_batches import EstimateLlmRequests
from autotune.protocol.llm_requests import EnqueueLlmRequest, EnqueueLlmRequests
from autotune_platform.runtime.bounded_json import require_bounded


def row(connection_id, user="Is it safe?", **fields):
    return {
        "connectionId": connection_id,
        "purpose": "scoring",
        "model": "gpt-5",
        "input": {"user": user},
        "params": {"maxTokens": 64},
        **fields,
    }


def packed(rows, most_values=EnqueueLlmRequests.most_values):
    return list(llm_packing.RowPacker(most_values=most_values).pack(rows))


def test_requests_are_packed_by_number_bytes_and_values():
    connection_id = "llc_" + "0" * 26
    assert [one.count for one in packed(row(connection_id) for _ in range(2_500))] == [
        1_000,
        1_000,
        500,
    ]
    large = [row(connection_id, "é" * 700_000) for _ in range(5)]
    assert [(one.index, one.offset, one.count) for one in packed(large)] == [
        (0, 0, 2),
        (1, 2, 2),
        (2, 4, 1),
    ]
    assert all(len(one.body) < 3_000_100 for one in packed(large))
    labels = {f"l{n}": n for n in range(100)}
    verdict = {"type": "label", "labels": list(labels), "map": labels}
    many = packed(row(connection_id, verdict=verdict) for _ in range(100))
    assert len(many) == 1
    few = packed((row(connection_id, verdict=verdict) for _ in range(100)), most_values=5_000)
    assert [one.count for one in few] == [16, 16, 16, 16, 16, 16, 4]
    requests = EnqueueLlmRequests.model_validate_json(few[1].body).requests
    assert requests[0].verdict.map == labels


def test_a_change_of_a_row_leaves_the_bodies_before_it_as_they_are():
    connection_id = "llc_" + "0" * 26
    rows = [row(connection_id, "x" * 400_000) for _ in range(12)]
    first, second, *_ = packed(rows)
    rows[second.offset] = row(connection_id, "short")
    assert packed(rows)[0].digest == first.digest


@pytest.mark.parametrize("model", [EnqueueLlmRequests, EstimateLlmRequests])
def test_the_api_takes_as_many_values_as_are_packed(model):
    labels = {f"l{n}": n for n in range(100)}
    verdict = {"type": "label", "labels": list(labels), "map": labels}
    rows = (row("llc_" + "0" * 26, verdict=verdict, labels={}) for _ in range(2_000))
    bodies = packed(rows, model.most_values)
    for one in bodies:
        require_bounded(one.body, most_values=model.most_values)
    assert sum(one.count for one in bodies) == 2_000


def test_equal_requests_have_equal_digests_and_others_have_not():
    connection_id = "llc_" + "0" * 26
    (one,), (same,), (other,) = (
        packed([item])
        for item in (
            row(connection_id),
            EnqueueLlmRequest.model_validate(row(connection_id)),
            row(connection_id, "Is it wrong?"),
        )
    )
    assert one.digest == same.digest != other.digest
