"""Examples are brought, listed with their texts, counted, and deleted."""

import json
from datetime import datetime

import pytest

from autotune.protocol.limits import MAX_EXAMPLES_AT_ONCE, MAX_IMPORTED_EXAMPLES
from autotune_platform.apprentice.examples.items import counts_key
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice_folding import Apprentice
from tests.support.apprentice_runs import ANSWER
from tests.support.kept import kept

PATH = "/api/v1/apprentice/tasks/intents/examples"
OPEN = {"input": {"text": "Open!"}, "output": {"intent": "open_door"}}


@pytest.fixture
def task(runs):
    return runs.put()


def lines(*examples):
    texts = (one if isinstance(one, str) else json.dumps(one) for one in examples)
    return "\n".join(texts).encode()


def example(number):
    return {"input": {"text": f"question {number}"}, "output": {"intent": f"intent {number % 3}"}}


def bring(runs, *examples):
    answer = runs.platform.call("POST", PATH, raw=lines(*examples))
    assert answer.status == 201, answer.text
    return answer.json


def listed(runs, **query):
    answer = runs.platform.call("GET", PATH, query=query)
    assert answer.status == 200, answer.text
    return answer.json["examples"]


def counted(runs, **query):
    answer = runs.platform.call("GET", f"{PATH}/counts", query=query)
    assert answer.status == 200, answer.text
    return answer.json["counts"]


def follow(runs):
    Apprentice.follow(None, Apprentice.records())


def test_what_is_brought_is_listed_as_it_came(runs, task):
    assert bring(runs, OPEN) == {"added": 1, "repeated": 0, "rejected": []}
    [found] = listed(runs)
    assert {name: found[name] for name in ("input", "output")} == OPEN
    assert (found["selection"], found["definitionHash"]) == ("imported", task["definitionHash"])
    assert "propensity" not in found or found["propensity"] is None
    assert datetime.fromisoformat(found["at"])


def test_the_same_line_again_is_the_same_example(runs, task):
    shuffled = '{"output": {"intent":"open_door"},   "input": {"text": "Open!"}}'
    assert bring(runs, OPEN, shuffled)["added"] == 1
    assert bring(runs, OPEN, example(1)) == {"added": 1, "repeated": 1, "rejected": []}
    assert len(listed(runs)) == counted(runs)["examples"] == 2


def test_what_is_listed_can_be_brought_to_another_task(runs, task):
    bring(runs, OPEN)
    runs.put("others")
    answer = runs.platform.call("POST", PATH.replace("intents", "others"), raw=lines(*listed(runs)))
    assert answer.json == {"added": 1, "repeated": 0, "rejected": []}


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("no json", "line"),
        ("[1]", "line"),
        ('{"input": {"text": "a"}}', "output"),
        ('{"input": {"text": 1}, "output": {"intent": "a"}}', "input.text"),
        ('{"input": {"text": "a", "more": 1}, "output": {"intent": "a"}}', "input"),
        ('{"input": {"text": "a"}, "output": {"reason": "a"}}', "output.intent"),
        ('{"input": {"text": "a"}, "output": "a"}', "output"),
        ('{"input": {"text": "a"}, "output": {"intent": "a"}, "ouput": 1}', "ouput"),
        ('{"input": {"text": "\\ud800"}, "output": {"intent": "a"}}', "input"),
        (json.dumps({"input": {"text": "a" * 100_000}, "output": {"intent": "a"}}), "input"),
        (json.dumps({"input": {"text": "a"}, "output": {"intent": "a" * 100_000}}), "output"),
    ],
)
def test_a_faulty_line_is_named_and_the_others_are_added(runs, task, line, field):
    found = bring(runs, OPEN, "", line, example(1))
    assert (found["added"], found["repeated"]) == (2, 0)
    [rejected] = found["rejected"]
    assert (rejected["line"], rejected["field"]) == (3, field)
    assert rejected["expected"]


def test_requests_are_bounded(runs, task):
    assert runs.platform.call("POST", PATH, raw=b"\n \n").fields == {
        "body": "at least one line with an example"
    }
    many = lines(*[OPEN] * (MAX_EXAMPLES_AT_ONCE + 1))
    refused = runs.platform.call("POST", PATH, raw=many)
    assert (refused.status, refused.json["limit"]["maximum"]) == (413, MAX_EXAMPLES_AT_ONCE)
    assert listed(runs) == []


def test_a_definition_has_only_so_many_imported_examples(runs, task):
    table = Table("apprentice", clients.dynamodb())
    key = counts_key(task["definitionHash"])
    table.put({"pk": task["id"], "sk": key, "stored_imported": MAX_IMPORTED_EXAMPLES - 1})
    assert bring(runs, OPEN)["added"] == 1
    # What is there already needs no room.
    assert bring(runs, OPEN)["repeated"] == 1
    refused = runs.platform.call("POST", PATH, raw=lines(OPEN, example(1)))
    assert (refused.status, refused.json["code"]) == (409, "limit_reached")
    assert len(listed(runs)) == 1


