"""What trainers hear: scores, or errors that say why there are none; never a number instead."""

import threading
import time
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from tests.component.rewards.conftest import Rewarded, value_of
from tests.support.killing import Killer

ASSISTANT = {"role": "assistant", "content": "r7"}
USER = {"role": "user", "content": "p7"}


def _openrlhf(answer: Any) -> list[float]:
    assert answer["rewards"] == answer["scores"]
    assert answer["extra_logs"] == {"confidence": [0.9] * len(answer["scores"])}
    found: list[float] = answer["rewards"]
    return found


CONTRACTS: dict[str, tuple[Any, Any]] = {
    "openrlhf": ({"query": ["p7r7"], "prompts": ["p7"], "labels": ["x"]}, _openrlhf),
    "slime": ({"prompt": "p7", "response": "r7", "label": "x"}, lambda answer: [answer]),
    "nemo-gym/verify": (
        {
            "responses_create_params": {"input": [USER]},
            "response": {
                "id": "r",
                "output": [
                    {"type": "reasoning", "summary": []},
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "r7"}],
                    },
                ],
            },
            "label": "x",
        },
        lambda answer: [answer["reward"]],
    ),
    "azure": (
        {
            "sample": {"output_text": "r7", "choices": []},
            "item": {"messages": [USER], "label": "x"},
            "trace_id": "trace_1",
        },
        lambda answer: [answer["score"]],
    ),
    "eval-protocol/evaluate": (
        {"messages": [USER, ASSISTANT], "ground_truth": [USER], "label": "x"},
        lambda answer: [answer["score"]],
    ),
    "nova": (
        [{"id": "1", "messages": [USER, ASSISTANT], "metadata": {"label": "x"}}],
        lambda answer: [one["aggregate_reward_score"] for one in answer],
    ),
}


def test_every_contract_asks_the_same_question_and_hears_the_same_score(
    rewarded: Rewarded,
) -> None:
    for path, (body, _) in CONTRACTS.items():
        answer = rewarded.platform.ask(f"{rewarded.path}/{path}", body)
        assert (answer.status, answer.json["code"]) == (503, "score_pending"), answer.text
        assert answer.headers["retry-after"] == "5"
    rewarded.platform.score_everything()
    for path, (body, values) in CONTRACTS.items():
        answer = rewarded.platform.ask(f"{rewarded.path}/{path}", body)
        assert answer.status == 200, answer.text
        assert values(answer.json) == [value_of("r7")]
    ((_, asked),) = rewarded.grader.requests
    completion = asked.get("completion") or asked["completions"][0]
    told = {name: completion[name] for name in ("prompt", "response", "metadata")}
    assert told == {"prompt": "p7", "response": "r7", "metadata": {"label": "x"}}


def test_nemo_gym_hears_its_request_again(rewarded: Rewarded) -> None:
    body, _ = CONTRACTS["nemo-gym/verify"]
    path = f"{rewarded.path}/nemo-gym/verify"
    rewarded.platform.ask(path, body)
    rewarded.platform.score_everything()
    assert rewarded.platform.ask(path, body).json == {**body, "reward": value_of("r7")}


def test_a_score_of_nothing_is_told_as_a_number(rewarded: Rewarded) -> None:
    rewarded.slime("v0.0")
    rewarded.platform.score_everything()
    answer = rewarded.slime("v0.0")
    assert (answer.status, answer.text) == (200, "0.0")


def test_one_wait_is_enough_where_scores_come_in_time(rewarded: Rewarded) -> None:
    later = threading.Thread(target=score_once_queued, args=(rewarded,))
    later.start()
    answer = rewarded.openrlhf(("p", "a", None), ("p", "b", None), wait=20)
    later.join()
    assert answer.json["rewards"] == [value_of("a"), value_of("b")]


@pytest.mark.parametrize(
    ("response", "status", "code", "told"),
    [
        ("abstain", 422, "not_scored", "abstained"),
        ("fail", 503, "scoring_failed", "failed (item_failed)"),
    ],
)
def test_what_has_no_score_is_an_error_and_never_a_number(
    rewarded: Rewarded, response: str, status: int, code: str, told: str
) -> None:
    later = threading.Thread(target=score_once_queued, args=(rewarded,))
    later.start()
    answer = rewarded.openrlhf(("p", "a", None), ("p", response, None), wait=20)
    later.join()
    assert (answer.status, answer.json["code"]) == (status, code)
    assert answer.fields == {"query[1]": f"a score, where this one is {told}"}
    assert ("retry-after" in answer.headers) == (status == 503)
    assert "secret words" not in answer.text


def test_what_was_canceled_has_no_score(rewarded: Rewarded) -> None:
    rewarded.slime()
    (batch,) = [run["completion_ids"] for run in _dispatched(rewarded)]
    rewarded.platform.call("POST", f"/api/v1/completions/{batch[0]}/cancel")
    assert rewarded.slime().json["code"] == "not_scored"


