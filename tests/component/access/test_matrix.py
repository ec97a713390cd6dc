"""Each route, for each role, on what is the caller's, its organisation's and another's.

What is expected is declared in ``expectations``, apart from the table that ``Api`` enforces. A
route without a line there fails.
"""

import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient

from autotune_platform.access.routes import ROUTES
from tests.component.access.asked import BODIES, QUERIES
from tests.component.access.expectations import (
    ANYBODY,
    BEARER,
    EXPECTED,
    FILTERED,
    LISTED,
    NOT_READY,
    PUBLIC,
    ROLES,
)
from tests.component.access.prepared import (
    CALLER,
    OWNERS,
    PRINCIPALS,
    Prepared,
)
from tests.support.aws import API_URL
from tests.support.lambdas import Answer
from tests.support.oidc import serve_provider, sign_in_at
from tests.support.platform import platform as make_platform

STRANGERS = ("no key", "revoked key")


@pytest.fixture(scope="module")
def made() -> Iterator[Prepared]:
    with pytest.MonkeyPatch.context() as patch:
        # Calls are counted: which of two fetches a key anew must not depend on the clock.
        patch.setattr("autotune_platform.access.service._CACHED_SECONDS", 86_400)
        patch.setattr("autotune_platform.access.signers._CACHED_SECONDS", 86_400)
        patch.setattr("autotune_platform.access.secrets._CACHED_SECONDS", 86_400)
        # No export ends here, and each case makes some.
        patch.setattr("autotune_platform.exports.repository.MAX_OPEN_EXPORTS", 1_000)
        with (
            make_platform(patch) as running,
            serve_provider(f"{API_URL}/console") as provider,
        ):
            sign_in_at(patch, provider.url, running.me()["organizationId"])
            prepared = Prepared(running)
            prepared.decide_something()
            yield prepared


@pytest.fixture(scope="module")
def keys(made: Prepared) -> dict[str, str]:
    platform = made.platform
    revoked = platform.new_key("admin", principal_id=CALLER)
    path = f"/api/v1/keys/{revoked.partition('.')[0]}"
    assert platform.call("DELETE", path).status == 200
    roles = {role: platform.new_key(role, principal_id=CALLER) for role in ROLES}
    return {**roles, "revoked key": revoked}


@pytest.fixture
def aws_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Note what is asked of AWS from now on: of which operation, table, index and bucket."""
    noted: list[tuple[str, ...]] = []
    call = BaseClient._make_api_call

    def note(client: Any, operation: str, arguments: dict[str, Any]) -> Any:
        where = [str(arguments.get(name)) for name in ("TableName", "IndexName", "Bucket")]
        noted.append((operation, *where, *sorted(arguments.get("RequestItems", ()))))
        return call(client, operation, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", note)
    return noted


class Caller:
    """Sends the request of a line about somebody's thing."""

    def __init__(self, made: Prepared, name: str, api_key: str | None) -> None:
        self._made, self._api_key = made, api_key
        self.name = name

    def call(self, line: str, ids: dict[str, str]) -> Answer:
        method, template, *_ = line.split(" ")
        signed: dict[str, Any] = {} if self._api_key else {"signed": {}}
        return self._made.platform.call(
            method,
            _filled(template, ids),
            json.loads(_filled(json.dumps(BODIES[line]), ids)) if line in BODIES else None,
            query=json.loads(_filled(json.dumps(QUERIES.get(line, {})), ids)),
            api_key=self._api_key,
            **signed,
        )

    def ids(self, line: str, owner: str) -> dict[str, str]:
        """What stands for an owner's things in a line's path, query and body."""
        _, template, *_ = line.split(" ")
        needed = set(re.findall(r"<(\w+)>", f"{template} {BODIES.get(line)} {QUERIES.get(line)}"))
        ids = {"principal": PRINCIPALS.get(owner, "p-none"), "event_id": self._made.event_id(owner)}
        used_by = "" if line.startswith("GET") else line
        for parameter in needed - set(ids):
            whose = owner
            if line.endswith(" graderId") and parameter == "task_id":
                whose = "own"  # the grader is what is another's
            # What belongs to a deck was made in the deck that is read; so were examples of tasks,
            # and trainings.
            in_path = f"<{parameter}>" in template and not _WITHIN.search(template)
            ids[parameter] = self._made.id_of(parameter, whose, used_by=used_by if in_path else "")
        return ids


_WITHIN = re.compile(r"(?:<deck_id>/|<task_name>/(?:examples|trainings)/).*<(\w+)>")


def _filled(template: str, ids: dict[str, str]) -> str:
    return re.sub(r"<(\w+)>", lambda found: ids[found[1]], template)


def served() -> set[str]:
    folder = Path(__file__).parents[3] / "functions"
    names = [f"{path.parent.name}.{path.stem}" for path in sorted(folder.glob("*/*api.py"))]
    names.append("rewards.answer_trainers")
    apps = [importlib.import_module(f"functions.{name}").app for name in names]
    return {f"{route.method} {route.path}" for app in apps for route in app.routes}


def test_every_route_is_declared_in_the_table_and_here() -> None:
    declared = {" ".join(line.split(" ")[:2]) for line in EXPECTED}
    assert served() == declared
    assert served() == {f"{method} {path}" for method, path in ROUTES}


