"""The endpoint grader for a fine-tuning job of Azure OpenAI, and a look at whether it would work.

``python examples/trainers/azure/grader.py "$REWARD_URL"`` prints the grader's JSON. With ``--check
FILE`` it first asks the URL about the file's lines in Azure's words, and prints scores instead.
"""

import argparse
import json
import sys
import urllib.error
import urllib.request
from itertools import islice
from pathlib import Path
from typing import Any

CLIENT_TIMEOUT_SECONDS = 600  # Azure's own


def grader(reward_url: str, *, rate_limit: int, pass_threshold: float) -> dict[str, Any]:
    """Return what stands under ``method.reinforcement.grader`` of a job."""
    return {
        "type": "endpoint",
        "name": "autotune",
        "url": f"{reward_url}/azure",
        "rate_limit": rate_limit,
        "pass_threshold": pass_threshold,
    }


def score_of(url: str, row: dict[str, Any]) -> float:
    """Return the score of one line."""
    body = {
        "sample": {"output_text": row["response"]},
        "item": {
            "messages": [{"role": "user", "content": row["prompt"]}],
            "label": row["metadata"]["answer"],
        },
        "trace_id": "trace_check",
    }
    request = urllib.request.Request(
        url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=CLIENT_TIMEOUT_SECONDS) as answer:
        return float(json.load(answer)["score"])


def main() -> int:
    """Print the grader, or scores; exit with 1 where the URL returns none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reward_url")
    parser.add_argument("--check", type=Path, help="JSONL with prompt, response, metadata.answer")
    parser.add_argument("--limit", type=int, default=5)
    parser.add_argument("--rate-limit", type=int, default=50)
    parser.add_argument("--pass-threshold", type=float, default=0.5)
    options = parser.parse_args()
    made = grader(
        options.reward_url, rate_limit=options.rate_limit, pass_threshold=options.pass_threshold
    )
    if options.check is None:
        print(json.dumps(made, indent=2))
        return 0
    with options.check.open() as lines:
        rows = [json.loads(line) for line in islice(lines, options.limit)]
    for row in rows:
        try:
            print(score_of(made["url"], row))
        except urllib.error.HTTPError as error:
            print(error.read().decode(), file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
