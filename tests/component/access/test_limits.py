"""What an organisation may ask for has limits, which operators set and another never meets."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from cachetools import TTLCache

from autotune.protocol.access import OrganizationLimits
from autotune.protocol.ids import new_id
from autotune_platform.access import rates
from autotune_platform.access.models import Caller
from autotune_platform.completions.open_counts import OpenCounts
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.errors import TooManyEntitiesError, TooManyOpenCompletionsError
from autotune_platform.storage.table import Table
from autotune_platform.tasks.models import Task
from autotune_platform.wiring.tasks import TaskApiParts
from tests.support.clock import StandingClock
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import Answer, forget_processes, handler
from tests.support.platform import Platform

manage = handler("functions.operations.manage_organizations")


def limit(platform: Platform, api_key: str | None = None, **limits: int | None) -> Any:
    """Set limits of an organisation; other processes learn of it within half a minute."""
    organization_id = platform.me(api_key)["organizationId"]
    event = {"action": "limit", "organizationId": organization_id, "limits": limits}
    answer = manage(event, None)
    forget_processes()
    return answer["organization"]["limits"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> StandingClock:
    """The clock of all counts of requests, which stands still."""
    made = StandingClock()
    monkeypatch.setattr(rates.RequestRates, "clock", made)
    monkeypatch.setattr(rates, "SYSTEM_CLOCK", made)
    original = rates.RequestRates.__init__

    def with_clock(self: rates.RequestRates, **fields: Any) -> None:
        original(self, **{**fields, "clock": made})

    monkeypatch.setattr(rates.RequestRates, "__init__", with_clock)
    return made


def caller_of(platform: Platform, api_key: str | None = None, **limits: int) -> Any:
    me = platform.me(api_key)
    return Caller(
        key_id=me["id"],
        organization_id=me["organizationId"],
        principal_id=me["id"],
        role="admin",
        request_id="req_1",
        limits=OrganizationLimits(**{"waiting_requests": 1, **limits}),
    )


def refused(answer: Answer, status: int, code: str) -> Any:
    assert (answer.status, answer.json["code"]) == (status, code), answer.text
    return answer.json["limit"]


def test_a_key_and_its_organisation_send_so_many_requests_a_second(
    platform: Platform, clock: StandingClock
) -> None:
    other = platform.new_organization("second")
    second = platform.new_key("training_operator")
    limit(platform, requestsPerSecond=5, requestsPerSecondOfKey=3)
    clock.sleep(1)
    assert [platform.call("GET", "/api/v1/tasks").status for _ in range(3)] == [200] * 3
    answer = platform.call("GET", "/api/v1/tasks")
    assert refused(answer, 429, "too_many_requests") == {
        "name": "requests per second of the key",
        "maximum": 3,
        "unit": "requests per second",
    }
    assert answer.headers["retry-after"] == "1"
    assert platform.call("GET", "/api/v1/tasks", api_key=second).status == 200
    forget_processes()  # Another process does not know who was refused.
    assert platform.call("GET", "/api/v1/tasks", api_key=second).status == 200
    answer = platform.call("GET", "/api/v1/tasks", api_key=second)
    assert refused(answer, 429, "too_many_requests")["name"].endswith("the organization")
    assert platform.call("GET", "/api/v1/tasks", api_key=other).status == 200
    clock.sleep(1)
    assert platform.call("GET", "/api/v1/tasks").status == 200


def test_who_was_refused_costs_no_write_in_the_rest_of_the_second(
    platform: Platform, clock: StandingClock
) -> None:
    limit(platform, requestsPerSecondOfKey=1)
    clock.sleep(1)
    platform.call("GET", "/api/v1/tasks")
    table = boto3.resource("dynamodb").Table("registry")

    def counts() -> list[Any]:
        return [item for item in table.scan()["Items"] if item["pk"].startswith("rate#")]

    refused(platform.call("GET", "/api/v1/tasks"), 429, "too_many_requests")
    before = counts()
    refused(platform.call("GET", "/api/v1/tasks"), 429, "too_many_requests")
    assert counts() == before


def test_counts_are_spread_where_many_may_come(platform: Platform, clock: StandingClock) -> None:
    """DynamoDB takes a thousand writes a second of one item: who may send more has several."""
    limit(platform, requestsPerSecond=1_200, requestsPerSecondOfKey=7)
    clock.sleep(1)
    statuses = [platform.call("GET", "/api/v1/keys/me").status for _ in range(10)]
    assert statuses == [200] * 7 + [429] * 3
    items = boto3.resource("dynamodb").Table("registry").scan()["Items"]
    spread = [item for item in items if item["pk"].startswith("rate#") and item["sk"] == "second"]
    assert len({item["pk"].rpartition("#")[2] for item in spread if "all" in item}) >= 3


def test_a_store_that_cannot_count_holds_nobody_up(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any, **__: Any) -> str | None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "UpdateItem")

    limit(platform, requestsPerSecondOfKey=1)
    monkeypatch.setattr("autotune_platform.storage.table.spend", busy)
    assert [platform.call("GET", "/api/v1/tasks").status for _ in range(3)] == [200] * 3


def test_a_reward_url_and_a_link_are_counted_as_keys_are(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    path = platform.new_reward_url(task_id)
    link = platform.call("POST", "/api/v1/review-links", {"reviewerId": "anna"}).json
    bearer = {"authorization": f"Bearer {link['url'].partition('#')[2]}"}
    limit(platform, requestsPerSecondOfKey=1)
    clock.sleep(1)
    question = {"query": ["2 + 2 = 4"], "prompts": ["2 + 2 = "], "labels": [""]}
    assert platform.ask(f"{path}/openrlhf", question).status == 503  # pending
    refused(platform.ask(f"{path}/openrlhf", question), 429, "too_many_requests")
    assert platform.call("GET", "/api/v1/reviews", signed=bearer).status == 200
    refused(platform.call("GET", "/api/v1/reviews", signed=bearer), 429, "too_many_requests")


def test_a_wrong_signature_uses_up_nothing(platform: Platform, clock: StandingClock) -> None:
    me = platform.me()
    limit(platform, requestsPerSecond=1)
    clock.sleep(1)
    for _ in range(3):
        assert platform.call("GET", "/api/v1/tasks", api_key=f"{me['id']}.{'0' * 64}").status == 401
    assert platform.call("GET", "/api/v1/tasks").status == 200


def test_completions_are_refused_while_too_many_are_undecided(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    limit(platform, openCompletions=5)
    named = {"idempotency-key": "a"}
    first = platform.submit(task_id, {}, {}, {}, headers=named)
    assert first.status == 202
    answer = platform.submit(task_id, {}, {}, {})
    assert refused(answer, 429, "too_many_open_completions") == {
        "name": "open completions",
        "maximum": 5,
        "unit": "completions",
        "actual": 6,
    }
    assert answer.headers["retry-after"] == "30"
    # What was accepted stays accepted.
    assert platform.submit(task_id, {}, {}, {}, headers=named).status in (200, 202)
    assert platform.submit(task_id, {}, {}).status == 202
    platform.score_everything()
    platform.project()
    forget_processes()
    assert open_completions() == 0
    assert platform.submit(task_id, {}, {}, {}).status == 202


def test_what_is_scored_again_is_undecided_again(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    accepted = platform.submit(task_id, {}, {}).json
    assert open_completions() == 2
    platform.score_everything()
    platform.project()
    assert open_completions() == 0
    body = {"completionIds": accepted["completionIds"][:1]}
    assert platform.call("POST", "/api/v1/completions/rescore", body).status == 202
    assert open_completions() == 1
    platform.score_everything()
    platform.project()
    assert open_completions() == 0


def test_completions_of_panels_and_canceled_ones_are_counted_once(
    platform: Platform, grader: LoopbackGrader
) -> None:
    members = [{"graderId": platform.new_grader(grader)} for _ in range(3)]
    task_id = platform.new_task(graders=members)
    platform.submit(task_id, {}, {})
    canceled = platform.submit(task_id, {}, {}).json["batchId"]
    assert open_completions() == 4
    platform.call("POST", f"/api/v1/batches/{canceled}/cancel")
    platform.score_everything()
    platform.project()
    platform.project()  # It comes at least once.
    assert open_completions() == 0


def test_what_others_count_is_known_after_ten_seconds_however_much_comes(
    platform: Platform,
) -> None:
    """A process that takes submissions all the time is not to go by its own count alone."""
    now = [0.0]

    def process() -> OpenCounts:
        counts = OpenCounts(table=Table("completions", boto3.client("dynamodb")))
        counts._counted = TTLCache(10, 10, timer=lambda: now[0])
        return counts

    def add(counts: OpenCounts, by: int) -> None:
        counts.table.add_together([counts.addition(caller.organization_id, by)])
        counts.added(caller.organization_id, by)

    caller, mine, others = caller_of(platform, open_completions=100), process(), process()
    mine.require_room(caller, 1)
    for _ in range(4):
        add(mine, 1)
        add(others, 30)
        now[0] += 4
    with pytest.raises(TooManyOpenCompletionsError, match="124 completions are undecided"):
        mine.require_room(caller, 1)
    for _ in range(4):
        now[0] += 4
        add(mine, -1)
        add(others, -30)
    mine.require_room(caller, 99)


def open_completions() -> int:
    items = boto3.resource("dynamodb").Table("completions").scan()["Items"]
    return sum(int(item["open"]) for item in items if item["pk"].startswith("open#"))


def entities(platform: Platform, grader: LoopbackGrader) -> dict[str, tuple[str, Any, str]]:
    """Where each kind is made, of what, and how the answer names it."""
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    return {
        "keys": ("/api/v1/keys", {"name": "n", "role": "reviewer"}, "key"),
        "tasks": ("/api/v1/tasks", {"name": "n", "graderId": grader_id}, "task"),
        "graders": (
            "/api/v1/graders",
            {"name": "n", "kind": "builtin", "builtin": {"type": "exact_match", "reference": "4"}},
            "grader",
        ),
        "rewardUrls": (
            "/api/v1/reward-urls",
            {"name": "n", "taskId": task_id, "modelId": "m"},
            "rewardUrl",
        ),
    }


@pytest.mark.parametrize("kind", ["keys", "tasks", "graders", "rewardUrls"])
def test_an_organisation_has_so_many_of_each_kind(
    platform: Platform, grader: LoopbackGrader, kind: str
) -> None:
    path, body, name = entities(platform, grader)[kind]
    other = platform.new_organization("second")
    listed = platform.call("GET", path).json[kind]
    limit(platform, **{kind: len(listed) + 2})
    made = [platform.call("POST", path, body) for _ in range(3)]
    assert [answer.status for answer in made] == [201, 201, 409]
    assert refused(made[2], 409, "limit_reached")["maximum"] == len(listed) + 2
    if kind in ("keys", "graders"):
        assert platform.call("POST", path, body, api_key=other).status == 201
    made_id = made[0].json[name]["id"]
    # Twice: it is taken off the count once.
    for _ in range(2):
        assert platform.call("DELETE", f"{path}/{made_id}").status in (200, 204, 404)
    again = [platform.call("POST", path, body).status for _ in range(2)]
    assert again == [201, 409]


def test_those_who_create_at_the_same_time_stay_within_the_limit(platform: Platform) -> None:
    tasks = TaskApiParts(Environment.parse()).tasks.repository
    organization_id = platform.me()["organizationId"]

    def add(_: int) -> bool:
        now = SYSTEM_CLOCK.now()
        task = Task(
            id=new_id("task"),
            organization_id=organization_id,
            name="n",
            description="",
            prompt_template="",
            metadata={},
            grader_id="grd_1",
            share_identity=False,
            created_at=now,
            updated_at=now,
        )
        try:
            tasks.add(task, at_most=5)
        except TooManyEntitiesError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(add, range(12))) == 5
    assert len(platform.call("GET", "/api/v1/tasks").json["tasks"]) == 5


def test_operators_set_limits_and_take_them_back(platform: Platform) -> None:
    usual = OrganizationLimits().model_dump(by_alias=True)
    limits = limit(platform, requestsPerSecond=7, tasks=3)
    assert limits == {**usual, "requestsPerSecond": 7, "tasks": 3}
    limits = limit(platform, requestsPerSecond=None, keys=9)
    assert limits == {**usual, "tasks": 3, "keys": 9}
    [listed] = manage({"action": "list"}, None)["organizations"]
    assert listed["limits"] == limits


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"requestsPerSecond": 0}, "requestsPerSecond: .* greater than or equal to 1"),
        ({"requestsPerSecond": 10_001}, "requestsPerSecond: .* less than or equal to 10000"),
        ({"requests": 1}, "requests: "),
        ({"tasks": "many"}, "tasks: .* valid integer"),
    ],
)
def test_a_wrong_limit_is_named(platform: Platform, limits: Any, said: str) -> None:
    organization_id = platform.me()["organizationId"]
    with pytest.raises(ValueError, match=said):
        manage({"action": "limit", "organizationId": organization_id, "limits": limits}, None)
