"""Texts of completions are where domains say, and go when they are deleted."""

import itertools
import json
import secrets
from contextlib import suppress
from typing import Any

import boto3
import pytest

from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.storage.data_holders import WITH_COMPLETION
from autotune_platform.wiring.submission import CompletionApiParts
from tests.infra.permissions import EXPECTED
from tests.support.aws import API_URL
from tests.support.graders import LoopbackGrader, deferring
from tests.support.kept import Kept, kept
from tests.support.killing import Killed, Killer
from tests.support.lambdas import forget_processes, handler
from tests.support.platform import Platform
from tests.support.subscribers import loopback_subscriber
from tests.support.tables import decoded
from tools.data_holders import holders

# It outgrows its item, compressed too.
ALWAYS = {"sampledShare": 1}
SCORE = {"value": 0.5, "confidence": 0.9}
LARGE = secrets.token_hex(1_000_000)


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader))


def texts() -> list[Kept]:
    """Return everything that holds the text of a completion."""
    return [one for one in kept() if one.item is None or "SECRET" in repr(read(one))]


def read(one: Kept) -> Any:
    """Return an item with bytes as bytes: on the wire, no text shows in them."""
    return decoded(one.item)


def test_every_domain_that_says_so_erases_with_the_completion(platform: Platform) -> None:
    erasers = CompletionApiParts(SubmissionEnvironment.parse()).deletion.erasers
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


def explained(platform: Platform, grader: LoopbackGrader, **fields: Any) -> str:
    """Return a task whose graders quote what they judge, and share it."""
    grader.judge = lambda asked: {"score": {**SCORE, "reasoning": asked["prompt"]}}  # type: ignore[method-assign]
    return platform.new_task(platform.new_grader(grader, shareReasoning=True), **fields)


def erase(platform: Platform, accepted: Any, how: str) -> None:
    if how == "expired":
        for completion_id in accepted["completionIds"]:
            table = boto3.resource("dynamodb").Table("completions")
            table.delete_item(Key={"pk": completion_id, "sk": "content"})
            key = {"pk": {"S": completion_id}, "sk": {"S": "content"}}
            record = {"eventName": "REMOVE", "dynamodb": {"Keys": key}}
            handler("functions.projections.follow_changes")({"Records": [record]}, None)
    elif how == "batch":
        platform.call("DELETE", f"/api/v1/batches/{accepted['batchId']}/content")
    else:
        for completion_id in accepted["completionIds"]:
            platform.call("DELETE", f"/api/v1/completions/{completion_id}")


@pytest.mark.parametrize("how", ["one", "batch", "expired"])
def test_reasons_go_with_the_text_that_they_quote_and_scores_stay(
    platform: Platform, grader: LoopbackGrader, how: str
) -> None:
    task_id = explained(platform, grader, retentionDays=1)
    accepted = platform.submit(task_id, {"prompt": "SECRET 1"}, {"prompt": "SECRET 2"}).json
    platform.score_everything()
    platform.project()
    path = f"/api/v1/completions/{accepted['completionIds'][0]}/score"
    before = platform.call("GET", path).json["verdict"]
    assert before["score"]["reasoning"] == "SECRET 1"
    assert {one.key.split(" / ")[1].partition("#")[0] for one in texts()} == {"content", "verdict"}
    assert all(holding.has_text for one in texts() for holding in one.holdings)
    erase(platform, accepted, how)
    assert texts() == []
    after = platform.call("GET", path).json["verdict"]
    assert after == {**before, "score": {**before["score"], "reasoning": None}}


