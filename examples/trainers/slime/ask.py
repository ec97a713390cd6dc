"""Ask a reward URL as slime does: a request for each sample, many at a time.

``python examples/trainers/slime/ask.py "$REWARD_URL" examples/data/arithmetic.jsonl`` prints a
reward for each line. Use it before a training run to see that the URL, the task and the labels fit.
"""

import argparse
import json
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

CLIENT_TIMEOUT_SECONDS = 120  # slime's own
AT_ONCE = 8


def reward_of(reward_url: str, row: dict[str, Any]) -> float:
    """Return the reward of one sample."""
    body = {
        "prompt": row["prompt"],
        "response": row["response"],
        "label": row["metadata"]["answer"],
    }
    request = urllib.request.Request(
        f"{reward_url}/slime",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=CLIENT_TIMEOUT_SECONDS) as answer:
        return float(json.load(answer))


def main() -> int:
    """Print rewards; exit with 1 where the URL returns none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reward_url")
    parser.add_argument("file", type=Path, help="JSONL with prompt, response and metadata.answer")
    parser.add_argument("--limit", type=int, default=100)
    options = parser.parse_args()
    with options.file.open() as lines:
        rows = [json.loads(line) for line in islice(lines, options.limit)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            for reward in threads.map(lambda row: reward_of(options.reward_url, row), rows):
                print(reward)
        except urllib.error.HTTPError as error:
            print(error.read().decode(), file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
