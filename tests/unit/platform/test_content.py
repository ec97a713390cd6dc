from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.completions.content import pack, unpack
from autotune_platform.storage.packing import outgrows_item

names = st.text(alphabet="abcé☃", max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=1_500)


@given(text, text, st.dictionaries(names, json_values, max_size=3))
def test_what_is_packed_is_unpacked_the_same(prompt: str, response: str, metadata: dict) -> None:
    assert unpack(pack(prompt, response, metadata)) == (prompt, response, metadata)


def test_long_text_is_compressed() -> None:
    assert len(pack("p", "word " * 1_000, {})) < 200
    assert not outgrows_item(pack("p", "word " * 100_000, {}))
