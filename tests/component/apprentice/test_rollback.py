"""Going back from the version that serves to the one before, if its evidence lets that serve."""

from typing import Any

import pytest

from autotune_platform.apprentice.evidence import Evidence, Rules, folded
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.storage.table import Table
from tests.support.lambdas import Answer
from tests.support.platform import Platform
from tests.support.versions import VERSIONS, promote, registered, stored


def roll_back(platform: Platform, version: int) -> Answer:
    return platform.call("POST", f"{VERSIONS}/{version}/rollback")


@pytest.fixture
def serving_twice(platform: Platform, task: dict[str, Any], table: Table) -> None:
    """Two versions graduated and were promoted: the second serves."""
    for number, model in enumerate(("base", "intents-1"), 1):
        assert registered(platform, model)["number"] == number
        stored(table, task["id"], graduated(number), rules_of(number), version=number)
        assert promote(platform, number).status == 200


def rules_of(number: int) -> Rules:
    return Rules(graduation=0.9, coaching=0.8, emergency=0.6, attempt=number)


def graduated(number: int, *last: float) -> Evidence:
    pairs = (
        Pair(sequence=place, score=score, is_drawn=True, at=0.0)
        for place, score in enumerate([*[1.0] * 120, *last], 1)
    )
    return folded(pairs, rules_of(number))


def test_a_rollback_has_the_version_before_serve_however_often_it_is_sent(
    platform: Platform, serving_twice: None
) -> None:
    first = roll_back(platform, 2)

    assert (first.status, first.json["version"]["number"]) == (200, 1)
    assert roll_back(platform, 2).json == first.json
    states = [one["state"] for one in platform.call("GET", VERSIONS).json["versions"]]
    assert states == ["retired", "hosted"]


def test_there_is_nothing_to_go_back_to_before_the_first(
    platform: Platform, serving_twice: None
) -> None:
    roll_back(platform, 2)

    answer = roll_back(platform, 1)

    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert "no version before 1 may serve by its own evidence" in answer.json["detail"]
    assert platform.call("GET", f"{VERSIONS}/1").json["version"]["state"] == "hosted"


def test_only_the_version_that_serves_is_rolled_back(
    platform: Platform, serving_twice: None
) -> None:
    answer = roll_back(platform, 1)

    assert (answer.status, answer.json["detail"]) == (
        409,
        "version 1 does not serve: version 2 does",
    )
    assert roll_back(platform, 3).status == 404


def test_a_version_that_raised_an_alarm_since_is_not_gone_back_to(
    platform: Platform, task: dict[str, Any], table: Table, serving_twice: None
) -> None:
    alarmed = graduated(1, *[0.3] * 60)
    assert alarmed.alarmed_at is not None
    stored(table, task["id"], alarmed, rules_of(1), version=1)

    assert roll_back(platform, 2).status == 409
    assert platform.call("GET", f"{VERSIONS}/2").json["version"]["state"] == "hosted"