def expected(caller: str, line: str, owner: str) -> str:
    if EXPECTED[line] == PUBLIC:
        return "not there"
    if EXPECTED[line] == ANYBODY:
        return "allowed"
    if caller in STRANGERS or EXPECTED[line] == BEARER:
        return "unauthenticated"
    match EXPECTED[line][ROLES.index(caller)], owner:
        case "-", _:
            return "forbidden"
        case ("O", "own" | "organization") | ("o", "own"):
            return "allowed"
        case _:
            return "not there"


def outcome(line: str, owner: str, answer: Answer, made: Prepared) -> str:
    if line in LISTED and answer.status == 200:
        return "allowed" if made.id_of(LISTED[line], owner) in answer.text else "not there"
    if line in FILTERED and answer.status == 200:
        return "allowed" if answer.json[FILTERED[line]] else "not there"
    if answer.status < 300:
        return "allowed"
    if answer.status == 409 and answer.json["code"] == NOT_READY.get(line):
        return "allowed"
    by_status = {401: "unauthenticated", 403: "forbidden", 404: "not there", 422: "not there"}
    return by_status.get(answer.status, answer.text)


def alike(answer: Answer, ids: dict[str, str]) -> tuple[int, dict[str, str], str]:
    """Everything of an answer but the ids that were asked for and the request's own."""
    text = answer.text
    for name, value in ids.items():
        if name not in {"number", "version"}:  # they are the same for all
            text = text.replace(value, name)
    text = re.sub(r"req_[0-9a-v]{26}", "req", text)
    headers = {name: value for name, value in answer.headers.items() if "request-id" not in name}
    return answer.status, headers, text


def owners_of(line: str) -> tuple[str, ...]:
    """Whose things a line can be about: of one that names nothing there is only the caller's."""
    if EXPECTED[line] in {PUBLIC, BEARER, ANYBODY}:
        return ("unknown",)
    names_something = "<" in f"{line}{BODIES.get(line)}{QUERIES.get(line)}" or line in LISTED
    return OWNERS if names_something else ("own",)


@dataclass
class Findings:
    """What a walk through the matrix comes to."""

    made: Prepared
    aws_calls: list[tuple[str, ...]]
    combinations: int = 0
    wrong: list[str] = field(default_factory=list)

    def look(self, caller: Caller, line: str) -> None:
        """Have a caller send the request of a line about everybody's things."""
        caller.call(line, caller.ids(line, "unknown"))  # what is fetched once is fetched by now
        answers = {owner: self._answer(caller, line, owner) for owner in owners_of(line)}
        if "other" not in answers or line in LISTED or line == "GET /api/v1/audit":
            return
        unknown = self._seen(*self._send(caller, line, "unknown"))
        if answers["other"] != unknown:
            self.wrong.append(f"{caller.name}: {line}: other {answers['other']}, unknown {unknown}")
        refused = expected(caller.name, line, "organization") != "allowed"
        if refused and line not in FILTERED and answers["organization"][0] != unknown[0]:
            self.wrong.append(f"{caller.name}: {line}: others' {answers['organization']}")

    def _answer(self, caller: Caller, line: str, owner: str) -> Any:
        answer, ids = self._send(caller, line, owner)
        self.combinations += 1
        got, want = outcome(line, owner, answer, self.made), expected(caller.name, line, owner)
        if got != want:
            self.wrong.append(f"{caller.name}: {line} of {owner}: {got}, expected: {want}")
        return self._seen(answer, ids)

    def _send(self, caller: Caller, line: str, owner: str) -> tuple[Answer, dict[str, str]]:
        ids = caller.ids(line, owner)  # things are made before calls are counted
        self.aws_calls.clear()
        answer = caller.call(line, ids)
        spends = line.startswith("DELETE") or line.endswith("/resolve")
        if spends and answer.status < 300:
            in_deck = _WITHIN.findall(line)  # the deck itself is left
            spent = {name: ids[name] for name in in_deck} or ids
            self.made.spend(spent, owner, used_by="" if in_deck else line)
        return answer, ids

    def _seen(self, answer: Answer, ids: dict[str, str]) -> Any:
        return alike(answer, ids), list(self.aws_calls)


def test_each_role_may_do_what_is_declared_and_strangers_learn_nothing(
    made: Prepared, keys: dict[str, str], aws_calls: list[tuple[str, ...]]
) -> None:
    for parameter in LISTED.values():
        for owner in OWNERS:
            made.id_of(parameter, owner)
    assert boto3.client("s3").list_objects_v2(Bucket="content")["KeyCount"] > 0
    findings = Findings(made, aws_calls)
    for line in EXPECTED:
        for name in (*ROLES, *STRANGERS):
            findings.look(Caller(made, name, keys.get(name)), line)
    print(f"{findings.combinations} combinations of {len(EXPECTED)} lines, 6 callers and 3 owners")
    assert not findings.wrong, "\n".join(findings.wrong)
    assert findings.combinations >= 600


# The lines of an upload are read once it is known who may send them, and each by itself.
@pytest.mark.parametrize(
    "line",
    [
        line
        for line in BODIES
        if "O" in EXPECTED[line] and not line.endswith(("/bulk", "v1/samples", "/examples"))
    ],
)
def test_who_may_not_send_a_body_learns_nothing_of_it(
    made: Prepared, keys: dict[str, str], line: str
) -> None:
    method, template, *_ = line.split(" ")
    path = re.sub(r"<(\w+)>", "none", template)
    for role, column in zip(ROLES, EXPECTED[line], strict=True):
        answer = made.platform.call(method, path, api_key=keys[role], raw=b"{")
        assert answer.json["code"] == ("forbidden" if column == "-" else "invalid_request")
