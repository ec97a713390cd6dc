"""A misspelt query parameter is named by every route of the ledger that has some, or lists."""

import importlib
import re
from pathlib import Path

import pytest
from aws_lambda_powertools.event_handler.api_gateway import Route

from tests.support.platform import Platform

FUNCTIONS = Path(__file__).parents[3] / "functions" / "ledger"


def routes() -> list[Route]:
    """The routes that read, of all functions of the ledger that have routes."""
    modules = [
        importlib.import_module(f"functions.ledger.{one.stem}") for one in FUNCTIONS.glob("*api.py")
    ]
    return [
        route
        for module in modules
        for route in module.app.routes
        if route.method == "GET"
        and (route.func.__name__.startswith("list_") or route.dependant.query_params)
    ]


def test_the_routes_are_those_that_list_or_wait() -> None:
    assert len(routes()) >= 9


@pytest.mark.parametrize("route", routes(), ids=lambda one: one.func.__name__)
def test_a_parameter_that_is_none_is_refused_by_name(platform: Platform, route: Route) -> None:
    path = re.sub("<.*?>", "id_none", route.path)
    answer = platform.call("GET", path, query={"limits": "5"})
    assert (answer.status, list(answer.fields)) == (422, ["limits"])
