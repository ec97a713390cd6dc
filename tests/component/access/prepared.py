"""Things of each kind that belong to the caller, to others of its organisation, and to another."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import boto3

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.ledger.calls import Answer
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.ledger import LedgerApiEnvironment
from autotune_platform.runtime.environment.webhooks import WebhookEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.models import Event
from autotune_platform.wiring.grader_admin import GraderAdminParts
from autotune_platform.wiring.ledger_api import LedgerApiParts
from autotune_platform.wiring.publishing import PublisherParts
from tests.support.apprentice import configuration
from tests.support.compatible import BOUNDARY, form
from tests.support.decks import RUBRIC, chat
from tests.support.imports import jsonl, openai_line
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.platform import Platform
from tests.support.reviews import request_review

CALLER = "p-caller"
OWNERS = ("own", "organization", "other")
PRINCIPALS = {"own": CALLER, "organization": "p-else", "other": "p-other"}
ADDRESS = "http://127.0.0.1:1"
_KINDS = {
    "grader_id": "grd",
    "apprentice_run_id": "apr",
    "example_id": "exm",
    "completion_id": "cmp",
    "batch_id": "bat",
    "review_id": "rev",
    "session_id": "ses",
    "link_id": "rvl",
    "reward_url_id": "rwu",
    "webhook_id": "whk",
    "export_id": "exp",
    "connection_id": "llc",
    "llm_request_id": "llm",
    "llm_batch_id": "lbt",
    "llm_import_id": "lim",
    "llm_token_id": "llt",
    "file_id": "llf",
    "openai_batch_id": "lob",
    "deck_id": "dck",
    "deck_grader_id": "grd",
    "sample_id": "smp",
    "deck_run_id": "drn",
    "deck_edit_id": "edt",
    "prompt_edit_id": "ped",
    "unmatched_id": "ump",
    "ingest_url_id": "igu",
}


def _unhurried(platform: Platform, api_key: str) -> None:
    """Let an organisation send as many requests as there are in this matrix."""
    most = {"requestsPerSecond": 10_000, "requestsPerSecondOfKey": 10_000}
    organization_id = platform.me(api_key)["organizationId"]
    event = {"action": "limit", "organizationId": organization_id, "limits": most}
    handler("functions.operations.manage_organizations")(event, None)
    forget_processes()


class Prepared:
    """Makes things when they are asked for, and keeps them until they are spent."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        other = platform.new_organization("second")
        for key in (platform.api_key, other):
            _unhurried(platform, key)
        self._admins = {
            "own": platform.new_key("admin", principal_id=CALLER),
            "organization": platform.new_key("admin", principal_id=PRINCIPALS["organization"]),
            "other": self._create(
                other, "/api/v1/keys", name="a", role="admin", principalId="p-other"
            )["apiKey"],
        }
        self._made: dict[tuple[str, str, str], str] = {}

    def id_of(self, parameter: str, owner: str, *, used_by: str = "") -> str:
        """Return the id that stands for a path parameter; another one for each ``used_by``."""
        if parameter == "token":
            return f"{new_id('rwu')}-{'0' * 64}"
        if parameter == "ingest_token":
            return f"{new_id('igu')}-{'0' * 64}"
        if parameter == "version" or (parameter == "number" and owner == "unknown"):
            return "1"
        if parameter == "task_name" and owner == "unknown":
            return new_id("apt")
        if owner == "unknown":
            return new_id(_KINDS.get(parameter, parameter.removesuffix("_id")))  # type: ignore[arg-type]
        key = (parameter, owner, used_by)
        if key not in self._made:
            make: Callable[[str], str] = getattr(self, f"_new_{parameter.removesuffix('_id')}")
            self._made[key] = make(owner)
        return self._made[key]

    def event_id(self, owner: str) -> str:
        """Return the event that the webhooks of an owner's organisation were told of."""
        return derived_id("evt", "other" if owner == "unknown" else owner)

    def spend(self, ids: dict[str, str], owner: str, *, used_by: str) -> None:
        """Forget what a call deleted."""
        for parameter in ids:
            self._made.pop((parameter, owner, used_by), None)

    def _create(self, api_key: str, path: str, **body: Any) -> Any:
        answer = self.platform.call("POST", path, body, api_key=api_key)
        assert answer.status < 300, answer.text
        return answer.json

    def _new_key(self, owner: str) -> str:
        made = self._create(self._admins[owner], "/api/v1/keys", name="k", role="reviewer")
        return str(made["key"]["id"])

    def _new_session(self, owner: str) -> str:
        return str(self._create(self._admins[owner], "/api/v1/sessions")["session"]["id"])

    def _new_link(self, owner: str) -> str:
        made = self._create(self._admins[owner], "/api/v1/review-links", reviewerId="anna")
        return str(made["link"]["id"])

    def _new_grader(self, owner: str) -> str:
        body = {"name": "g", "endpoint": ADDRESS}
        made = self._create(self._admins[owner], "/api/v1/graders", **body)["grader"]
        graders = GraderAdminParts(Environment.parse()).grader_service
        stored = graders.get_usable(made["id"])
        assert stored is not None
        graders.record_verification(stored.grader, version="1")
        return str(made["id"])

    def _new_task(self, owner: str) -> str:
        body = {"name": "t", "graderId": self.id_of("grader_id", owner)}
        return str(self._create(self._admins[owner], "/api/v1/tasks", **body)["task"]["id"])

    def _new_task_name(self, owner: str) -> str:
        # It has the form of an id, so that none of them has another's name.
        name = new_id("apt")
        path = f"/api/v1/apprentice/tasks/{name}"
        body = configuration(self.id_of("connection_id", owner), model="m")
        answer = self.platform.call("PUT", path, body, api_key=self._admins[owner])
        assert answer.status == 200, answer.text
        self._add_version(answer.json["task"])
        return name

    def _add_version(self, task: dict[str, Any]) -> None:
        version = ModelVersion(
            task_id=task["id"],
            organization_id="org",
            number=1,
            definition_hash=task["definitionHash"],
            backend="vllm",
            model="m",
            digest="d",
            created_at=datetime.now(UTC),
            created_by="p",
        )
        stored = version.model_dump(mode="json", exclude_none=True)
        key = {"pk": task["id"], "sk": "version#000001"}
        table = Table("apprentice", clients.dynamodb())
        table.put({**key, **stored})
        signed = {"version": 1, "text": "{}", "key_id": "k", "signature": "s"}
        table.put({"pk": f"{task['id']}#trainings", "sk": "certificate#000001", **signed})

    def _new_apprentice_run(self, owner: str) -> str:
        path = f"/api/v1/apprentice/tasks/{self.id_of('task_name', owner)}/runs"
        return str(self._create(self._admins[owner], path, input={"text": "t"})["run"]["id"])

    def _new_example(self, owner: str) -> str:
        path = f"/api/v1/apprentice/tasks/{self.id_of('task_name', owner)}/examples"
        made = self._create(
            self._admins[owner], path, input={"text": "t"}, output={"intent": new_id("req")}
        )
        assert made["added"] == 1, made
        listed = self.platform.call("GET", path, api_key=self._admins[owner])
        return str(listed.json["examples"][-1]["id"])

    def _new_number(self, owner: str) -> str:
        path = f"/api/v1/apprentice/tasks/{self.id_of('task_name', owner)}/trainings"
        return str(self._create(self._admins[owner], path)["training"]["number"])

    def _new_deck(self, owner: str) -> str:
        body = {"name": "d", "systemPrompt": "s"}
        return str(self._create(self._admins[owner], "/api/v1/decks", **body)["deck"]["id"])

    def _new_ingest_url(self, owner: str) -> str:
        made = self._create(self._admins[owner], "/api/v1/ingest-urls", name="i")
        return str(made["ingestUrl"]["id"])

    def _new_unmatched(self, owner: str) -> str:
        said = chat("q", output="a", system=f"Prompt {new_id('req')}")
        made = self._create(self._admins[owner], "/api/v1/samples", **said)
        return str(made["unmatched"][0]["unmatchedId"])

    def _new_deck_grader(self, owner: str) -> str:
        path = f"/api/v1/decks/{self.id_of('deck_id', owner)}/graders"
        body = {"name": "g", "rubric": RUBRIC}
        return str(self._create(self._admins[owner], path, **body)["grader"]["id"])

    def _new_sample(self, owner: str) -> str:
        path = f"/api/v1/decks/{self.id_of('deck_id', owner)}/samples"
        body = {"samples": [{"input": "i", "output": "o"}]}
        return str(self._create(self._admins[owner], path, **body)["samples"][0]["id"])

    def _new_deck_edit(self, owner: str) -> str:
        grader_id = self.id_of("deck_grader_id", owner)
        grader = f"/api/v1/decks/{self.id_of('deck_id', owner)}/graders/{grader_id}"
        read = self.platform.call("GET", grader, api_key=self._admins[owner]).json["grader"]
        criteria = read["rubric"]["criteria"]
        patch = [{"field": "criteria", "find": criteria, "replace": f"{criteria} Say so."}]
        return str(self._create(self._admins[owner], f"{grader}/edits", patch=patch)["edit"]["id"])

    def _new_prompt_edit(self, owner: str) -> str:
        deck = f"/api/v1/decks/{self.id_of('deck_id', owner)}"
        model = {"connectionId": self.id_of("connection_id", owner), "model": "m"}
        generator = {**model, "params": {"maxTokens": 9}}
        body = {"systemPrompt": f"Prompt {new_id('req')}", "generator": generator}
        return str(self._create(self._admins[owner], f"{deck}/prompt-edits", **body)["edit"]["id"])

    def _new_deck_run(self, owner: str) -> str:
        deck = f"/api/v1/decks/{self.id_of('deck_id', owner)}"
        admin = self._admins[owner]
        judge = {
            "connectionId": self.id_of("connection_id", owner),
            "model": "m",
            "params": {"maxTokens": 9},
        }
        grader = self._create(admin, f"{deck}/graders", name="j", rubric=RUBRIC, judge=judge)
        # It is tried, as one that is not active may be: on what is not held out.
        body = {"samples": [{"input": f"i{n}", "output": "o"} for n in range(20)]}
        samples = self._create(admin, f"{deck}/samples", **body)["samples"]
        tried = next(one["id"] for one in samples if one["split"] == "development")
        body = {"graderIds": [grader["grader"]["id"]], "sampleIds": [tried]}
        return str(self._create(admin, f"{deck}/runs", **body)["run"]["id"])

    def _new_completion(self, owner: str) -> str:
        body = {
            "taskId": self.id_of("task_id", owner),
            "modelId": "m",
            "prompt": "p" * 9,
            "response": large_text(),
            "metadata": {},
        }
        made = self._create(self._admins[owner], "/api/v1/completions", **body)["completion"]
        return str(made["id"])

    def _new_batch(self, owner: str) -> str:
        path = f"/api/v1/completions/{self._new_completion(owner)}"
        read = self.platform.call("GET", path, api_key=self._admins[owner]).json
        return str(read["completion"]["batchId"])

    def _new_run(self, owner: str) -> str:
        completion_id = self._new_completion(owner)
        self.platform.dispatch(self.platform.queued())
        (run,) = [one for one in self.platform.runs() if completion_id in one["completion_ids"]]
        return str(run["run_id"])

    def _new_review(self, owner: str) -> str:
        return request_review(
            Table("completions", clients.dynamodb()), self._organization_of(owner)
        ).id

    def _new_export(self, owner: str) -> str:
        made = self._create(self._admins[owner], "/api/v1/exports", format="jsonl")
        return str(made["export"]["id"])

    def _new_reward_url(self, owner: str) -> str:
        body = {"name": "r", "taskId": self.id_of("task_id", owner), "modelId": "m"}
        made = self._create(self._admins[owner], "/api/v1/reward-urls", **body)
        return str(made["rewardUrl"]["id"])

    def _new_connection(self, owner: str) -> str:
        prices = {"m": {"inputUsd": "1", "outputUsd": "1"}}
        body = {"name": "c", "provider": "simulated", "baseUrl": ADDRESS, "prices": prices}
        made = self._create(self._admins[owner], "/api/v1/llm-connections", **body)
        return str(made["connection"]["id"])

    def _new_llm_token(self, owner: str) -> str:
        body = {"name": "t", "connectionId": self.id_of("connection_id", owner)}
        made = self._create(self._admins[owner], "/api/v1/llm-tokens", **body)
        return str(made["token"]["id"])

    def new_llm_token(self, owner: str) -> str:
        """Make a token for the connection that is prepared; return what it is sent as."""
        body = {"name": "t", "connectionId": self.id_of("connection_id", owner)}
        made = self._create(self._admins[owner], "/api/v1/llm-tokens", **body)
        return str(made["secret"])

    def _new_file(self, owner: str) -> str:
        headers = {
            "authorization": f"Bearer {self.new_llm_token(owner)}",
            "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        }
        sent = form(jsonl(openai_line()))
        made = self.platform.pass_on("POST", "/v1/files", "", headers, sent)
        return str(made.json["id"])

    def _new_openai_batch(self, owner: str) -> str:
        body = {
            "input_file_id": self._new_file(owner),
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
        }
        headers = {"authorization": f"Bearer {self.new_llm_token(owner)}"}
        sent = json.dumps(body).encode()
        made = self.platform.pass_on("POST", "/v1/batches", "", headers, sent)
        return str(made.json["id"])

    def _new_llm_request(self, owner: str) -> str:
        """Make a request that was answered, so that it can be tried and parsed again."""
        form = {"type": "text"}
        made = self._enqueue(owner, self.id_of("connection_id", owner), verdict=form)
        ledger = LedgerApiParts(LedgerApiEnvironment.parse())
        row, asked = ledger.llm_rows.get(made), ledger.row_texts.input_of(made)
        assert row is not None
        assert ledger.row_ends.answered(row, asked, Answer("VERDICT: a", "stop", None)) is not None
        return made

    def _new_llm_batch(self, owner: str) -> str:
        connection_id = self._new_connection(owner)
        self._enqueue(owner, connection_id, priority="high")
        path = f"/api/v1/llm-connections/{connection_id}"
        changes = {"minRows": 1}
        self.platform.call("PATCH", path, changes, api_key=self._admins[owner])
        event = {"step": {"group": f"group#{connection_id}#calls#m"}, "state_machine_arn": ""}
        left = handler("functions.ledger.work_batch")(event, LambdaContext())
        # As one whose job may have been created: only such a one can be resolved.
        boto3.client("dynamodb").update_item(
            TableName="ledger",
            Key={"pk": {"S": left["batch_id"]}, "sk": {"S": "state"}},
            UpdateExpression="SET phase = :phase, job = :job",
            ExpressionAttributeValues={
                ":phase": {"S": "unknown"},
                ":job": {"M": {"nonce": {"S": "n"}}},
            },
        )
        return str(left["batch_id"])

    def _new_llm_import(self, owner: str) -> str:
        """Make an import whose file is there, so that it can be started."""
        body = {"format": "openai", "bytes": 2, "purpose": "scoring"}
        body |= {"connectionId": self.id_of("connection_id", owner)}
        made = self._create(self._admins[owner], "/api/v1/llm-imports", **body)["import"]
        folder = f"exports/{self._organization_of(owner)}/{made['id']}"
        clients.s3().put_object(Bucket="exports", Key=f"{folder}/upload.jsonl", Body=b"{}")
        return str(made["id"])

    def _enqueue(self, owner: str, connection_id: str, **fields: Any) -> str:
        body = {
            "connectionId": connection_id,
            "purpose": "scoring",
            "model": "m",
            "input": {"user": "q"},
            "params": {"maxTokens": 10},
            **fields,
        }
        made = self._create(self._admins[owner], "/api/v1/llm-requests", **body)
        return str(made["requestIds"][0])

    def _organization_of(self, owner: str) -> str:
        return str(self.platform.me(self._admins[owner])["organizationId"])

    def _new_webhook(self, owner: str) -> str:
        made = self._create(self._admins[owner], "/api/v1/webhooks", url=f"{ADDRESS}/hook")
        event = Event(
            id=self.event_id(owner),
            type="score.completed",
            organization_id=self._organization_of(owner),
            occurred_at=datetime.now(UTC),
            data={},
        )
        PublisherParts(WebhookEnvironment.parse()).publisher.publish([event])
        return str(made["webhook"]["id"])

    def decide_something(self) -> None:
        """Give each owner's task a verdict, so that there is something to be told apart by."""
        for owner in OWNERS:
            path = f"/api/v1/completions/{self._new_completion(owner)}/cancel"
            assert self.platform.call("POST", path, api_key=self._admins[owner]).status == 200


def large_text() -> str:
    """Return a text that packs badly, so that it goes to S3, which takes another call to read."""
    return random.Random(1).randbytes(400_000).hex()
