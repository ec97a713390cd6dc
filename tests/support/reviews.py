"""Completions that wait for a person, without the grading that comes before."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from autotune.protocol.grading import GraderCapabilities
from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.completions.models import Batch, Completion, Segment
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.gateway.models import Grader
from autotune_platform.judging.human.models import Preliminary, Review, review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime import clients
from autotune_platform.storage.registry import entity_item
from autotune_platform.storage.table import Table
from autotune_platform.verdicts.panels import Panel, PanelMember, PanelRecords
from tests.support.lambdas import Answer
from tests.support.platform import Platform


def request_review(
    table: Table,
    organization_id: str,
    *,
    prompt: str = "What is 2 + 2?",
    response: str = "4",
    age: timedelta = timedelta(),
    expires_in: timedelta = timedelta(days=1),
    preliminary: Preliminary | None = None,
    policy: ReviewPolicy | None = None,
    graders: Sequence[str] = (),
    metadata: dict[str, Any] | None = None,
    task_id: str | None = None,
    **fields: Any,
) -> Review:
    """Store a completion in a batch of its own, and have it reviewed."""
    now = datetime.now(UTC)
    batch_id, task_id = new_id("bat"), task_id or new_id("task")
    completion_id = derived_id("cmp", batch_id, "0")
    named = graders or [new_id("grd")]
    members = [PanelMember(grader_id=id_, grader_version="1", weight=1.0) for id_ in named]
    panel = Panel.of(
        organization_id, members, aggregation="mean", quorum=None, review=policy, is_human=True
    )
    PanelRecords(table).keep(panel)
    shared = {"task_id": task_id, "grader_id": panel.id, "grader_version": panel.version}
    completions = CompletionRepository(table=table, bucket="unused", s3=None)  # type: ignore[arg-type]
    completions.add_batch(
        Batch(
            id=batch_id,
            organization_id=organization_id,
            fingerprint="",
            status="accepted",
            priority="normal",
            segments=[Segment(**shared, share_identity=False, count=1)],
            estimated_score_time_ms=0,
            created_at=now,
            attempted_at=now,
        )
    )
    completions.add_all(
        [
            Completion(
                id=completion_id,
                organization_id=organization_id,
                batch_id=batch_id,
                model_id="m",
                share_identity=False,
                created_at=now,
                prompt=prompt,
                response=response,
                metadata=metadata or {},
                **shared,
            )
        ]
    )
    return ReviewRecords(table).request(
        Review(
            id=review_id(completion_id, panel.id),
            organization_id=organization_id,
            completion_id=completion_id,
            batch_id=batch_id,
            task_id=task_id,
            panel_id=panel.id,
            preliminary=preliminary,
            created_at=now - age,
            expires_at=now + expires_in,
            **{"reason": "low_confidence", **fields},
        )
    )


def rubric_grader(
    platform: Platform,
    *,
    system: str = "",
    levels: dict[str, Any] | None = None,
    api_key: str | None = None,
) -> str:
    """Store a public rubric grader without the connection that registering one asks for.

    With ``levels`` it is a rubric of levels, which has no prompt of its own.
    """
    prompt = {
        "system": system,
        "user": "{{ item.prompt }} {{ sample.output_text }}",
        "answer": {"type": "score", "minimum": 1, "maximum": 5},
    }
    me = platform.me(api_key=api_key) if api_key else platform.me()
    now = datetime.now(UTC)
    grader = Grader(
        id=new_id("grd"),
        organization_id=me["organizationId"],
        principal_id=me["principalId"],
        name="clear",
        kind="rubric",
        description="",
        rubric={
            "connectionId": "llc_" + "0" * 26,
            "model": "judge-1",
            **(prompt if levels is None else {"answer": levels}),
            "params": {"maxTokens": 100},
        },
        capabilities=GraderCapabilities(),
        visibility="public",
        share_reasoning=False,
        status="active",
        version="1",
        created_at=now,
        updated_at=now,
    )
    item = entity_item(grader, pk=grader.id, in_collection="x")
    Table("registry", clients.dynamodb()).put_new(item)
    return grader.id


class Reviewing:
    """Reviews of the platform's first organisation, and the calls that are made of them."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.organization_id = platform.me()["organizationId"]
        self.anna = platform.new_key("reviewer", principal_id="anna")
        self.ben = platform.new_key("reviewer", principal_id="ben")

    def request(self, minutes_old: float = 0, **fields: Any) -> str:
        """Have a new completion reviewed; return the review's id."""
        return request_review(
            Table("completions", clients.dynamodb()),
            self.organization_id,
            age=timedelta(minutes=minutes_old),
            **fields,
        ).id

    def post(self, review_id: str, action: str, body: Any = None, **options: Any) -> Answer:
        return self.platform.call("POST", f"/api/v1/reviews/{review_id}/{action}", body, **options)

    def answer(self, review_id: str, value: float = 0.5, **options: Any) -> Answer:
        return self.post(review_id, "answer", {"value": value, "explanation": "why"}, **options)

    def next(self, *, skip: tuple[str, ...] = (), **options: Any) -> Answer:
        return self.platform.call("POST", "/api/v1/reviews/next", {"skip": list(skip)}, **options)

    def next_id(self, **options: Any) -> str | None:
        review = self.next(**options).json["review"]
        return review["id"] if review else None

    def read(self, review_id: str, **options: Any) -> Any:
        answer = self.platform.call("GET", f"/api/v1/reviews/{review_id}", **options)
        assert answer.status == 200, answer.text
        return answer.json["review"]

    def cannot_judge(self, review_id: str, reason: str = "unclear", **options: Any) -> Answer:
        return self.post(review_id, "cannot-judge", {"reason": reason}, **options)

    def verdict(self, review_id: str) -> Any:
        """The verdict of the completion that a review is about."""
        completion_id = self.read(review_id)["completionId"]
        path = f"/api/v1/completions/{completion_id}/score"
        return self.platform.call("GET", path).json["verdict"]

    def progress(self, **options: Any) -> dict[str, Any]:
        """What each reviewer did, by name."""
        answer = self.platform.call("GET", "/api/v1/reviews/progress", **options)
        assert answer.status == 200, answer.text
        return {one["reviewerId"]: one for one in answer.json["reviewers"]}

    def agreement(self, **query: Any) -> Any:
        answer = self.platform.call("GET", "/api/v1/reviews/agreement", query=query)
        assert answer.status == 200, answer.text
        return answer.json["agreement"]

    def link(self, reviewer_id: str = "cleo", **fields: Any) -> Any:
        body = {"reviewerId": reviewer_id, **fields}
        answer = self.platform.call("POST", "/api/v1/review-links", body)
        assert answer.status == 201, answer.text
        return {**answer.json["link"], "url": answer.json["url"]}

    def bearer(self, url: str, *, session: str | None = None) -> dict[str, Any]:
        """The options of a call that is made with a link instead of a key."""
        token = url.partition("#")[2]
        headers = {"x-autotune-session": session} if session else {}
        return {"signed": {"authorization": f"Bearer {token}", **headers}}
