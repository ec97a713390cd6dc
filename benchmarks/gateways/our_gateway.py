"""Our chat completions, passed through to a connection, on a whole local stack."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count

import psutil

from autotune import AutotuneClient
from benchmarks.gateways.gateway import MODEL, OURS, PRICES, Door
from benchmarks.stand import Stand
from local.endpoint import lambda_client
from local.first_organization import create_organization

CONCURRENCY = 64
_CREATE = "CreateOrganization"
_WORKER = "ministack-lambda-"


@dataclass(frozen=True)
class OurGateway:
    """What is deployed; its processes are the workers of its functions.

    The emulator is none of them: it stands for AWS, as a database would for LiteLLM's.

    Args:
        functions: whose workers are its own, by their service names.
    """

    stand: Stand
    provider_url: str
    name: str = f"{OURS}, passed through"
    functions: frozenset[str] = frozenset({"ChatApi"})
    numbers: "count[int]" = field(default_factory=count)

    def door(self, limit_usd: Decimal | None = None) -> Door:
        """Return a door of an organisation of its own, with the limit as its budget of the day."""
        with self._organization() as client:
            if limit_usd is not None:
                client.llm.set_budget(day_usd=limit_usd)
            connection = client.llm.connections.create(
                name="fake",
                provider="openai",
                base_url=f"{self.provider_url}/v1",
                api_key="fake-key",
                concurrency=CONCURRENCY,
                prices={
                    MODEL: {
                        "inputUsd": str(PRICES["input"]),
                        "cachedInputUsd": str(PRICES["cached"]),
                        "outputUsd": str(PRICES["output"]),
                    }
                },
            )
            token = client.llm.tokens.create(name="bench", connection_id=connection.id)
        return Door(
            f"{self.stand.base_url}/v1/chat/completions",
            token.secret,
            {"model": f"{connection.id}/{MODEL}"},
        )

    def cpu_seconds(self) -> Mapping[int, float]:
        """Return user and system time of its functions' workers."""
        found = {}
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if self._is_own(process):
                    found[process.pid] = sum(process.cpu_times()[:2])
        return found

    def _is_own(self, process: psutil.Process) -> bool:
        line = " ".join(process.cmdline())
        if str(self.stand.directory) not in line or _WORKER not in line:
            return False
        return process.environ().get("POWERTOOLS_SERVICE_NAME") in self.functions

    def _organization(self) -> AutotuneClient:
        endpoint = self.stand.profile.aws_endpoint_url
        pages = lambda_client(endpoint).get_paginator("list_functions").paginate()
        names = [one["FunctionName"] for page in pages for one in page["Functions"]]
        created = create_organization(
            endpoint=endpoint,
            function_name=next(name for name in names if _CREATE in name),
            name=f"bench {next(self.numbers)}",
        )
        return AutotuneClient(base_url=self.stand.base_url, api_key=created.api_key)
