"""What cannot be asked is refused by field, before anything is stored or paid."""

from typing import Any

import boto3
import pytest

from tests.support.ledger import KEY, MODEL, Ledger, row
from tests.support.platform import Platform

PATH = "/api/v1/llm-requests"


def test_each_wrong_field_is_named_with_its_row(ledger: Ledger) -> None:
    connection = ledger.connect()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"connectionId": "llc_00000000000000000000000000"}, "requests[1].connectionId"),
        ({"model": "nobody-priced-this"}, "requests[1].model"),
        ({"params": {}}, "requests[1].params.maxTokens"),
        ({"params": {"maxTokens": 0}}, "requests[1].params.maxTokens"),
        ({"params": {"maxTokens": 5, "extra": {"messages": []}}}, "requests[1].params.extra"),
        ({"params": {"maxTokens": 5, "extra": {"logprobs": True}}}, "requests[1].params.extra"),
        ({"params": {"maxTokens": 5, "extra": {"topLogprobs": 2}}}, "requests[1].params.extra"),
        ({"input": {"user": "{{gone}}"}}, "requests[1].input.variables"),
        ({"input": {"user": "{{v}}" * 600, "variables": {"v": "v" * 9_000}}}, "requests[1].input"),
        ({"input": {"user": ""}}, "requests[1].input.user"),
        ({"input": {"messages": [{"role": "user"}]}}, "requests[1].input.user"),
        ({"purpose": "Not A Purpose"}, "requests[1].purpose"),
        ({"labels": {f"l{n}": "v" for n in range(17)}}, "requests[1].labels"),
        ({"completeBy": "2020-01-01T00:00:00Z"}, "requests[1].completeBy"),
        ({"verdict": {"type": "label"}}, "requests[1].verdict"),
        ({"surprise": 1}, "requests[1].surprise"),
    ]
    for fields, named in wrong:
        body = {"requests": [row(connection), row(connection, **fields)]}
        answer = ledger.platform.call("POST", f"{PATH}/batch", body)
        assert answer.status == 422, (fields, answer.text)
        assert any(field.startswith(named) for field in answer.fields), (named, answer.fields)
    assert ledger.platform.call("GET", PATH).json["requests"] == []
    items = boto3.client("dynamodb").scan(TableName="ledger")["Items"]
    assert {item["sk"]["S"] for item in items} == {"key#000001"}


def test_a_model_without_a_price_is_refused_with_the_command_that_gives_it_one(
    ledger: Ledger,
) -> None:
    prices = {"priced": {"inputUsd": "1", "outputUsd": "2"}}
    for connection, model, options in (
        (ledger.connect(batches="never"), "m", "--price m=INPUT,OUTPUT`"),
        (
            ledger.connect(provider="openai", prices=prices),
            "priced",
            "--batch-price priced=INPUT,OUTPUT`",
        ),
    ):
        body = {"requests": [row(connection, model=model)]}
        answer = ledger.platform.call("POST", f"{PATH}/batch", body)
        assert (answer.status, list(answer.fields)) == (422, ["requests[0].model"])
        assert "`autotune llm update-connection ID --price" in answer.json["detail"]
        assert options in answer.json["detail"]


def test_too_many_rows_and_too_much_at_once_are_refused(ledger: Ledger) -> None:
    connection = ledger.connect()
    many = {"requests": [row(connection)] * 1_001}
    answer = ledger.platform.call("POST", f"{PATH}/batch", many)
    assert (answer.status, list(answer.fields)) == (422, ["requests"])
    large = {"requests": [row(connection, "x" * 5_000_000)]}
    assert ledger.platform.call("POST", f"{PATH}/batch", large).status == 413


def test_more_rows_under_way_than_an_organisation_may_have_are_refused(
    ledger: Ledger,
) -> None:
    connection = ledger.connect(minRows=100)
    organization_id = ledger.platform.me()["organizationId"]
    boto3.client("dynamodb").update_item(
        TableName="ledger",
        Key={"pk": {"S": f"open#{organization_id}"}, "sk": {"S": "rows"}},
        UpdateExpression="SET #r = :r",
        ExpressionAttributeNames={"#r": "rows"},
        ExpressionAttributeValues={":r": {"N": "999999"}},
    )
    ledger.enqueue(connection, "fits")
    answer = ledger.platform.call("POST", PATH, row(connection))
    assert (answer.status, answer.json["code"]) == (429, "too_many_open_requests")
    assert answer.json["limit"]["maximum"] == 1_000_000
    assert int(answer.headers["retry-after"]) > 0


