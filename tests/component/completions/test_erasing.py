"""Texts of completions are where domains say, and go when they are deleted."""

import secrets
from typing import Any

import boto3
import pytest

from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.storage.data_holders import WITH_COMPLETION
from autotune_platform.wiring.completions import CompletionParts
from tests.support.graders import LoopbackGrader
from tests.support.kept import Kept, kept
from tests.support.platform import Platform
from tools.data_holders import holders

# It outgrows its item, compressed too.
LARGE = secrets.token_hex(1_000_000)


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader))


def texts() -> list[Kept]:
    """Return everything that holds the text of a completion."""
    return [one for one in kept() if one.item is None or "SECRET" in repr(read(one))]


def read(one: Kept) -> Any:
    pk, sk = one.key.split(" / ")
    table = boto3.resource("dynamodb").Table(one.place.removeprefix("table "))
    return table.get_item(Key={"pk": pk, "sk": sk})["Item"]


def test_every_domain_that_says_so_erases_with_the_completion(platform: Platform) -> None:
    erasers = CompletionParts(ContentEnvironment.parse()).completions.erasers
    assert {type(eraser).__module__.split(".")[1] for eraser in erasers} == {
        domain
        for domain, holder in holders().items()
        if any(holding.erased == WITH_COMPLETION for holding in holder.holds)
    }


@pytest.mark.parametrize("whole_batch", [False, True])
def test_texts_are_where_domains_say_and_go_when_they_are_deleted(
    platform: Platform, task_id: str, *, whole_batch: bool
) -> None:
    accepted = platform.submit(
        task_id, {"prompt": "SECRET"}, {"prompt": "SECRET", "response": LARGE}
    ).json
    platform.score_everything()
    platform.project()
    small, large = accepted["completionIds"]
    before = texts()
    assert {(one.place, one.key) for one in before} == {
        ("table completions", f"{small} / content"),
        ("bucket content", f"content/{large}"),
    }
    assert all(holding.has_text for one in before for holding in one.holdings)
    if whole_batch:
        platform.call("DELETE", f"/api/v1/batches/{accepted['batchId']}/content")
    else:
        for completion_id in (small, large):
            platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    assert texts() == []
