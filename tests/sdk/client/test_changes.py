"""What an update sends of arguments that are left out, None or values, in both flavours."""

import pytest

from autotune import InvalidInputError, NotGiven, not_given
from tests.sdk.client.recorder import serve_recorder, use_asyncio, use_blocking

both_flavours = pytest.mark.parametrize("use", [use_blocking, use_asyncio])


@pytest.fixture
def recorder():
    with serve_recorder() as running:
        yield running


@both_flavours
def test_an_argument_that_is_left_out_is_not_sent(recorder, use):
    use(recorder.base_url, lambda client: client.tasks.update("task_1", name="m"))
    use(recorder.base_url, lambda client: client.tasks.update("task_1", name=not_given))
    assert recorder.bodies == [{"name": "m"}, {}]


@both_flavours
@pytest.mark.parametrize("field", ["deadline_seconds", "quorum", "retention_days", "review"])
def test_none_clears_a_field_of_a_task_as_null(recorder, use, field):
    use(recorder.base_url, lambda client: client.tasks.update("task_1", **{field: None}))
    head, *rest = field.split("_")
    assert recorder.bodies == [{head + "".join(map(str.capitalize, rest)): None}]


@both_flavours
def test_none_for_a_field_that_cannot_be_cleared_is_refused_by_name(recorder, use):
    for update in (
        lambda client: client.tasks.update("task_1", name=None),
        lambda client: client.graders.update("grd_1", name=None),
        lambda client: client.webhooks.update("whk_1", url=None),
    ):
        with pytest.raises(InvalidInputError, match=r"(name|url): a value, not None"):
            use(recorder.base_url, update)
    assert recorder.bodies == []


def test_a_value_and_a_cleared_field_go_together(recorder):
    use_blocking(
        recorder.base_url,
        lambda client: client.tasks.update("task_1", name="m", review=None, quorum=None),
    )
    assert recorder.bodies == [{"name": "m", "quorum": None, "review": None}]


def test_not_given_is_falsy_and_shows_as_its_name():
    assert not not_given
    assert repr(not_given) == "not_given"
    assert isinstance(not_given, NotGiven)
