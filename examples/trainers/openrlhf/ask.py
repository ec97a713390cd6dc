"""Ask a reward URL as OpenRLHF does: prompts, responses and labels of a file, in one request.

``python examples/trainers/openrlhf/ask.py "$REWARD_URL" examples/data/arithmetic.jsonl`` prints a
reward for each line. Use it before a training run to see that the URL, the task and the labels fit.
"""

import argparse
import json
import sys
import urllib.error
import urllib.request
from itertools import islice
from pathlib import Path

CLIENT_TIMEOUT_SECONDS = 180  # OpenRLHF's own


def main() -> int:
    """Print rewards; exit with 1 where the URL returns none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reward_url")
    parser.add_argument("file", type=Path, help="JSONL with prompt, response and metadata.answer")
    parser.add_argument("--limit", type=int, default=100)
    options = parser.parse_args()
    with options.file.open() as lines:
        rows = [json.loads(line) for line in islice(lines, options.limit)]
    body = {
        "query": [row["prompt"] + row["response"] for row in rows],
        "prompts": [row["prompt"] for row in rows],
        "labels": [row["metadata"]["answer"] for row in rows],
    }
    request = urllib.request.Request(
        f"{options.reward_url}/openrlhf",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=CLIENT_TIMEOUT_SECONDS) as answer:
            rewards = json.load(answer)["rewards"]
    except urllib.error.HTTPError as error:
        print(error.read().decode(), file=sys.stderr)
        return 1
    for reward in rewards:
        print(reward)
    return 0


if __name__ == "__main__":
    sys.exit(main())
