"""What a million requests to a language model cost on AWS, beside what the provider takes.

They go in one batch job to the fake of a provider on loopback, which asks no price of AWS.
"""

import time

from benchmarks.cost import Cost, priced
from benchmarks.llm_provider import provider
from benchmarks.stand import CountedStand
from benchmarks.texts import answer, prompts

MODEL = "gpt-5-mini"
_KEY = "fake-key"
_INPUT_BYTES, _OUTPUT_BYTES = 2_048, 1_024
_MOST_TOKENS = 400
_WAIT_SECONDS = 1_500
_POLL_SECONDS = 5
_WARM_UP_ROWS = 20


def measure(stand: CountedStand, *, rows: int) -> Cost:
    """Enqueue requests, wait until the last one has come home, and count.

    Everything is counted that is asked of AWS: enqueuing, the batch and its polls, the answers and
    what they cost, and the looks of whoever waits; not the reading of answers.
    """
    with provider(answer(_OUTPUT_BYTES)) as url:
        _ask(stand, url, _WARM_UP_ROWS)
        return priced(stand, lambda: _ask(stand, url, rows), batch_size=rows, count=rows)


def _ask(stand: CountedStand, url: str, rows: int) -> None:
    with stand.client() as client:
        connection = client.llm.connections.create(
            name="fake",
            provider="openai",
            base_url=f"{url}/v1",
            api_key=_KEY,
            batches="always",
            min_rows=min(rows, 10_000),
            max_rows=rows,
        )
        client.llm.enqueue(
            {
                "connectionId": connection.id,
                "purpose": "scoring",
                "model": MODEL,
                "input": {"user": prompt},
                "params": {"maxTokens": _MOST_TOKENS},
                "verdict": {"type": "label", "labels": ["good", "bad"]},
            }
            for prompt in prompts(rows, text_bytes=_INPUT_BYTES)
        )
        deadline = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < deadline:
            found = [one for one in client.llm.batches.list() if one.connection_id == connection.id]
            if sum(one.counts.completed for one in found) == rows:
                return
            time.sleep(_POLL_SECONDS)
    message = f"not all of {rows} requests were answered: there is nothing to be priced"
    raise RuntimeError(message)
