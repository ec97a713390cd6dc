"""What each handler reads of its environment is what its function is given: no more, no less."""

import importlib
import inspect
import os
from contextlib import suppress
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import pytest
from moto import mock_aws

from autotune_platform.runtime.environment.base import Environment
from tests.support.lambdas import LambdaContext, forget_processes

# Read by Powertools' logger and by pydantic, in all functions.
LIBRARIES = {
    "JOBLIB_MULTIPROCESSING",
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_SERVICE_NAME",
    "PYDANTIC_DISABLE_PLUGINS",
    "TOKENIZERS_PARALLELISM",
}
ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
}
UNSIGNED = {
    "version": "2.0",
    "rawPath": "/nowhere",
    "rawQueryString": "",
    "headers": {},
    "requestContext": {
        "stage": "$default",
        "http": {"method": "GET", "path": "/nowhere", "sourceIp": "192.0.2.7"},
    },
}


def variables_of(function: dict[str, Any]) -> dict[str, str]:
    """Return a function's variables; one that names a resource has some text as its value."""
    return {
        name: value if isinstance(value, str) else "https://example.com/resource"
        for name, value in function["Environment"]["Variables"].items()
    }


def exercise(module: ModuleType) -> None:
    """Have a handler make everything that it is made of; what it then does fails without tables."""
    for member in vars(module).values():
        if hasattr(member, "cache_clear") and member.__module__ == module.__name__:
            with suppress(Exception):
                member()
    app = getattr(module, "app", None)
    for route in app.routes if app else ():
        with suppress(Exception):
            route.func(**dict.fromkeys(inspect.signature(route.func).parameters, MagicMock()))
    with suppress(Exception):
        module.lambda_handler(UNSIGNED if app else MagicMock(), LambdaContext())


@pytest.fixture(scope="module")
def given(aws) -> dict[str, set[str]]:
    """Variables of each function in the template."""
    return {
        name: {
            variable
            for variable in set(variables_of(each)) - LIBRARIES
            # Told where the permission is given, which test_permissions.py spells out.
            if not variable.startswith("SECRETS_KEY_")
        }
        for name, each in aws.functions().items()
    }


@pytest.fixture(scope="module")
def read(aws) -> dict[str, set[str]]:
    """Variables of each function that its handler reads, wherever that is done."""
    found: dict[str, set[str]] = {}
    parse = Environment.parse.__func__
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name, function in aws.functions().items():
            parsed: set[type[Environment]] = set()

            def record(cls: type[Environment], parsed: Any = parsed) -> Environment:
                parsed.add(cls)
                return parse(cls)

            patch.setattr(Environment, "parse", classmethod(record))
            patch.setattr(os, "environ", {**os.environ, **ACCOUNT, **variables_of(function)})
            forget_processes()
            exercise(importlib.import_module(function["Handler"].rpartition(".")[0]))
            patch.undo()
            fields = {field for model in parsed for field in model.model_fields}
            found[name] = {field.upper() for field in fields - {"secrets_keys"}}
        forget_processes()
    return found


def test_a_function_is_given_every_variable_that_it_reads(given, read):
    missing = {name: read[name] - given[name] for name in given}
    assert not any(missing.values()), missing


def test_a_function_reads_every_variable_that_it_is_given(given, read):
    unread = {name: given[name] - read[name] for name in given}
    assert not any(unread.values()), unread