@pytest.mark.parametrize("how", ["one", "batch", "expired"])
def test_what_a_panel_and_a_person_said_of_a_text_goes_with_it(
    platform: Platform, grader: LoopbackGrader, how: str
) -> None:
    task_id = explained(platform, grader, review=ALWAYS, retentionDays=1)
    accepted = platform.submit(task_id, {"prompt": "SECRET"}).json
    platform.score_everything()
    [asked] = platform.call("GET", "/api/v1/reviews").json["reviews"]
    answer = {"value": 0.9, "explanation": "It says SECRET."}
    path = f"/api/v1/reviews/{asked['id']}"
    assert platform.call("POST", f"{path}/answer", answer).status == 200
    platform.project()
    kinds = {one.key.split(" / ")[1].partition("#")[0] for one in texts()}
    assert kinds == {"content", "opinion", "verdict", "review"}
    assert platform.call("GET", path).json["review"]["answer"]["explanation"] == "It says SECRET."
    erase(platform, accepted, how)
    assert texts() == []
    shown = platform.call("GET", path).json["review"]["answer"]
    assert (shown["value"], shown["explanation"]) == (0.9, "")


def test_reasons_are_kept_of_no_member_whose_verdict_nobody_is_shown(
    platform: Platform, grader: LoopbackGrader
) -> None:
    """A panel's verdict has none, and the opinions beside it show none."""
    grader.judge = lambda asked: {"score": {**SCORE, "reasoning": asked["prompt"]}}  # type: ignore[method-assign]
    members = [
        {"graderId": platform.new_grader(grader, shareReasoning=True)},
        {"graderId": platform.new_grader(grader, shareReasoning=True)},
    ]
    platform.submit(platform.new_task(graders=members), {"prompt": "SECRET"})
    platform.score_everything()
    assert {one.key.split(" / ")[1].partition("#")[0] for one in texts()} == {"content"}


def answered_later(platform: Platform, grader: LoopbackGrader, *prompts: str) -> Any:
    """Submit to a grader that quotes later, and whose answer nobody applies who took it."""
    grader.judge = lambda asked: {"score": {**SCORE, "reasoning": asked["prompt"]}}  # type: ignore[method-assign]
    capabilities = {"maxBatchSize": 10, "supportsAsync": True}
    task_id = platform.new_task(
        platform.new_grader(grader, capabilities=capabilities, shareReasoning=True),
        retentionDays=1,
    )
    grader.disease = deferring
    accepted = platform.submit(task_id, *({"prompt": prompt} for prompt in prompts)).json
    platform.dispatch(platform.queued())
    [progress] = platform.runs()
    platform.grade(progress)
    with pytest.MonkeyPatch.context() as dying:
        dying.setattr(VerdictWriter, "apply", lambda *_: 1 / 0)
        callback = grader.callback()
        path = callback.url.removeprefix(API_URL)
        assert platform.call_back(path, callback.body, callback.headers).status == 500
    return accepted


def answers() -> list[str]:
    return [one.key for one in kept() if " / answer#" in one.key]


@pytest.mark.parametrize(
    ("how", "function"),
    [("one", "CompletionsApi"), ("batch", "CompletionsApi"), ("expired", "FollowChanges")],
)
def test_an_answer_that_was_never_applied_goes_with_the_texts_that_it_quotes(
    platform: Platform, grader: LoopbackGrader, how: str, function: str
) -> None:
    accepted = answered_later(platform, grader, "SECRET 1", "SECRET 2")
    assert len(answers()) == 1
    assert all(
        holding.has_text for one in kept() if one.key in answers() for holding in one.holdings
    )
    if how == "expired":
        platform.call("POST", f"/api/v1/batches/{accepted['batchId']}/cancel")
    seen = Killer()
    erase(platform, accepted, how)
    assert answers() == []
    granted = {action.partition(":")[2] for action, _, _ in EXPECTED[function]}
    assert {name for name in seen.called if name != "DeleteObjects"} <= granted


def test_an_answer_that_somebody_waits_for_is_kept_until_it_is_applied(
    platform: Platform, grader: LoopbackGrader
) -> None:
    accepted = answered_later(platform, grader, "SECRET 1", "SECRET 2")
    first, second = accepted["completionIds"]
    platform.call("DELETE", f"/api/v1/completions/{first}")
    assert len(answers()) == 1
    [progress] = platform.runs()
    platform.grade({**progress, "waiting_ids": [second], "completion_ids": []})
    assert answers() == []
    verdict = platform.call("GET", f"/api/v1/completions/{second}/score").json["verdict"]
    assert verdict["score"]["reasoning"] == "SECRET 2"