def score_once_queued(rewarded: Rewarded) -> None:
    """Score what is asked for as soon as it is on its queue, however busy the machine is."""
    platform = rewarded.platform
    for _ in range(150):
        time.sleep(0.1)
        if records := platform.queued():
            platform.dispatch(records)
            platform.finish(platform.runs())
            return


def _dispatched(rewarded: Rewarded) -> list[dict[str, Any]]:
    rewarded.platform.dispatch(rewarded.platform.queued())
    return rewarded.platform.runs()


def test_a_failed_one_is_asked_anew_and_the_rest_is_kept(rewarded: Rewarded) -> None:
    asked = [("p", "a", None), ("p", "fail", None)]
    rewarded.openrlhf(*asked)
    rewarded.platform.score_everything()
    assert rewarded.openrlhf(*asked).json["code"] == "score_pending"
    judge = rewarded.grader.judge
    rewarded.grader.judge = lambda one: judge({**one, "response": "mended"})  # type: ignore[method-assign]
    rewarded.platform.score_everything()
    assert rewarded.openrlhf(*asked).json["rewards"] == [value_of("a"), value_of("mended")]
    assert sorted(rewarded.responses_graded()) == ["a", "fail", "fail"]


def test_what_a_trainer_leaves_at_the_end_of_responses_is_taken_off(rewarded: Rewarded) -> None:
    stops = {"query": {"stop": "<|im_end|>"}}
    rewarded.openrlhf(("p", "a<|im_end|>", None), ("p", "b", None), **stops)
    rewarded.platform.score_everything()
    assert rewarded.responses_graded() == ["a", "b"]
    answer = rewarded.openrlhf(("p", "a", None), ("p", "b<|im_end|>", None), **stops)
    assert answer.json["rewards"] == [value_of("a"), value_of("b")]


def test_a_stop_may_hold_a_comma(rewarded: Rewarded) -> None:
    stops = {"query": {"stop": ["a,b", ","]}}
    rewarded.openrlhf(("p", "yes b", None), ("p", "no a,b", None), ("p", "end,", None), **stops)
    rewarded.platform.score_everything()
    assert rewarded.responses_graded() == ["yes b", "no ", "end"]


def test_a_list_is_one_batch(rewarded: Rewarded) -> None:
    rewarded.openrlhf(*[("p", f"r{n}", None) for n in range(20)])
    assert [len(run["completion_ids"]) for run in _dispatched(rewarded)] == [20]


def test_a_deleted_task_is_told_to_who_may_ask(rewarded: Rewarded) -> None:
    rewarded.platform.call("DELETE", f"/api/v1/tasks/{rewarded.task_id}")
    answer = rewarded.slime()
    assert (answer.status, answer.json["code"]) == (410, "task_deleted")


