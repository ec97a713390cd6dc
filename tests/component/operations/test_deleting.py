"""An organisation is deleted with all that is its own, and with nothing of anybody else's."""

from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.operations import deleting
from autotune_platform.runtime import clients
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from autotune_platform.storage.table import Table
from functions.operations import delete_organization
from tests.support.apprentice import configuration
from tests.support.aws import API_URL
from tests.support.clock import TurnedClock
from tests.support.decks import new_deck, new_deck_grader, new_samples
from tests.support.graders import LoopbackGrader
from tests.support.kept import kept
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.ledger import ledger
from tests.support.oidc import serve_provider, sign_in_at
from tests.support.platform import Platform
from tests.support.subscribers import loopback_subscriber

LARGE = "".join(chr(256 + n * 7919 % 40_000) for n in range(400_000))
manage = handler("functions.operations.manage_organizations")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> TurnedClock:
    """The clock of all deletions, in whichever process."""
    made = TurnedClock()

    def step_by_it(self: deleting.OrganizationDeletion, *given: Any, **named: Any) -> Any:
        self.clock = made
        return original(self, *given, **named)

    original = deleting.OrganizationDeletion.step
    monkeypatch.setattr(deleting.OrganizationDeletion, "step", step_by_it)
    return made


def step(organization_id: str, name: str = "first", *, seconds: float = 45) -> Any:
    event = {"organizationId": organization_id, "name": name}
    return delete_organization.lambda_handler(event, LambdaContext(seconds))["organization"]


def suspend(organization_id: str) -> None:
    manage({"action": "suspend", "organizationId": organization_id}, None)
    forget_processes()


def fill(platform: Platform, grader: LoopbackGrader, api_key: str | None = None) -> None:
    """Have an organisation keep something of every kind."""
    before, platform.api_key = platform.api_key, api_key or platform.api_key
    with ledger(platform) as calls:
        calls.enqueue(calls.connect(), "SECRET", LARGE)
        calls.run()
        calls.enqueue(calls.connect(minRows=10), "SECRET")
        platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "10"})
    with loopback_subscriber() as subscriber:
        platform.call("POST", "/api/v1/webhooks", {"url": subscriber.url})
        grader_id = platform.new_grader(grader, shareReasoning=True)
        task_id = platform.new_task(grader_id, review={"sampledShare": 1})
        gone = platform.new_task(grader_id)
        platform.submit(task_id, {"prompt": "SECRET"}, {"response": LARGE})
        platform.submit(gone, {})
        platform.score_everything()
        platform.project()
        platform.deliver()
        platform.call("DELETE", f"/api/v1/tasks/{gone}")
        platform.new_reward_url(task_id)
        deck_id = new_deck(platform)["id"]
        new_deck_grader(platform, deck_id)
        new_samples(platform, deck_id, {"input": "SECRET", "output": LARGE[:300_000]})
        platform.call("DELETE", f"/api/v1/decks/{new_deck(platform)['id']}")
        connection = {"name": "c", "provider": "simulated", "baseUrl": "http://127.0.0.1:1"}
        connection |= {"prices": {"small": {"inputUsd": "1", "outputUsd": "1"}}}
        made = platform.call("POST", "/api/v1/llm-connections", connection).json["connection"]
        path = "/api/v1/apprentice/tasks/intents"
        assert platform.call("PUT", path, configuration(made["id"])).status == 200
        platform.call("POST", "/api/v1/review-links", {"reviewerId": "anna"})
        platform.new_key("reviewer")
        made = platform.call("POST", "/api/v1/sessions", {}).json
        code = {"code": made["url"].partition("#code=")[2]}
        begun = platform.call("POST", "/api/v1/sessions/exchange", code, signed={}).json
        platform.me(f"{made['session']['id']}.{begun['secret']}")
        platform.probe_graders()
        export = {"taskId": task_id, "kind": "scores", "format": "jsonl"}
        platform.call("POST", "/api/v1/exports", export)
        # What is under way: pending, and on a queue.
        platform.submit(task_id, {"prompt": "SECRET"}, {})
    platform.api_key = before