def test_what_has_ended_makes_room_again(ledger: Ledger) -> None:
    connection = ledger.connect()
    ids = ledger.enqueue(connection, *(f"q{n}" for n in range(5)))
    ledger.platform.call("POST", f"{PATH}/{ids[0]}/cancel")
    ledger.run()
    organization_id = ledger.platform.me()["organizationId"]
    counted = boto3.client("dynamodb").get_item(
        TableName="ledger", Key={"pk": {"S": f"open#{organization_id}"}, "sk": {"S": "rows"}}
    )
    assert counted["Item"]["rows"] == {"N": "0"}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"provider": "openai", "apiKey": None}, "apiKey"),
        ({"baseUrl": None}, "baseUrl"),
        ({"baseUrl": "ftp://example.com"}, "baseUrl"),
        ({"baseUrl": "https://user:pass@example.com"}, "baseUrl"),
        ({"prices": {"m": {"inputUsd": "-1", "outputUsd": "1"}}}, "prices"),
        ({"prices": {"m": {"inputUsd": 0.1, "outputUsd": "1"}}}, "prices"),
        ({"prices": {"m": {"inputUsd": "\u0663", "outputUsd": "1"}}}, "prices"),
        ({"minRows": 600}, "minRows"),
        ({"concurrency": 65}, "concurrency"),
        ({"timeoutSeconds": 241}, "timeoutSeconds"),
        ({"apiKey": "has a space"}, "apiKey"),
    ],
)
def test_a_connection_that_cannot_work_is_refused(
    platform: Platform, fields: dict[str, Any], named: str
) -> None:
    body = {"name": "n", "provider": "simulated", "baseUrl": "http://127.0.0.1:9/v1", **fields}
    sent = {name: value for name, value in body.items() if value is not None}
    answer = platform.call("POST", "/api/v1/llm-connections", sent)
    assert answer.status == 422, answer.text
    assert named in answer.text
    assert "has a space" not in answer.text


def test_a_private_address_is_refused_where_only_public_ones_may_be_called(
    monkeypatch: pytest.MonkeyPatch, platform: Platform
) -> None:
    monkeypatch.setenv("ADMIT_PRIVATE_ADDRESSES", "false")
    from tests.support.lambdas import forget_processes

    forget_processes()
    body = {"name": "n", "provider": "simulated", "baseUrl": "https://169.254.169.254/v1"}
    answer = platform.call("POST", "/api/v1/llm-connections", body)
    assert (answer.status, list(answer.fields)) == (422, ["baseUrl"])


def test_verifying_says_what_is_wrong_at_once_and_costs_are_booked(ledger: Ledger) -> None:
    ledger.fake.world.keys["compatible"] = {KEY: "main"}
    works = ledger.connect()
    verified = ledger.platform.call(
        "POST", f"/api/v1/llm-connections/{works}/verify", {"model": "small"}
    ).json
    assert verified["works"] is True
    assert verified["costNanoUsd"] == ledger.fake.world.bill()["total_nano_usd"] > 0
    assert ledger.budget()["day"]["spentNanoUsd"] == verified["costNanoUsd"]
    wrong = ledger.connect(apiKey="sk-of-somebody-else")
    refused = ledger.platform.call(
        "POST", f"/api/v1/llm-connections/{wrong}/verify", {"model": "small"}
    ).json
    assert (refused["works"], refused["errorCode"]) == (False, "account")
    assert "sk-of-somebody-else" not in str(refused)


def test_a_key_is_stored_encrypted_and_never_shown(ledger: Ledger) -> None:
    secret = "sk-0123456789-planted-key"
    connection = ledger.connect(apiKey=secret)
    shown = ledger.platform.call("GET", f"/api/v1/llm-connections/{connection}")
    assert secret not in shown.text
    assert shown.json["connection"]["keyEndsWith"] == "-key"
    everything = "".join(
        str(boto3.client("dynamodb").scan(TableName=table)["Items"])
        for table in ("ledger", "registry", "audit", "budgets")
    )
    assert secret not in everything
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    items = boto3.client("dynamodb").scan(TableName="ledger")["Items"]
    assert [item for item in items if "sealed" in item] == []


@pytest.mark.parametrize("named", ["llc_" + "0" * 26, "nobody", "%F0%9F%98%80"])
def test_verifying_what_is_not_there_is_a_404(ledger: Ledger, named: str) -> None:
    answer = ledger.platform.call(
        "POST", f"/api/v1/llm-connections/{named}/verify", {"model": MODEL}
    )
    assert answer.status == 404, answer.text
    assert ledger.fake.world.executions == []
