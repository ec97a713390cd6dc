"""How long a base tries types of instances, and what it is given up for."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.apprentice.hosting.lacking import (
    error_of,
    has_had_its_day,
    has_no_type,
    offered,
    without,
)
from autotune_platform.apprentice.hosting.models import Hosting

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
FIRST, SECOND, THIRD = "ml.g5.xlarge", "ml.g5.2xlarge", "ml.g6.xlarge"


def base(*types):
    return Hosting(
        name="base",
        kind="base",
        task_id="apt_1",
        artifact="s3://models/base/",
        instance_type=types[0],
        instance_types=types,
        idle_minutes=30,
        since=NOW,
        due_at=NOW,
    )


def lacking(hosting, lack, at):
    return hosting.model_copy(update={"lacking": without(hosting, lack, at)})


@pytest.mark.parametrize(("hours", "is_over"), [(25, False), (27, False), (29, True)])
def test_a_list_that_is_put_again_and_again_gives_a_base_no_more_than_28_hours(hours, is_over):
    tried = lacking(base(FIRST), "capacity", NOW)
    at = NOW + timedelta(hours=hours)
    tried = lacking(tried, "capacity", at)
    assert has_had_its_day(tried, at)
    # Its task has another type at this very moment, which is to be tried at once.
    found = offered(tried, (FIRST, THIRD), at)
    assert found.lacking.not_before == at
    assert has_had_its_day(found, at) == is_over
    assert error_of(found) == "no_capacity"


def test_types_that_are_all_new_are_no_reason_to_say_that_they_are_refused():
    tried = lacking(base(FIRST), "refused", NOW)
    assert (has_no_type(tried), error_of(tried)) == (True, "refused")
    found = offered(tried, (SECOND, THIRD), NOW + timedelta(hours=29))
    assert has_had_its_day(found, NOW + timedelta(hours=29))
    assert (has_no_type(found), error_of(found)) == (False, "no_capacity")


def test_a_base_whose_other_types_are_taken_out_has_none_left():
    tried = lacking(base(FIRST, SECOND), "refused", NOW)
    assert not has_had_its_day(tried, NOW)
    tried = tried.model_copy(update={"instance_type": SECOND})
    tried = lacking(tried, "capacity", NOW)
    assert not has_had_its_day(tried, NOW)
    found = offered(tried, (FIRST,), NOW)
    assert has_had_its_day(found, NOW)
    assert error_of(found) == "refused"
