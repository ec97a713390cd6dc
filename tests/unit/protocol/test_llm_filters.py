"""Filters of requests to language models: the same ones everywhere."""

from dataclasses import fields
from inspect import signature

import pytest
from pydantic import ValidationError

from autotune.cli import llm_filters as cli
from autotune.client.llm_batches import list_batches
from autotune.client.llm_filters import RequestFilters
from autotune.protocol.exports import LlmRequestsOptions
from autotune.protocol.llm_filters import LlmBatchFilter, LlmRequestFilter
from functions.ledger import api, batches_api

FILTERS = set(LlmRequestFilter.model_fields)


def test_a_list_over_http_has_all_of_them():
    (route,) = [one for one in api.app.routes if one.func.__name__ == "list_requests"]
    spelled = {one.alias for one in route.dependant.query_params} - {"limit", "nextToken"}
    assert spelled == {one.alias for one in LlmRequestFilter.model_fields.values()}


def test_clients_and_the_command_line_have_all_of_them():
    call = {"timeout", "extra_headers"}
    assert set(RequestFilters.__annotations__) - call == FILTERS
    options = {one.name for one in fields(cli.RequestFilterOptions)}
    assert {cli._NAMES.get(name, name) for name in options} == FILTERS


def test_an_export_has_all_of_them_and_statuses_that_are_for_good():
    assert set(LlmRequestsOptions.model_fields) == {*FILTERS, "layout"}
    assert LlmRequestsOptions(status="error", deck_id="d").deck_id == "d"
    with pytest.raises(ValidationError, match="completed, error or canceled"):
        LlmRequestsOptions(status="queued")


def test_batches_have_the_same_filters_everywhere():
    filters = set(LlmBatchFilter.model_fields)
    (route,) = [one for one in batches_api.app.routes if one.func.__name__ == "list_llm_batches"]
    spelled = {one.alias for one in route.dependant.query_params} - {"limit", "nextToken"}
    assert spelled == {one.alias for one in LlmBatchFilter.model_fields.values()}
    options = {one.name for one in fields(cli.BatchFilterOptions)}
    assert {cli._NAMES.get(name, name) for name in options} == filters
    arguments = set(signature(list_batches).parameters) - {"page_size", "options"}
    assert arguments == filters
