"""What each trainer's request asks, where that is not plain."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from autotune.protocol.completions import Score
from autotune.protocol.grading import ScoreDimension
from autotune.protocol.rewards import CONTRACT_PATHS
from autotune_platform.rewards.contracts.azure import AZURE
from autotune_platform.rewards.contracts.eval_protocol import EVAL_PROTOCOL
from autotune_platform.rewards.contracts.nemo_gym import NEMO_GYM
from autotune_platform.rewards.contracts.nova import NOVA
from autotune_platform.rewards.contracts.openrlhf import OPENRLHF
from autotune_platform.rewards.contracts.reading import Contract
from autotune_platform.rewards.contracts.slime import SLIME
from autotune_platform.runtime.errors import InvalidRequestError

USER = {"role": "user", "content": "p"}
ASSISTANT = {"role": "assistant", "content": "r"}
ASKED = {"messages": [USER]}


def asked(contract: Contract, document: Any) -> list[tuple[str, str, dict[str, Any]]]:
    return [(one.prompt, one.response, dict(one.metadata)) for one in contract.read(document)]


def score(value: float) -> Score:
    return Score(
        id="scr_1",
        completion_id="cmp_1",
        grader_id="grd_1",
        grader_version="1",
        value=value,
        confidence=0.5,
        dimensions=[ScoreDimension(name="form", value=0.25)],
        reasoning="because",
        created_at=datetime.now(UTC),
    )


@pytest.mark.parametrize(
    ("contract", "its_client_waits"), [(OPENRLHF, 180), (SLIME, 120), (AZURE, 600), (NOVA, 900)]
)
def test_an_answer_comes_before_the_client_gives_up(
    contract: Contract, its_client_waits: int
) -> None:
    assert contract.wait_seconds < its_client_waits


@pytest.mark.parametrize(
    ("path", "contract"),
    [
        ("openrlhf", OPENRLHF),
        ("slime", SLIME),
        ("nemo-gym/verify", NEMO_GYM),
        ("azure", AZURE),
        ("eval-protocol/evaluate", EVAL_PROTOCOL),
        ("nova", NOVA),
    ],
)
def test_the_guide_tells_how_long_an_answer_waits(path: str, contract: Contract) -> None:
    guide = Path(__file__).parents[3] / "docs" / "guides" / "reward-urls.md"
    assert f"`/{path}` | {contract.wait_seconds} s |" in guide.read_text("utf-8")
    assert path in CONTRACT_PATHS.values()


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("<s>p r p</s>", "p", " r p</s>"),
        ("<s>s is it", "s", " is it"),
        ("[gMASK]<sop>so it is", "so", " it is"),
        ("<|begin_of_text|><|user|>Hi<|assistant|>Hello", "<|user|>Hi<|assistant|>", "Hello"),
        ("<s> p r", "p", " r"),
        ("</s>", "", "</s>"),
    ],
)
def test_openrlhf_s_query_may_begin_with_tokens_of_the_tokenizer(
    query: str, prompt: str, response: str
) -> None:
    document = {"query": [query], "prompts": [prompt], "labels": [None]}
    assert asked(OPENRLHF, document) == [(prompt, response, {})]


def test_openrlhf_s_labels_may_be_anything_or_missing() -> None:
    document = {"query": ["pr", "pr"], "prompts": ["p", "p"], "labels": [{"a": 1}, None]}
    assert [metadata for _, _, metadata in asked(OPENRLHF, document)] == [{"label": {"a": 1}}, {}]
    del document["labels"]
    assert [metadata for _, _, metadata in asked(OPENRLHF, document)] == [{}, {}]


def test_slime_s_prompt_may_be_a_conversation() -> None:
    document = {"prompt": [USER, ASSISTANT, USER], "response": "r", "label": None}
    assert asked(SLIME, document) == [("user: p\n\nassistant: r\n\nuser: p", "r", {})]


def test_nemo_gym_s_instructions_are_part_of_the_prompt() -> None:
    said = {"type": "message", "content": [{"type": "output_text", "text": "r"}]}
    document = {
        "responses_create_params": {"input": "p", "instructions": "Be brief."},
        "response": {"output": [said, {"type": "function_call", "name": "f"}, said]},
        "expected": 4,
        "_ng_rollout_id": "differs",
    }
    expected = [("system: Be brief.\n\nuser: p", "rr", {"expected": 4})]
    assert asked(NEMO_GYM, document) == expected
    document["responses_create_params"] = {"input": "p"}
    assert asked(NEMO_GYM, document) == [("p", "rr", {"expected": 4})]
    assert NEMO_GYM.answer(document, [score(0.5)]) == {**document, "reward": 0.5}


def test_azure_s_sample_may_have_choices_alone() -> None:
    document = {
        "sample": {"choices": [{"message": ASSISTANT}]},
        "item": {"messages": [USER], "reference": 4},
        "trace_id": "differs",
    }
    assert asked(AZURE, document) == [("p", "r", {"reference": 4})]


def test_eval_protocol_s_arguments_are_metadata_wherever_they_stand() -> None:
    document = {"messages": [USER, ASSISTANT], "ground_truth": "4", "a": 1, "kwargs": {"b": 2}}
    assert asked(EVAL_PROTOCOL, document) == [("p", "r", {"a": 1, "b": 2, "ground_truth": "4"})]


def test_eval_protocol_s_context_is_no_ground_truth() -> None:
    document = {"messages": [USER, ASSISTANT], "ground_truth": [USER], "kwargs": None}
    assert asked(EVAL_PROTOCOL, document) == [("p", "r", {})]


def test_dimensions_and_reasoning_are_told_where_there_is_a_place_for_them() -> None:
    told = EVAL_PROTOCOL.answer({}, [score(0.5)])
    assert (told["score"], told["reason"]) == (0.5, "because")
    assert told["metrics"]["form"]["score"] == 0.25
    (one,) = NOVA.answer([{"id": "1"}], [score(0.5)])
    assert one["metrics_list"] == [{"name": "form", "value": 0.25, "type": "Metric"}]


def test_nova_s_reference_may_stand_in_either_place() -> None:
    sample = {"id": 7, "messages": [USER, ASSISTANT]}
    documents = [
        {**sample, "reference_answer": {"x": 4}},
        {**sample, "metadata": {"reference_answer": {"x": 4}}},
    ]
    expected = ("p", "r", {"reference_answer": {"x": 4}})
    assert asked(NOVA, documents) == [expected, expected]


def _conversations(message: Any) -> list[tuple[Contract, Any]]:
    """Return requests of each contract that takes messages, with one wherever roles are read."""
    return [
        (SLIME, {"prompt": [message], "response": "r"}),
        (NEMO_GYM, {"responses_create_params": {"input": [message]}, "response": {"output": []}}),
        (
            NEMO_GYM,
            {"responses_create_params": {"input": "p"}, "response": {"output": [message]}},
        ),
        (AZURE, {"sample": {"output_text": "r"}, "item": {"messages": [message]}}),
        (EVAL_PROTOCOL, {"messages": [message, ASSISTANT]}),
        (EVAL_PROTOCOL, {"messages": [USER, message]}),
        (NOVA, [{"id": "1", "messages": [message, ASSISTANT]}]),
        (NOVA, [{"id": "1", "messages": [USER, message]}]),
    ]


@pytest.mark.parametrize("odd", [[], {}, 7, True, None], ids=repr)
def test_a_role_or_type_that_is_no_text_is_refused(odd: Any) -> None:
    parts = [{"type": odd, "text": "x"}]
    for message in ({"role": odd, "content": "x"}, {"role": "assistant", "content": parts}):
        for contract, document in _conversations(message):
            with pytest.raises(InvalidRequestError):
                contract.read(document)
    with pytest.raises(InvalidRequestError):
        AZURE.read({"sample": {"choices": [{"message": {"content": parts}}]}, "item": ASKED})


@pytest.mark.parametrize(
    ("contract", "document", "field"),
    [
        (SLIME, {"prompt": [], "response": "r"}, "prompt"),
        (
            NEMO_GYM,
            {
                "responses_create_params": {"input": []},
                "response": {"output": [{"type": "message", "content": "r"}]},
            },
            "responses_create_params.input",
        ),
        (AZURE, {"sample": {"output_text": "r"}, "item": {"messages": []}}, "item.messages"),
    ],
)
def test_an_empty_conversation_is_no_prompt(contract: Contract, document: Any, field: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        contract.read(document)
    assert [one.field for one in refused.value.fields] == [field]