def things_of(organization_id: str) -> list[str]:
    """Return where something names an organisation, but in the audit log and by itself.

    Which requests wait goes by itself within a day.
    """
    return sorted(
        f"{one.place}: {one.key}"
        for one in kept()
        if "audit" not in one.place
        and organization_id in one.key + str(one.item)
        and not one.key.startswith("waiting#")
    )


def everything() -> dict[str, str]:
    return {f"{one.place}: {one.key}": str(one.item or "") for one in kept()}


def test_nothing_but_its_id_is_left_and_others_keep_all(
    platform: Platform, grader: LoopbackGrader, clock: TurnedClock
) -> None:
    other = platform.new_organization("second")
    fill(platform, grader, other)
    their_id = platform.me(other)["organizationId"]
    me = platform.me()
    organization_id, own = me["organizationId"], things_of(me["organizationId"])
    before = {
        key for key in everything() if "audit" not in key and key not in own and me["id"] not in key
    }
    fill(platform, grader)
    keys = [one["id"] for one in platform.call("GET", "/api/v1/keys").json["keys"]]
    graders = [one["id"] for one in platform.call("GET", "/api/v1/graders").json["graders"]]
    assert len(things_of(organization_id)) > 20
    suspend(organization_id)
    assert step(organization_id)["status"] == "deleting"
    clock.ahead = deleting.STILL_WRITES
    gone = step(organization_id)
    assert (gone["status"], gone["name"]) == ("deleted", "")
    assert things_of(organization_id) == [f"table registry: {organization_id} / record"]
    left = everything()
    # What goes by itself, within a day and within eight, names nobody.
    going = ("table registry: nonce#", "table budgets: ")
    named = [key for key in left if any(id_ in key for id_ in (*keys, *graders))]
    assert [key for key in named if not key.startswith(going)] == []
    # Of anybody else nothing is gone, and nothing new is there but what is nobody's.
    assert {key for key in before if key not in left and "nonce#" not in key} == set()
    assert len(things_of(their_id)) > 20
    assert platform.call("GET", "/api/v1/tasks", api_key=other).status == 200
    assert platform.call("GET", "/api/v1/tasks").status == 401