def test_a_grader_that_is_gone_is_told_each_time(rewarded: Rewarded) -> None:
    task = rewarded.platform.call("GET", f"/api/v1/tasks/{rewarded.task_id}").json["task"]
    rewarded.platform.call("DELETE", f"/api/v1/graders/{task['graderId']}")
    killer = Killer()
    for _ in range(2):
        answer = rewarded.openrlhf(("p", "a", None), ("p", "b", None))
        assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert set(killer.called).isdisjoint({"PutItem", "BatchWriteItem", "UpdateItem"})


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("openrlhf", {"prompts": ["p"]}, "query"),
        ("openrlhf", {"query": [], "prompts": []}, "query"),
        ("openrlhf", {"query": ["pr"], "prompts": ["p", "q"]}, "prompts"),
        ("openrlhf", {"query": ["pr"], "prompts": ["p"], "labels": []}, "labels"),
        ("openrlhf", {"query": ["xr"], "prompts": ["p"]}, "query[0]"),
        ("openrlhf", {"query": [7], "prompts": ["p"]}, "query[0]"),
        ("openrlhf", {"query": ["r"] * 501, "prompts": [""] * 501}, "query"),
        ("openrlhf", [], "body"),
        ("slime", {"prompt": "p"}, "response"),
        ("slime", {"prompt": [{"content": "x"}], "response": "r"}, "prompt[0].role"),
        ("slime", {"prompt": "p", "response": "\ud800"}, "response"),
        ("slime", {"prompt": "\ud800", "response": "r"}, "prompt"),
        ("slime", {"prompt": 3, "response": "r"}, "prompt"),
        ("slime", {"prompt": ["x"], "response": "r"}, "prompt[0]"),
        ("slime", {"prompt": "p", "response": "r", "label": "x" * 70_000}, "label"),
        ("openrlhf", {"query": ["pr"], "prompts": ["p"], "labels": ["x" * 70_000]}, "labels[0]"),
        ("nemo-gym/verify", {"response": {"output": []}}, "responses_create_params"),
        (
            "nemo-gym/verify",
            {"responses_create_params": {"input": "p"}, "response": {"output": []}},
            "response.output",
        ),
        (
            "nemo-gym/verify",
            {
                "responses_create_params": {"input": "p"},
                "response": {"output": [{"type": "message", "content": "r", "id": "\ud800"}]},
            },
            "body",
        ),
        ("azure", {"sample": {}, "item": {"messages": [USER]}}, "sample.output_text"),
        ("azure", {"sample": {"output_text": "r"}, "item": {}}, "item.messages"),
        ("azure", {"sample": {"output_text": "r"}, "item": {"messages": []}}, "item.messages"),
        ("eval-protocol/evaluate", {"messages": [USER]}, "messages"),
        ("eval-protocol/evaluate", {"messages": []}, "messages"),
        (
            "eval-protocol/evaluate",
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}, ASSISTANT]},
            "messages[0].content[0]",
        ),
        (
            "azure",
            {"sample": {"output_text": "r"}, "item": {"messages": [USER], "x": "x" * 70_000}},
            "item",
        ),
        ("azure", {"sample": "r", "item": {"messages": [USER]}}, "sample"),
        (
            "nemo-gym/verify",
            {"responses_create_params": {"input": 7}, "response": {"output": []}},
            "responses_create_params.input",
        ),
        ("nova", [7], "[0]"),
        ("nova", [{"id": True, "messages": [USER, ASSISTANT]}], "[0].id"),
        (
            "nova",
            [{"id": "1", "messages": [USER, ASSISTANT], "metadata": {"x": "\ud800"}}],
            "[0].metadata",
        ),
        ("nova", {"id": "1"}, "body"),
        ("nova", [], "body"),
        ("nova", [{"id": "1", "messages": [USER]}], "[0].messages"),
        ("nova", [{"id": "1", "messages": [USER, ASSISTANT]}, {"id": "2"}], "[1].messages"),
    ],
)
def test_a_request_that_is_not_of_the_contract_is_told_its_field(
    rewarded: Rewarded, path: str, body: Any, field: str
) -> None:
    answer = rewarded.platform.ask(f"{rewarded.path}/{path}", body)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request"), answer.text
    assert list(answer.fields) == [field]
    assert not [
        word for word in ("dict[", "_Sample", "Value error") if word in answer.fields[field]
    ]
    assert rewarded.platform.queued() == []


def test_metadata_over_their_limit_are_told_it(rewarded: Rewarded) -> None:
    answer = rewarded.slime(label="x" * 70_000)
    (limit,) = [answer.json["limit"]]
    assert (limit["maximum"], limit["actual"], limit["unit"]) == (65_536, 70_012, "bytes")


@pytest.mark.parametrize("raw", [b"{", b"[NaN]", b"[1e999]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_json_is_told_so(rewarded: Rewarded, raw: bytes) -> None:
    answer = rewarded.platform.ask(f"{rewarded.path}/slime", None, raw=raw)
    assert (answer.status, answer.json["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(("path", "most"), [("slime", 5_000_000), ("nemo-gym/verify", 2_500_000)])
def test_a_body_over_the_limit_is_told_the_limit(rewarded: Rewarded, path: str, most: int) -> None:
    raw = b'"' + b"x" * most + b'"'
    answer = rewarded.platform.ask(f"{rewarded.path}/{path}", None, raw=raw)
    assert (answer.status, answer.json["limit"]["maximum"]) == (413, most)


@pytest.mark.parametrize(
    "query",
    [
        {"wait": -1},
        {"wait": 871},
        {"wait": "x"},
        {"stop": "x" * 101},
        {"stop": ""},
        {"stop": list("abcde")},
    ],
    ids=str,
)
def test_what_is_asked_for_beside_the_body_has_its_range(
    rewarded: Rewarded, query: dict[str, Any]
) -> None:
    body = {"prompt": "p", "response": "r"}
    answer = rewarded.platform.ask(f"{rewarded.path}/slime", body, wait=None, query=query)
    assert (answer.status, list(answer.fields)) == (422, list(query))


def test_a_url_is_for_its_model_and_task(rewarded: Rewarded) -> None:
    other = rewarded.platform.new_reward_url(rewarded.task_id, modelId="other")
    rewarded.slime()
    rewarded.platform.ask(f"{other}/slime", {"prompt": "p", "response": "r"})
    rewarded.platform.score_everything()
    assert rewarded.responses_graded() == ["r", "r"]
    query = {"taskId": rewarded.task_id}
    scores = rewarded.platform.call("GET", "/api/v1/scores", query=query).json["scores"]
    assert {score["modelId"] for score in scores} == {"m", "other"}


def test_no_such_task_makes_no_url(rewarded: Rewarded) -> None:
    body = {"name": "r", "taskId": new_id("task"), "modelId": "m"}
    answer = rewarded.platform.call("POST", "/api/v1/reward-urls", body)
    assert (answer.status, list(answer.fields)) == (422, ["taskId"])
