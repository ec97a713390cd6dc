"""Sessions of the console: a key lends its role to a browser, for some hours and no longer."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.client import BaseClient

from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from autotune_platform.access import service
from autotune_platform.access.sessions import SessionService
from functions.access import api
from tests.support.aws import API_URL
from tests.support.clock import StandingClock
from tests.support.lambdas import Answer, forget_processes, handler
from tests.support.platform import Platform

NOT_VALID = "the code is not valid; `autotune console` makes another"


@pytest.fixture
def clock(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> StandingClock:
    made = StandingClock()
    monkeypatch.setattr(service, "SYSTEM_CLOCK", made)
    monkeypatch.setattr(api.parts(), "clock", made, raising=False)
    monkeypatch.setattr(api.parts().sessions, "clock", made)
    return made


def make(platform: Platform, *, api_key: str | None = None, **fields: Any) -> dict[str, Any]:
    made = platform.call("POST", "/api/v1/sessions", fields, api_key=api_key)
    assert made.status == 201, made.text
    return made.json


def code_of(made: dict[str, Any]) -> str:
    page, _, code = made["url"].partition("#code=")
    assert page == f"{API_URL}/console"
    return code


def exchange(platform: Platform, code: str) -> Answer:
    return platform.call("POST", "/api/v1/sessions/exchange", {"code": code}, signed={})


def begin(platform: Platform, **options: Any) -> str:
    """Make a session and exchange its code; return what signs, as a key is written."""
    answer = exchange(platform, code_of(make(platform, **options)))
    assert answer.status == 200, answer.text
    return f"{answer.json['session']['id']}.{answer.json['secret']}"


def listed(platform: Platform, **options: Any) -> dict[str, Any]:
    found = platform.call("GET", "/api/v1/sessions", **options).json["sessions"]
    return {session["id"]: session for session in found}


def read_own(platform: Platform, signs: str, clock: StandingClock) -> Answer:
    """Read the key of what signs, at the time of a clock that is far ahead."""
    signer_id, _, secret = signs.partition(".")
    path = "/api/v1/keys/me"
    headers = sign_api_request(
        key_id=signer_id,
        secret=secret,
        method="GET",
        path=path,
        query="",
        body=b"",
        request_id=new_id("req"),
        timestamp=int(clock.now().timestamp()),
    )
    return platform.call("GET", path, signed=headers)


def refused(answer: Answer) -> bool:
    return (answer.status, answer.json["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("role", ["training_operator", "grader_owner", "reviewer", "admin"])
def test_a_session_has_the_role_of_its_key_until_it_is_revoked(
    platform: Platform, role: str
) -> None:
    key = platform.new_key(role, principal_id="p-anna")
    made = make(platform, api_key=key)
    assert made["session"]["status"] == "pending"
    assert (made["session"]["role"], made["session"]["principalId"]) == (role, "p-anna")
    assert made["session"]["name"] == role, "it has the name of its key"
    answer = exchange(platform, code_of(made)).json
    assert answer["session"]["status"] == "active"
    signs = f"{made['session']['id']}.{answer['secret']}"
    for path in ("/api/v1/tasks", "/api/v1/keys", "/api/v1/reviews", "/api/v1/graders"):
        by_key = platform.call("GET", path, api_key=key)
        in_session = platform.call("GET", path, api_key=signs)
        assert (in_session.status, in_session.json.get("code")) == (
            by_key.status,
            by_key.json.get("code"),
        )
    assert platform.me(signs)["id"] == key.partition(".")[0]
    own = platform.call("GET", "/api/v1/sessions/me", api_key=signs).json["session"]
    assert own["lastUsedAt"] is not None
    ended = platform.call("DELETE", "/api/v1/sessions/me", api_key=signs)
    assert ended.json["session"]["status"] == "revoked"
    assert refused(platform.call("GET", "/api/v1/sessions/me", api_key=signs))


def test_a_code_works_once_and_its_second_use_ends_the_session(platform: Platform) -> None:
    made = make(platform)
    code, session_id = code_of(made), made["session"]["id"]
    wrong = exchange(platform, f"{session_id}.{'0' * 43}")
    signs = f"{session_id}.{exchange(platform, code).json['secret']}"
    assert platform.call("GET", "/api/v1/keys/me", api_key=signs).status == 200
    again = exchange(platform, code)
    assert refused(platform.call("GET", "/api/v1/keys/me", api_key=signs))
    assert listed(platform)[session_id]["status"] == "revoked"
    for answer in (wrong, again, exchange(platform, code), exchange(platform, "nonsense")):
        assert (answer.status, answer.json["detail"]) == (401, NOT_VALID)
    query = {"action": "exchange_session", "limit": 10}
    entries = platform.call("GET", "/api/v1/audit", query=query).json["entries"]
    # What was wrong is in no organisation's log: anybody could write there otherwise.
    assert [entry["status"] for entry in entries] == [401, 401, 200]
    for entry in entries:
        assert entry["ids"] == {"session_id": session_id}
        assert entry["principalId"] == made["session"]["principalId"]


def test_a_wrong_code_ends_nothing_and_writes_nothing(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(platform)
    asked: list[str] = []
    call = BaseClient._make_api_call

    def note(client: Any, operation: str, arguments: dict[str, Any]) -> Any:
        asked.append(operation)
        return call(client, operation, arguments)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", note)
        for _ in range(3):
            exchange(platform, f"{made['session']['id']}.{'x' * 43}")
    assert asked == ["GetItem"] * 3
    assert exchange(platform, code_of(made)).status == 200


def test_a_code_of_a_session_that_ended_spends_nothing_of_the_organisations_rate(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(platform)
    platform.call("DELETE", f"/api/v1/sessions/{made['session']['id']}")
    asked: list[tuple[str, str]] = []
    call = BaseClient._make_api_call

    def note(client: Any, operation: str, arguments: dict[str, Any]) -> Any:
        asked.append((operation, arguments["TableName"]))
        return call(client, operation, arguments)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", note)
        assert exchange(platform, code_of(made)).status == 401
    # Its session and its key are read, and the organisation's log says so.
    assert asked == [("GetItem", "registry")] * 2 + [("PutItem", "audit")]


def test_of_two_who_exchange_at_once_one_gets_a_secret_that_is_void(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(platform)
    both = threading.Barrier(2)
    prove = SessionService.prove

    def meet(service: SessionService, code: str) -> Any:
        proven = prove(service, code)
        both.wait(10)
        return proven

    sessions = api.parts().sessions
    monkeypatch.setattr(SessionService, "prove", meet)

    def try_it(number: int) -> str | None:
        proven = sessions.prove(code_of(made))
        try:
            return sessions.exchange(proven, request_id=f"req_{number}")[1]
        except service.UnauthenticatedError:
            return None

    with ThreadPoolExecutor(2) as pool:
        secrets = [secret for secret in pool.map(try_it, range(2)) if secret]
    assert len(secrets) == 1
    signs = f"{made['session']['id']}.{secrets[0]}"
    assert refused(platform.call("GET", "/api/v1/tasks", api_key=signs))


def test_a_code_is_void_after_five_minutes_and_a_session_after_its_time(
    platform: Platform, clock: StandingClock
) -> None:
    late = make(platform, expiresInMinutes=5)
    signs = begin(platform, expiresInMinutes=10)
    clock.turn(minutes=5)
    assert exchange(platform, code_of(late)).json["detail"] == NOT_VALID
    assert read_own(platform, signs, clock).status == 200
    clock.turn(minutes=5)
    assert refused(read_own(platform, signs, clock))
    stored = api.parts().sessions.repository
    for session_id in (late["session"]["id"], signs.partition(".")[0]):
        session = stored.get(session_id)
        assert session is not None
        assert session.status_at(clock.now()) == "expired"


@pytest.mark.parametrize("minutes", [4, 721, "x", None])
def test_a_session_lasts_five_minutes_to_twelve_hours(platform: Platform, minutes: Any) -> None:
    answer = platform.call("POST", "/api/v1/sessions", {"expiresInMinutes": minutes})
    assert (answer.status, answer.fields.keys()) == (422, {"expiresInMinutes"})


def test_a_session_ends_with_its_key(platform: Platform, clock: StandingClock) -> None:
    key = platform.new_key("admin")
    signs, unused = begin(platform, api_key=key), make(platform, api_key=key)
    assert platform.call("GET", "/api/v1/tasks", api_key=signs).status == 200
    other = make(platform)["session"]["id"]
    platform.call("DELETE", f"/api/v1/keys/{key.partition('.')[0]}")
    statuses = {id_: session["status"] for id_, session in listed(platform).items()}
    assert statuses.pop(other) == "pending"
    assert list(statuses.values()) == ["revoked", "revoked"]
    forget_processes()  # another function learns of it in half a minute
    assert refused(platform.call("GET", "/api/v1/tasks", api_key=signs))
    assert refused(
        platform.call("POST", "/api/v1/keys", {"name": "k", "role": "admin"}, api_key=signs)
    )
    assert exchange(platform, code_of(unused)).json["detail"] == NOT_VALID


def test_a_session_ends_when_its_key_expires(platform: Platform, clock: StandingClock) -> None:
    soon = clock.now() + timedelta(minutes=20)
    body = {"name": "k", "role": "reviewer", "expiresAt": soon.isoformat()}
    key = platform.call("POST", "/api/v1/keys", body).json["apiKey"]
    made = make(platform, api_key=key)
    assert datetime.fromisoformat(made["session"]["expiresAt"]) == soon
    signs = f"{made['session']['id']}.{exchange(platform, code_of(made)).json['secret']}"
    assert read_own(platform, signs, clock).status == 200
    clock.turn(minutes=20)
    assert refused(read_own(platform, signs, clock))


def test_a_revoked_session_makes_nothing_even_where_it_was_just_seen(platform: Platform) -> None:
    signs = begin(platform)
    body = {"name": "k", "role": "reviewer"}
    made = platform.call("POST", "/api/v1/keys", body, api_key=signs)
    assert made.json["key"]["createdBy"] == platform.me()["id"], "its key made that"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autotune_platform.access.signers.Signers.forget", lambda *_: None)
        assert platform.call("DELETE", f"/api/v1/sessions/{signs.partition('.')[0]}").status == 200
        assert refused(platform.call("POST", "/api/v1/keys", body, api_key=signs))


def test_a_session_makes_no_sessions(platform: Platform) -> None:
    answer = platform.call("POST", "/api/v1/sessions", {}, api_key=begin(platform))
    assert (answer.status, answer.json["code"]) == (403, "forbidden")
    assert "a session makes no sessions" in answer.json["detail"]


def test_admins_see_and_end_all_sessions_and_others_those_of_their_principal(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.access.sessions._FILTERED_PAGE", 2)
    anna = platform.new_key("reviewer", principal_id="anna")
    ben = platform.new_key("reviewer", principal_id="ben")
    other = platform.new_organization("other")
    made = [make(platform, api_key=key)["session"]["id"] for key in (anna, ben, anna, ben, anna)]
    theirs = make(platform, api_key=other)["session"]["id"]
    assert list(listed(platform)) == made
    assert list(listed(platform, api_key=anna)) == [made[0], made[2], made[4]]
    first = platform.call("GET", "/api/v1/sessions", api_key=anna, query={"limit": 2}).json
    rest = {"limit": 2, "nextToken": first["nextToken"]}
    assert [one["id"] for one in first["sessions"]] == [made[0], made[2]]
    assert list(listed(platform, api_key=anna, query=rest)) == [made[4]]
    for key, session_id in ((anna, made[1]), (anna, theirs), (None, theirs)):
        path = f"/api/v1/sessions/{session_id}"
        assert platform.call("DELETE", path, api_key=key).status == 404
    assert platform.call("DELETE", f"/api/v1/sessions/{made[0]}", api_key=anna).status == 200
    assert platform.call("DELETE", f"/api/v1/sessions/{made[1]}").status == 200
    states = [session["status"] for session in listed(platform).values()]
    assert states == ["revoked", "revoked", "pending", "pending", "pending"]
    assert listed(platform, api_key=other)[theirs]["status"] == "pending"


def test_what_is_done_in_a_session_names_it_in_the_audit_log(platform: Platform) -> None:
    signs = begin(platform, api_key=platform.new_key("admin", principal_id="anna"))
    platform.call("POST", "/api/v1/tasks", {"name": ""}, api_key=signs)
    wrong = f"{signs.partition('.')[0]}.{'0' * 64}"
    platform.call("POST", "/api/v1/tasks", {"name": ""}, api_key=wrong)
    query = {"action": "create_task", "limit": 10}
    entries = platform.call("GET", "/api/v1/audit", query=query).json["entries"]
    assert [entry["authenticated"] for entry in entries] == [False, True]
    for entry in entries:
        assert (entry["sessionId"], entry["principalId"]) == (signs.partition(".")[0], "anna")
    ((made,),) = [
        platform.call("GET", "/api/v1/audit", query={"action": "create_session"}).json["entries"]
    ]
    assert made["ids"] == {"session_id": signs.partition(".")[0]}
    assert "#code=" not in json.dumps(platform.call("GET", "/api/v1/audit").json)


def test_no_large_body_is_read_for_whoever_asks_without_a_key(platform: Platform) -> None:
    """Before, five megabytes of names that nobody knows were taken apart: a tenth of a second."""
    code = code_of(make(platform))
    escaped = "".join(f"\\u{ord(one):04x}" for one in code)
    body = json.dumps({"code": "x" * 5_000}).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autotune_platform.http.api.parse_strictly", refuse_to_parse)
        answer = platform.call("POST", "/api/v1/sessions/exchange", raw=body, signed={})
    assert (answer.status, answer.json["code"]) == (413, "request_too_large"), answer.text
    assert (answer.json["limit"]["maximum"], answer.json["limit"]["actual"]) == (4_096, len(body))
    whole = f'{{"code": "{escaped}"}}'.encode()
    assert platform.call("POST", "/api/v1/sessions/exchange", raw=whole, signed={}).status == 200


def refuse_to_parse(*_: Any, **__: Any) -> Any:
    pytest.fail("it was read")


def limit(platform: Platform, **limits: int) -> None:
    event = {
        "action": "limit",
        "organizationId": platform.me()["organizationId"],
        "limits": limits,
    }
    handler("functions.operations.manage_organizations")(event, None)
    api.parts().access._organizations.clear()


def test_an_organisation_makes_so_many_sessions_in_twelve_hours(
    platform: Platform, clock: StandingClock
) -> None:
    limit(platform, sessions=2)
    first = make(platform)["session"]["id"]
    make(platform)
    platform.call("DELETE", f"/api/v1/sessions/{first}")
    full = platform.call("POST", "/api/v1/sessions", {})
    assert (full.status, full.json["limit"]["name"]) == (409, "sessions"), full.text
    assert full.json["limit"]["maximum"] == 2
    later = int(clock.now().timestamp()) + 12 * 3_600
    repository = api.parts().sessions.repository
    me = platform.me()
    counted = repository.count_made(
        me["organizationId"], me["id"], at_most=2, of_maker=2, second=later
    )
    assert counted is None


def test_one_key_keeps_nobody_else_out_of_the_console(platform: Platform) -> None:
    limit(platform, sessions=30)
    reviewer = platform.new_key("reviewer")
    for _ in range(10):
        make(platform, api_key=reviewer)
    full = platform.call("POST", "/api/v1/sessions", {}, api_key=reviewer)
    assert (full.status, full.json["code"]) == (409, "limit_reached"), full.text
    assert full.json["limit"] == {
        "name": "sessions of a key",
        "maximum": 10,
        "unit": "sessions",
        "actual": 10,
    }
    make(platform)


def test_sessions_of_a_key_have_no_rate_of_their_own(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reviewer with some sessions would leave nobody else a request in a second."""
    reviewer = platform.new_key("reviewer")
    signers = [reviewer, begin(platform, api_key=reviewer), begin(platform, api_key=reviewer)]
    limit(platform, requestsPerSecond=8, requestsPerSecondOfKey=3)
    monkeypatch.setattr(api.parts().access._rates, "clock", StandingClock(timedelta(minutes=1)))
    first = [platform.call("GET", "/api/v1/keys/me", api_key=one) for one in signers]
    assert [answer.status for answer in first] == [200, 200, 200]
    for one in signers:
        full = platform.call("GET", "/api/v1/keys/me", api_key=one)
        assert full.status == 429
        assert full.json["limit"]["name"] == "requests per second of the key"
    assert platform.call("GET", "/api/v1/keys/me").status == 200
