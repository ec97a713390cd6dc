from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpcore
import pytest

from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.exchanging import ModelServers
from autotune_platform.apprentice.local.sagemaker import EndpointInvocations
from autotune_platform.apprentice.runs import running
from autotune_platform.apprentice.sampling import Draw, is_drawn
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime import clients as aws_clients
from autotune_platform.runtime.sagemaker import SageMakerRuntime
from autotune_platform.storage.table import Table
from tests.support.apprentice import configuration
from tests.support.apprentice_folding import Apprentice
from tests.support.apprentice_runs import Runs
from tests.support.apprentice_runs import runs as make_runs
from tests.support.hostings import Hosted
from tests.support.hostings import hosted as make_hosted
from tests.support.ledger import Ledger
from tests.support.ledger import ledger as make_ledger
from tests.support.local_clients import no_students
from tests.support.model_servers import ModelServer, NoNotes, Vllm, serving
from tests.support.phased_runs import Phased, Small
from tests.support.platform import Platform
from tests.support.versions import configured

LOWEST_RATE = 0.001


@pytest.fixture
def ledger(platform: Platform) -> Iterator[Ledger]:
    with make_ledger(platform) as made:
        yield made


@pytest.fixture
def runs(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    """A task whose runs are checked, or not, at rates above one in a thousand.

    Tests that want none checked have that rate, the lowest that there is, and would meet such a run
    now and then.
    """

    def drawn(draw: Draw, key: bytes, run_id: str, rate: float) -> bool:
        return rate > LOWEST_RATE and is_drawn(draw, key, run_id, rate)

    monkeypatch.setattr(running, "is_drawn", drawn)
    with make_runs(ledger) as made:
        made.put()
        yield made


@pytest.fixture
def document(ledger: Ledger) -> dict[str, Any]:
    """A configuration as it is put."""
    return configuration(ledger.connect())


@pytest.fixture
def connections() -> Iterator[httpcore.ConnectionPool]:
    with connection_pool(admit_private=True) as pool:
        yield pool


@pytest.fixture
def servers(connections: httpcore.ConnectionPool) -> ModelServers:
    return ModelServers(connections)


@pytest.fixture
def clients(servers: ModelServers) -> BackendClients:
    """What asks small models, of any backend but students."""
    return BackendClients(
        servers=servers,
        endpoints=lambda: EndpointInvocations(SageMakerRuntime(servers.send)),
        students=no_students,
        notes=NoNotes(),
    )


@pytest.fixture
def apprentice(platform: Platform, ledger: Ledger) -> Apprentice:
    """A task with a version."""
    made = Apprentice(platform, ledger.connect())
    made.add_version(1)
    return made


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Small:
    """What each version says, whatever serves it."""
    made = Small()
    monkeypatch.setattr(
        BackendClients, "client_for", lambda self, document, served: made.client_for(None, served)
    )
    return made


@pytest.fixture
def phased(runs: Runs, small: Small) -> Phased:
    """A task that a test brings to a later phase."""
    return Phased(runs, small)


@pytest.fixture
def hosted(platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosted]:
    """A task whose versions a local SageMaker hosts."""
    with make_hosted(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def table() -> Table:
    return Table("apprentice", aws_clients.dynamodb())


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server of small models, with OpenAI's API."""
    with serving(Vllm()) as made:
        yield made


@pytest.fixture
def task(platform: Platform, ledger: Ledger, server: ModelServer) -> dict[str, Any]:
    """A task that asks the models of ``server``."""
    return configured(platform, ledger, "vllm", server.url)