def test_a_session_that_no_key_made_goes_with_when_it_was_used(
    platform: Platform, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    organization_id = platform.me()["organizationId"]
    with serve_provider(f"{API_URL}/console") as provider:
        sign_in_at(monkeypatch, provider.url, organization_id)
        person = provider.authorize().body()
        begun = platform.call("POST", "/api/v1/sessions/oidc", person, signed={}).json
    session_id = begun["session"]["id"]
    platform.call("GET", "/api/v1/sessions/me", api_key=f"{session_id}.{begun['secret']}")
    kept_of_it = [key for key in everything() if session_id in key and "nonce#" not in key]
    assert len(kept_of_it) == 2, "the session, and when it was used"
    suspend(organization_id)
    step(organization_id)
    clock.ahead = deleting.STILL_WRITES
    assert step(organization_id)["status"] == "deleted"
    left = everything()
    assert [key for key in kept_of_it if key in left] == []


def test_a_deletion_that_is_killed_anywhere_goes_on_where_it_was(
    platform: Platform, grader: LoopbackGrader, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    fill(platform, grader)
    suspend(organization_id)
    killer = Killer()
    calls = 0
    for _ in range(40):
        # Ever later: a step that is always killed before it noted anything gets nowhere.
        killer.kill("after-call" if calls % 2 else "before-call", after=3 + 5 * calls)
        calls += 1
        clock.ahead = timedelta(minutes=calls)
        try:
            found = step(organization_id)
        except Killed:
            continue
        finally:
            killer.spare()
        if found["status"] == "deleted":
            break
    assert calls > 5
    assert things_of(organization_id) == [f"table registry: {organization_id} / record"]


def test_a_step_ends_before_its_time_is_over(
    platform: Platform, grader: LoopbackGrader, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    fill(platform, grader)
    suspend(organization_id)
    assert step(organization_id, seconds=5)["status"] == "deleting"
    assert len(things_of(organization_id)) > 20


class Hurry(LambdaContext):
    """The context of a function that is ended after some seconds, of which each call takes some."""

    def __init__(self, seconds: float, *, a_call: float) -> None:
        super().__init__(seconds)
        self._a_call = a_call
        for client in (clients.dynamodb(), clients.s3()):
            client.meta.events.register("before-call", self._spend)

    def _spend(self, **_: Any) -> None:
        self._seconds -= self._a_call
        assert self._seconds > 0, "Lambda ended the function"

    def done(self) -> None:
        for client in (clients.dynamodb(), clients.s3()):
            client.meta.events.unregister("before-call", self._spend)


def hurried_steps(organization_id: str, clock: TurnedClock, *, most: int) -> list[str]:
    """Delete in steps that have time for little; return the operations of each step."""
    event = {"organizationId": organization_id, "name": "first"}
    for _ in range(most):
        hurry = Hurry(40, a_call=0.3)
        try:
            answer = delete_organization.lambda_handler(event, hurry)["organization"]
        finally:
            hurry.done()
        clock.ahead += deleting.STILL_WRITES
        if answer["status"] == "deleted":
            return things_of(organization_id)
    raise AssertionError("the deletion gets nowhere")


def test_no_page_and_no_partition_is_too_large_for_a_step(
    platform: Platform, grader: LoopbackGrader, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    task_id = platform.new_task(platform.new_grader(grader))
    for _ in range(8):
        platform.submit(task_id, *[{} for _ in range(20)])
    deliveries = boto3.resource("dynamodb").Table("deliveries")
    with deliveries.batch_writer() as batch:
        for number in range(3_000):
            key = {"pk": "whk_" + "1" * 26, "sk": f"evt_{number:026}"}
            batch.put_item(Item={**key, "organization_id": organization_id})
    suspend(organization_id)
    left = hurried_steps(organization_id, clock, most=60)
    assert left == [f"table registry: {organization_id} / record"]


def test_a_step_cancels_as_many_batches_as_it_has_time_for(
    platform: Platform, grader: LoopbackGrader, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    task_id = platform.new_task(platform.new_grader(grader))
    for _ in range(12):
        platform.submit(task_id, *[{} for _ in range(20)])
    suspend(organization_id)
    killer = Killer()
    left = hurried_steps(organization_id, clock, most=60)
    assert left == [f"table registry: {organization_id} / record"]
    # Nothing closes batches here, and yet no step begins with those of the steps before it.
    assert killer.called.count("PutItem") < 2 * 12 * 20


def test_what_a_round_still_writes_behind_a_long_pass_is_found(
    platform: Platform, grader: LoopbackGrader, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    fill(platform, grader)
    suspend(organization_id)
    assert step(organization_id, seconds=5)["status"] == "deleting"
    # The first pass takes an hour; a round read a text before it was deleted, and is at work.
    clock.ahead = timedelta(hours=1)
    assert step(organization_id)["status"] == "deleting"
    table = boto3.resource("dynamodb").Table("completions")
    late = {"pk": "cmp_" + "1" * 26, "sk": "verdict#", "organization_id": organization_id}
    table.put_item(Item={**late, "reasoning": "SECRET"})
    clock.ahead += deleting.STILL_WRITES
    step(organization_id)
    assert things_of(organization_id) == [f"table registry: {organization_id} / record"]


def test_what_comes_late_is_found_by_another_pass(
    platform: Platform, grader: LoopbackGrader, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    fill(platform, grader)
    suspend(organization_id)
    step(organization_id)
    queued = platform.queued()
    platform.dispatch(queued)  # a run begins although its completions are gone
    assert len(things_of(organization_id)) > 1
    clock.ahead = deleting.STILL_WRITES
    assert step(organization_id)["status"] == "deleting", "it may still write"
    clock.ahead = 2 * deleting.STILL_WRITES
    assert step(organization_id)["status"] == "deleted"
    assert things_of(organization_id) == [f"table registry: {organization_id} / record"]
    table = boto3.resource("dynamodb").Table("completions")
    table.put_item(Item={"pk": "run_late", "sk": "run", "organization_id": organization_id})
    assert step(organization_id, "whatever")["status"] == "deleting"
    clock.ahead = 3 * deleting.STILL_WRITES
    assert step(organization_id)["status"] == "deleted"
    assert things_of(organization_id) == [f"table registry: {organization_id} / record"]


def test_only_what_is_suspended_and_named_is_deleted(
    platform: Platform, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    with pytest.raises(ConflictError, match="is active; suspend it first"):
        step(organization_id)
    suspend(organization_id)
    with pytest.raises(InvalidRequestError, match="name"):
        step(organization_id, "second")
    step(organization_id)
    with pytest.raises(InvalidRequestError, match="name"):
        step(organization_id, "second")  # nor is it gone on with
    with pytest.raises(NotFoundError):
        step("org_" + "0" * 26)
    with pytest.raises(ValueError, match="expected"):
        delete_organization.lambda_handler({"organizationId": organization_id}, LambdaContext())


def test_what_is_being_deleted_is_not_taken_up_again(
    platform: Platform, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    suspend(organization_id)
    step(organization_id)
    with pytest.raises(ConflictError, match="is deleting"):
        manage({"action": "resume", "organizationId": organization_id}, None)
    [listed] = manage({"action": "list"}, None)["organizations"]
    assert listed["status"] == "deleting"


def test_what_hosts_a_model_is_left_to_the_sweep_which_takes_it_down_at_once(
    platform: Platform, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    connection = {"name": "c", "provider": "simulated", "baseUrl": "http://127.0.0.1:1"}
    connection |= {"prices": {"small": {"inputUsd": "1", "outputUsd": "1"}}}
    made = platform.call("POST", "/api/v1/llm-connections", connection).json["connection"]
    path = "/api/v1/apprentice/tasks/intents"
    task = platform.call("PUT", path, configuration(made["id"])).json["task"]
    hostings = HostingRepository(Table("apprentice", clients.dynamodb()))
    now = clock.now()
    later = now + timedelta(hours=1)
    hosting = Hosting(
        name="autotune-1",
        kind="base",
        task_id=task["id"],
        artifact="s3://bucket/model.tar.gz",
        idle_minutes=30,
        state="ready",
        since=now,
        due_at=later,
    )
    assert hostings.add(hosting)
    suspend(organization_id)

    step(organization_id)

    (left,) = map(hostings.read, hostings.due(clock.now(), limit=10))
    assert (left.name, left.unwanted_at is not None) == ("autotune-1", True)


def test_small_models_go_with_what_they_are_trained_from(
    platform: Platform, clock: TurnedClock
) -> None:
    organization_id = platform.me()["organizationId"]
    connection = {"name": "c", "provider": "simulated", "baseUrl": "http://127.0.0.1:1"}
    connection |= {"prices": {"small": {"inputUsd": "1", "outputUsd": "1"}}}
    made = platform.call("POST", "/api/v1/llm-connections", connection).json["connection"]
    path = "/api/v1/apprentice/tasks/intents"
    task_id = platform.call("PUT", path, configuration(made["id"])).json["task"]["id"]
    bucket = boto3.resource("s3").Bucket("apprentice")
    others = ["apprentice/apt_another/models/m/model.npz", "apprentice/bases/b/base.json"]
    for kind in ("models/m/model.npz", "data/trn_1/train-1", "jobs/trn_1/output/model.tar.gz"):
        bucket.put_object(Key=f"apprentice/{task_id}/{kind}", Body=b"SECRET")
    for key in others:
        bucket.put_object(Key=key, Body=b"")
    suspend(organization_id)

    step(organization_id)

    assert [one.key for one in bucket.objects.all()] == others
    # A training that was under way writes on, and is found by its own item.
    trainings = {"pk": f"{task_id}#trainings", "sk": "training#1"}
    table = boto3.resource("dynamodb").Table("apprentice")
    table.put_item(Item={**trainings, "organization_id": organization_id})
    bucket.put_object(Key=f"apprentice/{task_id}/models/late/model.npz", Body=b"SECRET")
    clock.ahead = deleting.STILL_WRITES
    step(organization_id)
    assert [one.key for one in bucket.objects.all()] == others
