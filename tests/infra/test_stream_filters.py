"""Each stream delivers to a function what the function's router hands on, and nothing else."""

import json

import pytest

from autotune_platform.runtime.environment.apprentice_runs import FoldingEnvironment
from autotune_platform.runtime.environment.projections import ProjectionEnvironment
from autotune_platform.runtime.environment.reviews import ChangesEnvironment
from autotune_platform.runtime.environment.webhooks import EventEnvironment
from autotune_platform.wiring.apprentice_folding import FoldingParts
from autotune_platform.wiring.changes import ChangesParts
from autotune_platform.wiring.projections import ProjectionParts
from autotune_platform.wiring.publishing import EventParts

# Routers make nothing until they are handed a change, so that no variable is read.
ROUTERS = {
    "ProjectVerdicts": ProjectionParts(ProjectionEnvironment.model_construct()).verdict_router,
    "FollowChanges": ChangesParts(ChangesEnvironment.model_construct()).change_router,
    "FollowRuns": FoldingParts(FoldingEnvironment.model_construct()).run_router,
    "PublishEvents": EventParts(EventEnvironment.model_construct()).event_router,
}


@pytest.fixture(scope="module")
def patterns(aws):
    """What is delivered of a stream, by the function that follows it."""
    mappings = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Lambda::EventSourceMapping").values()
        if each["Properties"].get("StartingPosition")
    ]
    found = {}
    for mapping in mappings:
        function = aws.function_name({"Fn::GetAtt": [mapping["FunctionName"]["Ref"]]})
        filters = [json.loads(one["Pattern"]) for one in mapping["FilterCriteria"]["Filters"]]
        assert found.setdefault(function, filters) == filters, "it is one router for all tables"
    return found


def test_every_function_that_follows_a_stream_has_a_router(patterns):
    assert patterns.keys() == ROUTERS.keys()


@pytest.mark.parametrize("function", ROUTERS)
def test_a_stream_delivers_what_the_router_hands_on(patterns, function):
    expected = [
        {
            "eventName": [kind.event],
            "dynamodb": {
                "Keys": {"sk": {"S": [{"prefix": kind.prefix}]}},
                **_image_of(kind),
            },
        }
        for kind in ROUTERS[function].kinds
    ]
    assert sorted(map(json.dumps, patterns[function])) == sorted(map(json.dumps, expected))


def _image_of(kind):
    if kind.marked:
        return {"NewImage": {kind.marked: {"BOOL": [True]}}}
    if kind.among:
        name, values = kind.among
        return {"NewImage": {name: {"S": list(values)}}}
    return {}