def test_what_has_expired_is_not_explained_before_the_table_removes_it(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = explained(platform, grader, review=ALWAYS, retentionDays=1)
    [completion_id] = platform.submit(task_id, {"prompt": "SECRET"}).json["completionIds"]
    platform.score_everything()
    [asked] = platform.call("GET", "/api/v1/reviews").json["reviews"]
    answer = {"value": 0.9, "explanation": "It says SECRET."}
    review = f"/api/v1/reviews/{asked['id']}"
    platform.call("POST", f"{review}/answer", answer)
    table = boto3.resource("dynamodb").Table("completions")
    table.update_item(
        Key={"pk": completion_id, "sk": "content"},
        UpdateExpression="SET expires_at = :past",
        ExpressionAttributeValues={":past": 1},
    )
    for path in (f"/api/v1/completions/{completion_id}/score", review):
        assert "SECRET" not in platform.call("GET", path).text, path


def test_an_opinion_that_comes_after_the_deletion_keeps_no_reasons(
    platform: Platform, grader: LoopbackGrader
) -> None:
    """One member of a panel is asked while the text is deleted."""
    deleted: list[str] = []

    def quoting(asked: dict[str, Any]) -> dict[str, Any]:
        if asked["id"] not in deleted:
            deleted.append(asked["id"])
            platform.call("DELETE", f"/api/v1/completions/{asked['id']}")
        return {"score": {**SCORE, "reasoning": asked["prompt"]}}

    grader.judge = quoting  # type: ignore[method-assign]
    members = [
        {"graderId": platform.new_grader(grader, shareReasoning=True)},
        {"graderId": platform.new_grader(grader, shareReasoning=True)},
    ]
    platform.submit(platform.new_task(graders=members), {"prompt": "SECRET"})
    platform.score_everything()
    assert deleted
    assert texts() == []


def test_an_event_holds_no_reasons(platform: Platform, grader: LoopbackGrader) -> None:
    """It is kept for a month, and was sent by then."""
    with loopback_subscriber() as subscriber:
        platform.call("POST", "/api/v1/webhooks", {"url": subscriber.url})
        platform.submit(explained(platform, grader), {"prompt": "SECRET"})
        platform.score_everything()
        platform.project()
        platform.deliver()
    assert [json.loads(one.body)["event"] for one in subscriber.received] != []
    assert not [one for one in subscriber.received if b"SECRET" in one.body]
    assert not [one for one in texts() if one.place == "table deliveries"]


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
def test_a_deletion_that_is_interrupted_is_finished_by_another(
    platform: Platform, grader: LoopbackGrader, moment: str
) -> None:
    """Whoever repeats it hears that there is no text any more, and nothing quotes it by then."""
    task_id = explained(platform, grader)
    for calls in itertools.count(1):
        [completion_id] = platform.submit(task_id, {"prompt": "SECRET"}).json["completionIds"]
        platform.score_everything()
        forget_processes()
        path = f"/api/v1/completions/{completion_id}"
        killer = Killer()
        killer.kill(moment, after=calls)
        with suppress(Killed):
            platform.call("DELETE", path)
        was_killed = killer.calls_left[moment] < 0
        killer.spare()
        assert platform.call("DELETE", path).status in (204, 404)
        assert texts() == [], f"{moment} of call {calls}"
        if not was_killed:
            break
    assert calls > 5


def test_what_is_scored_again_while_it_is_deleted_keeps_no_reasons(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = explained(platform, grader)
    [completion_id] = platform.submit(task_id, {"prompt": "SECRET"}).json["completionIds"]
    platform.score_everything()
    original = CompletionRepository.erase_completions

    def meanwhile(self: Any, completion_ids: Any, *, at: Any) -> None:
        """Another process scores it again before its text goes."""
        monkeypatch.setattr(CompletionRepository, "erase_completions", original)
        body = {"completionIds": [completion_id]}
        assert platform.call("POST", "/api/v1/completions/rescore", body).status == 202
        original(self, completion_ids, at=at)

    monkeypatch.setattr(CompletionRepository, "erase_completions", meanwhile)
    platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    platform.score_everything()
    assert texts() == []
