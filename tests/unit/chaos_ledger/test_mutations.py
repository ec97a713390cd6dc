"""The guards that chaos of the ledger is tried without are where its mutations look for them."""

from pathlib import Path

import pytest

from tests.chaos.mutations import ROOT, Mutation, mutate
from tests.chaos_ledger.mutations import MUTATIONS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_a_guard_is_there_once_and_can_be_taken_out(mutation: Mutation, tmp_path: Path) -> None:
    copy = tmp_path / mutation.file
    copy.parent.mkdir(parents=True)
    copy.write_text((ROOT / mutation.file).read_text())
    mutate(tmp_path, mutation)
    assert mutation.instead in copy.read_text()
    compile(copy.read_text(), mutation.file, "exec")
