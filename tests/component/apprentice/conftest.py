from collections.abc import Iterator

import pytest

from tests.support.apprentice_runs import Runs
from tests.support.apprentice_runs import runs as make_runs
from tests.support.ledger import Ledger
from tests.support.ledger import ledger as make_ledger
from tests.support.platform import Platform


@pytest.fixture
def ledger(platform: Platform) -> Iterator[Ledger]:
    with make_ledger(platform) as made:
        yield made


@pytest.fixture
def runs(ledger: Ledger) -> Iterator[Runs]:
    with make_runs(ledger) as made:
        made.put()
        yield made
