"""Additions are written together or not at all."""

import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from autotune_platform.storage.counting import Addition, add_together
from autotune_platform.storage.table import Table
from tests.support.python_calls import python_calls


@pytest.fixture
def client() -> Iterator[Any]:
    with mock_aws():
        made = boto3.client(
            "dynamodb", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
        )
        for name in ("one", "two"):
            made.create_table(
                TableName=name,
                BillingMode="PAY_PER_REQUEST",
                KeySchema=[
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                AttributeDefinitions=[
                    {"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")
                ],
            )
        yield made


def checkpoint(*indexes: int, expected: int | None, version: int) -> Addition:
    return Addition(
        table="one",
        pk="a",
        sk="s",
        members={"scored": set(indexes), "failed": set()},
        changes={"version": version},
        only_if={"version": expected},
    )


def count(**numbers: int) -> Addition:
    return Addition(table="two", pk="b", sk="s", numbers=numbers)


def test_numbers_and_sets_grow_in_several_tables_at_once(client: Any) -> None:
    assert add_together(client, [checkpoint(0, 1, expected=None, version=1), count(x=2, y=0)])
    assert add_together(client, [checkpoint(1, 2, expected=1, version=2), count(x=3)])
    assert Table("one", client).get("a", "s") == {
        "pk": "a",
        "sk": "s",
        "version": 2,
        "scored": {0, 1, 2},
    }
    assert Table("two", client).get("b", "s") == {"pk": "b", "sk": "s", "x": 5}


@pytest.mark.parametrize("expected", [None, 7])
def test_nothing_is_written_where_a_condition_does_not_hold(
    client: Any, expected: int | None
) -> None:
    assert add_together(client, [checkpoint(0, expected=None, version=1), count(x=1)])
    assert not add_together(client, [count(x=1), checkpoint(1, expected=expected, version=2)])
    first, second = Table("one", client).get("a", "s"), Table("two", client).get("b", "s")
    assert first is not None
    assert second is not None
    assert (first["version"], first["scored"], second["x"]) == (1, {0}, 1)


def canceled(client: Any, *codes: str) -> ClientError:
    error: ClientError = client.exceptions.TransactionCanceledException(
        {
            "Error": {"Code": "TransactionCanceledException", "Message": ""},
            "CancellationReasons": [{"Code": code} for code in codes],
        },
        "TransactWriteItems",
    )
    return error


def refusing(client: Any, monkeypatch: pytest.MonkeyPatch, *codes: str) -> None:
    def refuse(**_: Any) -> None:
        raise canceled(client, *codes)

    monkeypatch.setattr(client, "transact_write_items", refuse)


def test_a_conflict_with_another_writer_is_no_error(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(client, monkeypatch, "None", "TransactionConflict")
    assert not add_together(client, [count(x=1), count(y=1)])


def test_what_trying_again_cannot_mend_is_an_error(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(client, monkeypatch, "None", "ValidationError")
    with pytest.raises(ClientError):
        add_together(client, [count(x=1), count(y=1)])


def test_what_says_nothing_is_left_out_and_zeros_are_held_to_their_condition(client: Any) -> None:
    nothing = count(spent=0, reserved=0)
    assert add_together(client, [nothing])
    assert add_together(client, [nothing, count(spent=5)])
    table = Table("two", client)
    assert (table.get("b", "s") or {})["spent"] == 5
    held = Addition(table="two", pk="b", sk="s", numbers={"spent": 0}, at_most={"spent": 4})
    assert not add_together(client, [held])
    assert add_together(client, [Addition(**{**vars(held), "at_most": {"spent": 5}})])


def test_an_update_names_what_it_says_and_nothing_else(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store refuses a name or a value that no expression has."""
    asked: list[Any] = []
    monkeypatch.setattr(client, "transact_write_items", lambda **given: asked.append(given))
    add_together(
        client,
        [
            Addition(
                table="two",
                pk="b",
                sk="s",
                numbers={"spent": 3, "none": 0},
                members={"some": {1}, "empty": set()},
                changes={"day": "x", "at": True},
                remove=["old"],
                only_if={"halted": None, "day": "w"},
                at_most={"spent": 4, "owed": -1},
                at_least={"held": 2},
            )
        ],
    )
    (update,) = (one["Update"] for one in asked[0]["TransactItems"])
    names = update["ExpressionAttributeNames"]
    said = {
        place: next(iter(value.values()))
        for place, value in update["ExpressionAttributeValues"].items()
    }
    expressions = update["UpdateExpression"], update["ConditionExpression"]
    assert set(re.findall(r"[#:]\d+", " ".join(expressions))) == {*names, *said}
    whole = [re.sub(r"[#:]\d+", lambda at: str((names | said)[at[0]]), one) for one in expressions]
    assert whole == [
        "SET day = x, at = True REMOVE old ADD spent 3, some ['1']",
        (
            "attribute_not_exists(halted) AND day = w "
            "AND (attribute_not_exists(spent) OR spent <= 4) AND owed <= -1 AND held >= 2"
        ),
    ]


def test_what_an_update_says_is_put_together_once_for_updates_of_its_kind(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of the apprentice writes ten, and to put one together took 47 calls of functions."""
    asked: list[Any] = []
    monkeypatch.setattr(client, "transact_write_items", lambda **given: asked.append(given))

    def addition(place: int) -> Addition:
        return Addition(
            table="two",
            pk="b",
            sk="s",
            numbers={f"spent#{place}": 3, f"owed#{place}": 4},
            changes={f"at#{place}": "x"},
            only_if={f"halted#{place}": None, f"day#{place}": "w"},
            at_most={f"spent#{place}": 4},
        )

    both = [addition(0), addition(1)]
    one_more = python_calls(lambda: add_together(client, both))
    one_more -= python_calls(lambda: add_together(client, both[:1]))
    assert one_more <= 36
    first, second = (one["Update"] for one in asked[0]["TransactItems"])
    assert first["UpdateExpression"] is second["UpdateExpression"]
    assert first["ConditionExpression"] is second["ConditionExpression"]
    assert set(first["ExpressionAttributeNames"].values()) == {
        "spent#0",
        "owed#0",
        "at#0",
        "halted#0",
        "day#0",
    }
