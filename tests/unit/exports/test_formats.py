"""Files of records are whole, whatever the length of their texts."""

import random
from pathlib import Path

import duckdb
import pytest

from autotune_platform.exports.formats import record_writer


@pytest.mark.parametrize(
    ("characters", "records"), [(4_000, 16_000), (1_200_000, 40)], ids=["long", "very long"]
)
def test_parquet_of_long_texts_needs_no_more_memory_than_of_short_ones(
    tmp_path: Path, characters: int, records: int
) -> None:
    # Distinct, so that no dictionary makes them small.
    pool = random.Random(7).randbytes(characters // 2 + records).hex()
    path = tmp_path / "part.parquet"
    with record_writer("parquet", "scores", path) as file:
        for n in range(records):
            prompt, response = pool[n : n + characters], pool[n + 1 : n + 1 + characters]
            file.write({"prompt": prompt, "response": response, "score": 0.5, "metadata": {"n": n}})
    with duckdb.connect() as database:
        found = database.execute(
            "SELECT count(*), count(DISTINCT prompt), min(length(response)) FROM read_parquet(?)",
            [str(path)],
        ).fetchone()
    assert found == (records, records, characters)
