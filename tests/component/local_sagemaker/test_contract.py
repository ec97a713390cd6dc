"""Every operation, by boto3's client, held against botocore's own model of the service."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from local.endpoint import REGION
from local.sagemaker import contract
from local.sagemaker.errors import ServiceError
from local.sagemaker.patterns import matcher
from tests.support.local_sagemaker import until
from tests.support.sagemaker_tour import Tour

OPERATIONS = {
    *("AddTags", "DeleteTags", "ListTags"),
    *("CreateTrainingJob", "DescribeTrainingJob", "ListTrainingJobs", "StopTrainingJob"),
    *("CreateModel", "DescribeModel", "DeleteModel", "ListModels"),
    *("CreateEndpointConfig", "DescribeEndpointConfig", "DeleteEndpointConfig"),
    "ListEndpointConfigs",
    *("CreateEndpoint", "DescribeEndpoint", "UpdateEndpoint", "DeleteEndpoint", "ListEndpoints"),
    *("CreateInferenceComponent", "DescribeInferenceComponent", "ListInferenceComponents"),
    *("UpdateInferenceComponent", "UpdateInferenceComponentRuntimeConfig"),
    "DeleteInferenceComponent",
}


@pytest.fixture(scope="module")
def exchanged(lab):
    """Request, raw answer and parsed answer of each call of a tour, by operation."""
    seen: dict[str, list[dict[str, Any]]] = {}
    session = boto3.Session("test", "test", region_name=REGION)
    clients = [
        session.client(service, endpoint_url=lab.url)
        for service in ("sagemaker", "sagemaker-runtime")
    ]

    def note_request(params, model, **_):
        seen.setdefault(model.name, []).append({"params": copy.deepcopy(params)})

    def note_body(request, **_):
        target = request.headers.get("X-Amz-Target", b"")
        name = (target.decode() if isinstance(target, bytes) else target).rpartition(".")[2]
        if name:
            seen[name][-1]["body"] = bytes(request.body)

    def note_answer(response_dict, operation_model, **_):
        seen[operation_model.name][-1] |= {
            "raw": response_dict["body"],
            "status": response_dict["status_code"],
        }

    def note_parsed(parsed, model, **_):
        seen[model.name][-1]["parsed"] = copy.deepcopy(
            {
                name: value
                for name, value in parsed.items()
                if name not in {"ResponseMetadata", "Body"}
            }
        )

    for client in clients:
        events = client.meta.events
        events.register("before-parameter-build.*.*", note_request)
        events.register("before-send.*.*", note_body)
        events.register("before-parse.*.*", note_answer)
        events.register("after-call.*.*", lambda parsed, model, **_: note_parsed(parsed, model))
    Tour(lab, *clients, settle=until).all_of_it()
    for client in clients:
        client.close()
    return seen


def test_the_tour_calls_every_operation(lab, exchanged):
    assert {*exchanged} == {*OPERATIONS, "InvokeEndpoint"}
    assert lab.operations == OPERATIONS


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_answers_are_those_of_the_model(exchanged, operation):
    shape = contract.operation_model(operation).output_shape
    answered = [one for one in exchanged[operation] if one["status"] == 200]
    refused = [one for one in exchanged[operation] if one["status"] != 200]
    assert answered or operation == "StopTrainingJob"
    for one in answered:
        if shape is None or not shape.members:
            assert one["parsed"] == {}
            continue
        # The parser leaves out what the model has not; the raw answer shows it.
        assert list(contract.faults(shape, json.loads(one["raw"]))) == []
        report = ParamValidator().validate(one["parsed"], shape)
        assert not report.has_errors(), report.generate_report()
    for one in refused:
        assert one["status"] == 400
        assert {"__type", "message"} <= json.loads(one["raw"]).keys()


def test_answers_of_hosts_are_those_of_the_model(exchanged):
    model = contract.operation_model("InvokeEndpoint", service=contract.RUNTIME)
    answered = [one for one in exchanged["InvokeEndpoint"] if one["status"] == 200]
    assert [one["parsed"] for one in answered] == [
        {"ContentType": "application/json", "InvokedProductionVariant": "all"}
    ]
    report = ParamValidator().validate({**answered[0]["parsed"], "Body": b""}, model.output_shape)
    assert not report.has_errors(), report.generate_report()


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_requests_are_checked_member_by_member(exchanged, operation):
    """Each way in which a member can be wrong, by the model, is refused, and names the member."""
    shape = contract.operation_model(operation).input_shape
    good = json.loads(exchanged[operation][0]["body"])
    contract.request_of(operation, json.dumps(good).encode())
    wrong = [*spoilt(shape, good), ({**good, "Unheard": 1}, "unheard")]
    assert len(wrong) > 1 or not shape.required_members
    for body, member in wrong:
        with pytest.raises(ServiceError, match=member) as refused:
            contract.request_of(operation, json.dumps(body).encode())
        assert refused.value.code == "ValidationException"


def spoilt(shape: StructureShape, good: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield copies of a request with one member wrong, and what names it."""
    for name in shape.required_members:
        yield {key: value for key, value in good.items() if key != name}, in_errors(name)
    for name, value in good.items():
        for wrong in wrong_values(shape.members[name]):
            yield {**good, name: wrong}, in_errors(name)
        if isinstance(value, dict) and isinstance(shape.members[name], StructureShape):
            for inner, member in spoilt(shape.members[name], value):
                yield {**good, name: inner}, member
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for inner, member in spoilt(shape.members[name].member, value[0]):
                yield {**good, name: [inner]}, member


