"""A filter that a caller may name reaches the index: none is accepted and ignored."""

from datetime import UTC, datetime
from typing import Any

import pytest

from autotune.client.calls import CallOptions
from autotune.client.filters import FilterOptions
from autotune.protocol.scores import ScoreFilters as WireScoreFilters
from autotune_platform.http.parameters import _SCORE_FILTERS
from autotune_platform.verdicts.filters import ScoreFilters

VALUES: dict[str, Any] = {
    "task_id": "task_1",
    "model_id": "model",
    "grader_id": "grd_1",
    "min_score": 0.25,
    "max_score": 0.75,
    "start_date": datetime(2026, 11, 1, tzinfo=UTC),
    "end_date": datetime(2026, 11, 2, tzinfo=UTC),
}


def test_every_filter_of_the_protocol_has_a_value_here() -> None:
    assert VALUES.keys() == WireScoreFilters.model_fields.keys()


@pytest.mark.parametrize("name", WireScoreFilters.model_fields)
def test_a_filter_of_the_protocol_is_a_filter_of_the_index(name: str) -> None:
    wire = WireScoreFilters.model_construct(
        **{**dict.fromkeys(WireScoreFilters.model_fields), name: VALUES[name]}
    )
    filters = ScoreFilters.of(wire)
    assert filters != ScoreFilters()
    assert VALUES[name] in filters.model_dump().values()


def test_a_filter_of_the_protocol_is_a_query_parameter_and_an_argument_of_the_client() -> None:
    aliases = {field.alias for field in WireScoreFilters.model_fields.values()}
    assert aliases == _SCORE_FILTERS.keys()
    own = FilterOptions.__annotations__.keys() - CallOptions.__annotations__.keys()
    assert own == WireScoreFilters.model_fields.keys()
