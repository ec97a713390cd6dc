"""A paid model, and a tiny base that is trained here."""

import json
import os
from pathlib import Path

import pytest
import torch

from autotune import AutotuneClient
from integrations.lora.operating import Operator
from integrations.lora.tasks import BASE, PAID, POISONED, SYSTEM, USER, taught
from integrations.lora.tiny_base import write_base
from tests.providers.answers import Reply
from tests.providers.server import serve


@pytest.fixture(scope="session")
def operator():
    """Whoever deployed the stack."""
    endpoint, folder = os.environ["INTEGRATIONS_AWS_ENDPOINT"], os.environ["INTEGRATIONS_STACK"]
    return Operator(endpoint=endpoint, folder=Path(folder))


@pytest.fixture(scope="session")
def base(operator, tmp_path_factory):
    """The name of a base model that the operator has stored."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("base")
    write_base(folder, system=SYSTEM, user=USER)
    operator.upload_base(folder, BASE)
    return BASE


@pytest.fixture(scope="session")
def provider():
    """Paid models: one answers with the verb of an input, one with any."""
    with serve() as fake:
        for model in (PAID, POISONED):
            fake.world.prices.add("compatible", model, (0.1, 0.1, 0.4))
        fake.world.keys["compatible"] = {"fake-key": "main"}
        fake.world.answers.answerer = _answered
        yield fake


@pytest.fixture(scope="session")
def teacher(provider):
    """Its connection."""
    with AutotuneClient() as client:
        yield client.llm.connections.create(
            name="teacher",
            provider="simulated",
            base_url=f"{provider.base_url}/served/v1",
            api_key="fake-key",
            prices={model: {"input_usd": "0.1", "output_usd": "0.4"} for model in (PAID, POISONED)},
        )


def _answered(ask):
    text = ask.texts[-1].split("? ", 1)[1]
    return Reply(json.dumps(taught(text, model=ask.model)), has_token=False)
