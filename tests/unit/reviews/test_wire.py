"""That a review always fits into a response of Lambda."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.access.models import Caller
from autotune_platform.completions.models import Completion
from autotune_platform.judging.human.models import Review
from autotune_platform.reviews.wire import review_on_wire

NOW = datetime.now(UTC)
REVIEW = Review(
    id="rev_1",
    organization_id="org_1",
    completion_id="cmp_1",
    batch_id="bat_1",
    task_id="task_1",
    panel_id="pan_1",
    reason="human",
    created_at=NOW,
    expires_at=NOW + timedelta(days=1),
)


def shown(prompt, response="r"):
    completion = Completion(
        id="cmp_1",
        organization_id="org_1",
        batch_id="bat_1",
        task_id="task_1",
        model_id="m",
        grader_id="pan_1",
        grader_version="1",
        share_identity=False,
        created_at=NOW,
        prompt=prompt,
        response=response,
        metadata={},
    )
    caller = Caller(
        key_id="key_1",
        organization_id="org_1",
        principal_id="anna",
        role="reviewer",
        request_id="req_1",
    )
    return review_on_wire(
        REVIEW,
        completion,
        caller,
        policy=ReviewPolicy(),
        rubrics=[],
        with_preliminary=False,
        as_html=True,
    )


@pytest.mark.parametrize("unit", ["x", '"', "\n", "\\", "\u0001", "\N{GRINNING FACE}"])
@pytest.mark.parametrize("size", [50_000, 300_000, 4_900_000])
def test_a_review_fits_into_a_response_however_its_text_is_encoded(unit, size):
    review = shown(unit * (size // len(unit.encode())))
    body = review.model_dump_json(by_alias=True)
    assert len(json.dumps({"body": body}, ensure_ascii=False).encode()) < 6_000_000
    assert review.text_too_large == (review.prompt is None)
    assert review.text_too_large == (review.response is None)


def test_text_is_left_out_only_where_it_has_to_be():
    assert shown("x" * 4_900_000).prompt == "x" * 4_900_000
    assert not shown("\n" * 50_000, "**b**").text_too_large
    assert shown("x", "**b**").response_html == "<p><strong>b</strong></p>\n"
    assert shown("\n" * 2_000_000).text_too_large
