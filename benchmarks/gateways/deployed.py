"""What all gateways of ours share: organisations of a local stack, and workers of functions."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

import psutil

from autotune import AutotuneClient
from benchmarks.gateways.gateway import MODEL, PRICES
from benchmarks.stand import Stand
from local.endpoint import lambda_client
from local.first_organization import create_organization

CONCURRENCY = 64
_CREATE = "CreateOrganization"
_WORKER = "ministack-lambda-"


@dataclass(frozen=True)
class Deployed:
    """A whole local stack before a provider.

    The emulator is none of a gateway's processes: it stands for AWS, as a database would for
    LiteLLM's.
    """

    stand: Stand
    provider_url: str
    numbers: "count[int]" = field(default_factory=count)

    def new_organization(self) -> tuple[str, str]:
        """Create an organisation; return its id and the credential of its first key."""
        endpoint = self.stand.profile.aws_endpoint_url
        pages = lambda_client(endpoint).get_paginator("list_functions").paginate()
        names = [one["FunctionName"] for page in pages for one in page["Functions"]]
        created = create_organization(
            endpoint=endpoint,
            function_name=next(name for name in names if _CREATE in name),
            name=f"bench {next(self.numbers)}",
        )
        return created.organization.id, created.api_key

    def client(self, api_key: str) -> AutotuneClient:
        """Return a client with a key."""
        return AutotuneClient(base_url=self.stand.base_url, api_key=api_key)

    def connect(self, client: AutotuneClient) -> str:
        """Connect an organisation to the provider; return the connection's id."""
        prices = {
            f"{name}Usd": str(PRICES[of])
            for name, of in (("input", "input"), ("cachedInput", "cached"), ("output", "output"))
        }
        return client.llm.connections.create(
            name="fake",
            provider="openai",
            base_url=f"{self.provider_url}/v1",
            api_key="fake-key",
            concurrency=CONCURRENCY,
            prices={MODEL: prices},
        ).id

    def cpu_seconds(self, functions: frozenset[str]) -> Mapping[int, float]:
        """Return user and system time of the workers of functions, by their service names."""
        found = {}
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if self._service_of(process) in functions:
                    found[process.pid] = sum(process.cpu_times()[:2])
        return found

    def _service_of(self, process: psutil.Process) -> str | None:
        line = " ".join(process.cmdline())
        if str(self.stand.directory) not in line or _WORKER not in line:
            return None
        return process.environ().get("POWERTOOLS_SERVICE_NAME")
