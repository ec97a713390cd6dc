"""Organisations on the stack of the end-to-end tests, and what the demo makes for one."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from autotune import AutotuneClient
from autotune.protocol.access import Role
from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from local.endpoint import isolated_environment
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine


@dataclass(frozen=True)
class Organization:
    """One that has the stack to itself, as far as it can see."""

    profile: LocalProfile

    def client(self, api_key: str | None = None) -> AutotuneClient:
        """Return a client with a key of it, by default the first admin's."""
        key = api_key or self.profile.api_key
        return AutotuneClient(base_url=self.profile.base_url, api_key=key)

    @property
    def link(self) -> str:
        """Of a new session of its admin."""
        return command_line_of(self.profile).run("console", "--print").stdout.split()[-1]

    def answer(self, asked: str) -> Any:
        """Return what the API answers its first admin: a path, with its query after it, or not."""
        path, _, query = asked.partition("?")
        key_id, secret = self.profile.api_key.split(".")
        path = f"/api/v1/{path}"
        signed = sign_api_request(
            key_id=key_id,
            secret=secret,
            method="GET",
            path=path,
            query=query,
            body=b"",
            request_id=new_id("req"),
        )
        url = f"{self.profile.base_url}{path}{query and '?'}{query}"
        answer = httpx.get(url, headers=signed, timeout=60)
        assert answer.status_code == 200, f"{asked}: {answer.text}"
        return answer.json()

    def link_of(self, role: Role) -> str:
        """Of a new session of somebody with a role, to whom belongs what is the first admin's."""
        with self.client() as admin:
            owner = self.answer("keys/me")["key"]["principalId"]
            made = admin.keys.create(name=f"a {role}", role=role, principal_id=owner)
        with self.client(made.api_key) as client:
            return client.sessions.create(name=f"a {role}").url


def command_line_of(profile: LocalProfile) -> CommandLine:
    return CommandLine(
        isolated_environment(
            {
                "AUTOTUNE_BASE_URL": profile.base_url,
                "AUTOTUNE_API_KEY": profile.api_key,
                "AWS_ENDPOINT_URL": profile.aws_endpoint_url,
            }
        )
    )


def founded(profile: LocalProfile, name: str) -> Organization:
    created = command_line_of(profile).read("ops", "create-organization", name)
    own = {"api_key": created["apiKey"], "organization_id": created["organization"]["id"]}
    return Organization(profile.model_copy(update=own))


def ids_of_the_demo(made: Organization) -> dict[str, str]:
    """Return the ids of one of each thing that the demo makes, by their names in addresses."""

    def first(path: str, name: str = "") -> Any:
        return made.answer(path)[name or path.partition("?")[0].rpartition("/")[2]][0]

    today = datetime.now(UTC)
    request = first("llm-requests?purpose=scoring", "requests")
    deck_id = first("decks")["id"]
    (grader, *_) = made.answer(f"decks/{deck_id}/graders")["graders"]
    (read, *_) = made.answer(f"decks/{deck_id}")["deck"]["agreement"]
    task_id = first("tasks")["id"]
    return {
        "today": today.date().isoformat(),
        "month_ago": (today - timedelta(days=29)).date().isoformat(),
        "task_id": task_id,
        "completion_id": first(f"scores?taskId={task_id}")["completionId"],
        "grader_id": first("graders")["id"],
        "batch_id": made.answer("batches")["batches"][-1]["id"],
        "run_id": first("runs")["id"],
        "review_id": first("reviews?state=answered")["id"],
        "export_id": first("exports")["id"],
        "webhook_id": first("webhooks")["id"],
        "request_id": request["id"],
        "llm_batch_id": first("llm-batches", "batches")["id"],
        "connection_id": first("llm-connections", "connections")["id"],
        "deck_id": deck_id,
        "deck_run_id": first(f"decks/{deck_id}/runs")["id"],
        "deck_grader_id": grader["id"],
        "read_version": str(read["version"]),
    }