def wrong_values(shape: Shape) -> Iterator[Any]:
    yield {"structure": [], "list": {}, "map": [], "string": 5, "boolean": "x"}.get(
        shape.type_name, "x"
    )
    most, least = shape.metadata.get("max"), shape.metadata.get("min", 0)
    if isinstance(shape, StringShape):
        yield from wrong_texts(shape, most, least)
    elif isinstance(shape, ListShape):
        if least:
            yield []
    elif isinstance(shape, MapShape):
        if most is not None:
            yield {f"k{at}": "v" for at in range(most + 1)}
    elif shape.type_name in {"integer", "long"} and "min" in shape.metadata:
        yield least - 1
        yield True


def wrong_texts(shape: StringShape, most: int | None, least: int) -> Iterator[str]:
    if shape.enum:
        yield "nothing-of-the-kind"
    if most is not None:
        yield "a" * (most + 1)
    if least:
        yield ""
    if "pattern" in shape.metadata and not matcher(shape.metadata["pattern"])("\n"):
        yield "\n"


def in_errors(name: str) -> str:
    return f"'(.*\\.)?{name[:1].lower()}{name[1:]}'"


def test_every_pattern_of_the_models_can_be_read():
    patterns = {
        one.metadata["pattern"]
        for one in all_shapes()
        if isinstance(one, StringShape) and "pattern" in one.metadata
    }
    assert len(patterns) > 40
    for pattern in patterns:
        assert matcher(pattern)("\0") in {True, False}


def all_shapes() -> Iterator[Shape]:
    models = [contract.operation_model(name) for name in OPERATIONS]
    models.append(contract.operation_model("InvokeEndpoint", service=contract.RUNTIME))
    left = [shape for model in models for shape in (model.input_shape, model.output_shape) if shape]
    seen = set()
    while left:
        shape = left.pop()
        if shape.name in seen:
            continue
        seen.add(shape.name)
        yield shape
        if isinstance(shape, StructureShape):
            left += shape.members.values()
        elif isinstance(shape, ListShape):
            left.append(shape.member)
        elif isinstance(shape, MapShape):
            left += [shape.key, shape.value]


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"([\p{L}\p{Z}\p{N}_.:/=+\-@]*)", "Zweck: α 1", "a;b"),
        (r"\A\S[\p{Print}]*\z", "a b", "a\n"),
        (r"\p{ASCII}*", "a\n", "ä"),
        (r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", "a-b", "a-b-"),
    ],
)
def test_patterns_are_java_s(pattern, good, bad):
    assert matcher(pattern)(good)
    assert not matcher(pattern)(bad)


def test_an_answer_that_sagemaker_could_not_give_is_a_fault_of_ours():
    with pytest.raises(contract.AnswerError, match="trainingJobArn"):
        contract.answer_of("CreateTrainingJob", {})
    with pytest.raises(contract.AnswerError, match="no member"):
        contract.answer_of("ListModels", {"Models": [], "Extra": 1})
    with pytest.raises(contract.AnswerError, match="answers nothing"):
        contract.answer_of("DeleteModel", {"Extra": 1})


def test_what_is_no_operation_or_no_json_is_refused(lab):
    with pytest.raises(ClientError) as refused:
        lab.sagemaker.list_notebook_instances()
    assert refused.value.response["Error"]["Code"] == "UnknownOperationException"
    with pytest.raises(ServiceError, match="no JSON"):
        contract.request_of("ListModels", b"{")
    with pytest.raises(ServiceError, match="be an object"):
        contract.request_of("ListModels", b"[]")


def test_invocations_are_checked_as_well(lab):
    for changes, said in (
        ({"EndpointName": "a" * 64}, "EndpointName"),
        ({"TargetVariant": "a_b"}, "TargetVariant"),
        ({"InferenceId": "a" * 65}, "InferenceId"),
    ):
        with pytest.raises(lab.runtime.exceptions.ValidationError, match=said):
            lab.runtime.invoke_endpoint(**{"EndpointName": "any", "Body": b"", **changes})
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="bytes"):
        lab.runtime.invoke_endpoint(EndpointName="any", Body=bytes(6 * 1024 * 1024 + 1))
