import pytest

from autotune import NotFoundError
from autotune.protocol.ids import new_id


def test_batches_are_listed_and_so_is_what_is_in_one(api, client):
    task_id = api.new_task()
    items = [{"modelId": f"m-{n}", "prompt": str(n), "response": "r"} for n in range(3)]
    first, second = (api.platform.submit(task_id, *items).json for _ in range(2))
    api.platform.score_everything()
    listed = list(client.batches.list(task_id=task_id, page_size=1))
    assert [batch.id for batch in listed] == [second["batchId"], first["batchId"]]
    assert [batch.counts.expected for batch in listed] == [3, 3]
    scored = client.batches.completions(second["batchId"], state="scored", page_size=2)
    assert [one.completion_id for one in scored] == second["completionIds"]
    assert list(client.batches.completions(second["batchId"], state="pending")) == []
    everything = client.batches.completions(first["batchId"])
    assert [one.model_id for one in everything] == ["m-0", "m-1", "m-2"]
    with pytest.raises(NotFoundError):
        list(client.batches.completions(new_id("bat")))
