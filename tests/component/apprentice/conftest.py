from collections.abc import Iterator

import pytest

from tests.support.ledger import Ledger
from tests.support.ledger import ledger as make_ledger
from tests.support.platform import Platform


@pytest.fixture
def ledger(platform: Platform) -> Iterator[Ledger]:
    with make_ledger(platform) as made:
        yield made
