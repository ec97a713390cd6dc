"""A provider's key goes to KMS and to the provider: no other service of AWS is ever sent it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from botocore.client import BaseClient

from tests.component.ledger.test_jobs import MODELS, connect
from tests.support.ledger import Ledger, later
from tests.support.traces import leaks, text_of


@contextmanager
def requests_to_aws() -> Iterator[list[tuple[str, str]]]:
    """Provide every request that is made of AWS: its service and operation, and all its text."""
    made: list[tuple[str, str]] = []
    original = BaseClient._make_api_call

    def make_api_call(self: Any, operation: str, parameters: Any) -> Any:
        assert not hasattr(parameters.get("Body"), "read"), "it can be read once only"
        made.append((f"{self.meta.service_model.service_name} {operation}", text_of(parameters)))
        return original(self, operation, parameters)

    with patch.object(BaseClient, "_make_api_call", make_api_call):
        yield made


@pytest.mark.parametrize("provider", ["openai", "simulated"])
def test_only_kms_is_sent_a_key(ledger: Ledger, provider: str) -> None:
    first, refused, second = (f"sk-{secrets.token_hex(30)}" for _ in range(3))
    for dialect in ("*", "compatible"):
        ledger.fake.world.keys[dialect] = {first: "main", second: "main"}
    model = MODELS.get(provider, "small")
    with requests_to_aws() as sent:
        if provider == "simulated":
            connection = ledger.connect(apiKey=first)
        else:
            connection = connect(ledger, provider, apiKey=first)
        path = f"/api/v1/llm-connections/{connection}"
        ids = ledger.enqueue(connection, "a", "b", model=model)
        ledger.run_jobs()
        assert {ledger.read(one)["status"] for one in ids} == {"completed"}
        # Refused, so that the connection is paused and its requests wait for the next key.
        ledger.platform.call("PATCH", path, {"apiKey": refused})
        ids = ledger.enqueue(connection, "c", "d", model=model)
        with later(timedelta(seconds=ledger.passed)):
            ledger.sweep()
            for state in ledger.started():
                ledger.finish(ledger.step(state))
        assert ledger.platform.call("GET", path).json["connection"]["status"] == "paused"
        ledger.platform.call("PATCH", path, {"apiKey": second})
        ledger.run_jobs()
        assert {ledger.read(one)["status"] for one in ids} == {"completed"}
        verified = ledger.platform.call("POST", f"{path}/verify", {"model": model}).json
        assert verified["works"], verified
        ledger.platform.call("DELETE", path)
    asked = {"dynamodb", "kms", "stepfunctions", *(["s3"] if provider in MODELS else [])}
    assert {service.split()[0] for service, _ in sent} >= asked
    for key in (first, refused, second):
        assert leaks(sent, [key]) == {"kms Encrypt"}
