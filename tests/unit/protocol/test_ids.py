import re
import time

from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.ids import ID_BODY, derived_id, new_id


def test_ids_have_a_kind_and_sort_by_creation() -> None:
    ids = []
    for _ in range(5):
        ids.append(new_id("cmp"))
        time.sleep(0.002)
    assert ids == sorted(ids)
    assert all(re.fullmatch(rf"cmp_{ID_BODY}", one) for one in ids)


def test_ids_made_in_one_moment_differ() -> None:
    assert len({new_id("req") for _ in range(10_000)}) == 10_000


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_derived_ids_are_equal_only_for_equal_parts(a: list[str], b: list[str]) -> None:
    assert (derived_id("cmp", *a) == derived_id("cmp", *b)) == (a == b)
    assert re.fullmatch(rf"cmp_{ID_BODY}", derived_id("cmp", *a))
