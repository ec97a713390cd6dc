"""Cutting files into chunks: every line once, the same chunks from wherever one goes on."""

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_platform.ledger.imports import lines
from autotune_platform.ledger.imports.lines import Chunk, chunk_of

Read = tuple[int, bytes | None]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 12)
    monkeypatch.setattr(lines, "MAX_LLM_IMPORT_LINE_BYTES", 20)
    monkeypatch.setattr(lines, "WINDOW_BYTES", 25)


def chunks(content: bytes, *, is_fresh: bool, most_lines: int = 3) -> Iterator[tuple[int, Chunk]]:
    """Yield chunks with their offsets, as steps read them that keep or drop their window."""
    offset = line = 0
    is_skipping = False
    window = b""
    while offset < len(content):
        for some in (window, content[offset : offset + lines.WINDOW_BYTES]):
            chunk = some and chunk_of(
                some,
                line=line,
                is_first=not offset,
                is_last=offset + len(some) >= len(content),
                is_skipping=is_skipping,
                most_lines=most_lines,
            )
            if chunk:
                break
        assert chunk
        assert chunk.size > 0
        yield offset, chunk
        offset += chunk.size
        line += chunk.passed
        is_skipping = chunk.is_skipping
        window = b"" if is_fresh else some[chunk.size :]


def expected(content: bytes) -> list[Read]:
    split = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    numbered = [(number, one.rstrip(b"\r")) for number, one in enumerate(split, start=1)]
    return [
        (number, one if len(one) <= lines.MAX_LLM_IMPORT_LINE_BYTES else None)
        for number, one in numbered
        if one.strip()
    ]


pieces = st.sampled_from([b"\n", b"\r\n", b"a", b"bc", b"d" * 7, b"e" * 19, b"f" * 45, b"g" * 20])
files = st.lists(pieces, max_size=30).map(b"".join)


@settings(max_examples=300)
@given(files, st.booleans())
def test_every_line_comes_once_with_its_number(content: bytes, has_mark: bool) -> None:
    content = (b"\xef\xbb\xbf" if has_mark else b"") + content
    for is_fresh in (True, False):
        found = [
            (line.number, line.text)
            for _, chunk in chunks(content, is_fresh=is_fresh)
            for line in chunk.lines
        ]
        assert found == expected(content)


@settings(max_examples=300)
@given(files)
def test_chunks_with_lines_end_where_they_do_however_the_file_is_read(content: bytes) -> None:
    kept, dropped = (
        [(offset, chunk) for offset, chunk in chunks(content, is_fresh=is_fresh) if chunk.lines]
        for is_fresh in (False, True)
    )
    assert kept == dropped


def test_a_line_without_an_end_is_passed_over_in_little_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    size = 50_000_000
    window = b"x" * lines.WINDOW_BYTES
    tracemalloc.start()
    offset, seen, is_skipping = 0, 0, False
    while offset < size:
        part = window[: size - offset]
        chunk = chunk_of(
            part,
            line=0,
            is_first=not offset,
            is_last=offset + len(part) >= size,
            is_skipping=is_skipping,
            most_lines=500,
        )
        assert chunk is not None
        seen += len(chunk.lines)
        offset += chunk.size
        is_skipping = chunk.is_skipping
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == 1
    assert not is_skipping
    assert peak < 3 * lines.WINDOW_BYTES
