"""Completions that wait for a person, without the grading that comes before."""

from datetime import UTC, datetime, timedelta
from typing import Any

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.completions.models import Batch, Completion, Segment
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.judging.human.models import Preliminary, Review, review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime import clients
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
    **fields: Any,
) -> Review:
    """Store a completion in a batch of its own, and have it reviewed."""
    now = datetime.now(UTC)
    batch_id, task_id = new_id("bat"), new_id("task")
    completion_id = derived_id("cmp", batch_id, "0")
    person = PanelMember(grader_id=new_id("grd"), grader_version="1", weight=1.0)
    panel = Panel.of(
        organization_id, [person], aggregation="mean", quorum=None, review=None, is_human=True
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
                metadata={},
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
