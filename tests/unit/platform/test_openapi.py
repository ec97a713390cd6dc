"""The OpenAPI document is valid and tells what the routes are."""

import json

from openapi_spec_validator import validate

from tools.openapi import DOCUMENT, document


def test_the_document_is_current() -> None:
    assert json.loads(DOCUMENT.read_text()) == json.loads(json.dumps(document())), "make openapi"


def test_the_document_is_valid() -> None:
    validate(document())


def test_every_route_says_what_it_does_and_how_it_fails() -> None:
    operations = [one for methods in document()["paths"].values() for one in methods.values()]
    assert len(operations) >= 22
    assert len({one["operationId"] for one in operations}) == len(operations)
    for one in operations:
        assert one["summary"].endswith((".", "…")), one["operationId"]
        assert "application/problem+json" in one["responses"]["default"]["content"]