def test_pages_have_all_of_it_once(runs, task):
    bring(runs, *(example(number) for number in range(60)))
    found, token = [], None
    while True:
        query = {"limit": 7, **({"nextToken": token} if token else {})}
        page = runs.platform.call("GET", PATH, query=query).json
        found += page["examples"]
        token = page.get("nextToken")
        if token is None:
            break
    assert len({one["id"] for one in found}) == len(found) == 60
    assert sorted(one["input"]["text"] for one in found) == sorted(
        f"question {number}" for number in range(60)
    )


def test_a_page_of_long_examples_is_short(runs, task):
    long = [
        {"input": {"text": f"{number} {'a' * 99_000}"}, "output": {"intent": "b" * 90_000}}
        for number in range(14)
    ]
    bring(runs, *long)
    page = runs.platform.call("GET", PATH, query={"limit": 200}).json
    assert len(page["examples"]) == 10
    rest = listed(runs, limit=200, nextToken=page["nextToken"])
    assert len({one["id"] for one in (*page["examples"], *rest)}) == 14
    assert len(page["examples"]) + len(rest) == 14


def test_a_token_of_another_list_is_refused(runs, task):
    bring(runs, *(example(number) for number in range(5)))
    token = runs.platform.call("GET", PATH, query={"limit": 2}).json["nextToken"]
    query = {"nextToken": token, "definitionHash": "0" * 64}
    for refused in (query, {"nextToken": "nonsense"}, {"definitionhash": "0" * 64}):
        assert runs.platform.call("GET", PATH, query=refused).status == 422


def test_what_a_run_was_answered_is_an_example(runs, task):
    run = runs.start(wait=20).json["run"]
    follow(runs)
    [found] = listed(runs)
    assert (found["input"], found["output"]) == (run["input"], json.loads(ANSWER))
    assert (found["runId"], found["selection"], found["propensity"]) == (run["id"], "phase1", 1)
    assert counted(runs)["selections"] == {
        "phase1": 1,
        "random": 0,
        "escalated": 0,
        "imported": 0,
    }


def test_an_example_has_no_texts_once_its_request_has_none(runs, task):
    run = runs.start(wait=20).json["run"]
    follow(runs)
    [row_id] = run["routing"]["requestIds"]
    erased = runs.platform.call("DELETE", f"/api/v1/llm-requests/{row_id}/content")
    assert erased.status == 204, erased.text
    [found] = listed(runs)
    assert (found.get("input"), found.get("output")) == (None, None)


def test_counts_say_how_many_train_and_validate(runs, task):
    bring(runs, *(example(number) for number in range(40)))
    for number in range(8):
        runs.start({"text": f"asked {number}"}, wait=20)
    follow(runs)
    runs.put(training={"backend": "linear", "fineTuneBatchSize": 50, "holdout": 0.5})
    found = counted(runs)
    assert found["split"] == {"holdout": 0.5, "splitBy": [], "isFixed": False}
    sides = [(one["side"], one["selection"]) for one in listed(runs, limit=200)]
    assert found["sides"] == {
        "train": sum(side == "train" for side, _ in sides),
        "holdout": sides.count(("holdout", "phase1")),
        # People choose what they bring: that says nothing of how often inputs come.
        "neither": sides.count(("holdout", "imported")),
    }
    assert min(found["sides"].values()) > 0
    assert sum(found["sides"].values()) == found["examples"] == 48


def test_a_deleted_example_is_gone_and_its_run_stays(runs, task):
    run = runs.start(wait=20).json["run"]
    bring(runs, OPEN, example(1))
    follow(runs)
    for found in listed(runs):
        assert runs.platform.call("DELETE", f"{PATH}/{found['id']}").status == 204
        assert runs.platform.call("DELETE", f"{PATH}/{found['id']}").status == 404
    follow(runs)
    assert listed(runs) == []
    assert counted(runs)["examples"] == 0
    assert runs.read(run["id"])["output"] == json.loads(ANSWER)
    assert [one.key for one in kept() if "imported" in one.key] == []
    # It may be brought again.
    assert bring(runs, OPEN)["added"] == 1


def test_examples_of_a_definition_before_are_still_listed(runs, task):
    bring(runs, OPEN)
    runs.put(systemPrompt="Another one.")
    assert listed(runs) == []
    [found] = listed(runs, definitionHash=task["definitionHash"])
    assert counted(runs, definitionHash=task["definitionHash"])["examples"] == 1
    assert runs.platform.call("DELETE", f"{PATH}/{found['id']}").status == 204


def test_imported_examples_go_with_their_task(runs, task):
    bring(runs, *(example(number) for number in range(30)))
    assert runs.platform.call("DELETE", PATH.removesuffix("/examples")).status == 204
    assert [one.key for one in kept() if one.key.startswith(task["id"])] == []


def test_enough_imported_examples_end_the_first_phase(runs, task):
    bring(runs, *(example(number) for number in range(50)))
    status = runs.platform.call("GET", PATH.replace("examples", "status")).json["status"]
    assert (status["examples"], status["examplesNeeded"]) == (50, 50)


@pytest.mark.parametrize("path", [PATH, f"{PATH}/counts"])
def test_a_task_that_is_not_there_has_none(runs, path):
    assert runs.platform.call("GET", path.replace("intents", "nobody")).status == 404
    gone = f"{PATH.replace('intents', 'nobody')}/exm_{0:026}"
    assert runs.platform.call("DELETE", gone).status == 404
    assert runs.platform.call("DELETE", f"{PATH}/exm_{0:026}").status == 404
