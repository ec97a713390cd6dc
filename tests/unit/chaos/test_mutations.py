"""The guards that chaos is tried without are where the mutations look for them."""

from pathlib import Path

import pytest

from tests.chaos.life_mutations import LIFE_MUTATIONS
from tests.chaos.mutations import MUTATIONS, ROOT, GuardNotFoundError, Mutation, mutate
from tests.chaos.run_mutations import RUN_MUTATIONS, TESTS
from tests.chaos.spending_mutations import SPENDING_MUTATIONS

ALL = [*MUTATIONS, *RUN_MUTATIONS, *LIFE_MUTATIONS, *SPENDING_MUTATIONS]


@pytest.mark.parametrize("mutation", ALL, ids=lambda one: one.name)
def test_a_guard_is_there_once_and_can_be_taken_out(mutation: Mutation, tmp_path: Path) -> None:
    copy = tmp_path / mutation.file
    copy.parent.mkdir(parents=True)
    copy.write_text((ROOT / mutation.file).read_text())
    mutate(tmp_path, mutation)
    assert mutation.instead in copy.read_text()
    compile(copy.read_text(), mutation.file, "exec")


@pytest.mark.parametrize("mutation", RUN_MUTATIONS, ids=lambda one: one.name)
def test_the_test_that_finds_out_is_there(mutation: Mutation) -> None:
    (file,) = mutation.asked
    assert f"def {mutation.invariant}(" in (ROOT / TESTS / f"{file}.py").read_text()


def test_a_guard_that_moved_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text("guard guard")
    with pytest.raises(GuardNotFoundError):
        mutate(tmp_path, Mutation("twice", "file.py", "guard", "", ""))
