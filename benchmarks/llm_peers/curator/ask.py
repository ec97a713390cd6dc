"""Asks questions with curator's batch mode: ``python ask.py URL QUESTIONS FOLDER``.

Options are those of https://docs.bespokelabs.ai/curator/batch. Only ``batch_check_interval`` is not
as it comes: a look each second in place of each minute. The first run of a folder has nothing to
go on from.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from bespokelabs import curator


class Asker(curator.LLM):
    """Keeps the answer as it is."""

    def prompt(self, input: dict) -> str:  # noqa: A002 - curator's name
        """Return the question."""
        return input["question"]

    def parse(self, input: dict, response: str) -> dict:  # noqa: A002 - curator's name
        """Return the answer beside the number of its question."""
        return {"row": input["row"], "answer": response}


def main(url: str, questions: list[str], folder: Path) -> None:
    """Write each question's answers into ``answers.json``."""
    asker = Asker(
        model_name="gpt-4.1-mini",
        backend="openai",
        batch=True,
        generation_params={"max_tokens": 200},
        backend_params={"base_url": url, "api_key": "fake-key", "batch_check_interval": 1},
    )
    asked = [{"row": number, "question": text} for number, text in enumerate(questions)]
    answers = defaultdict(list)
    for row in asker(asked, working_dir=str(folder / "cache")).dataset:
        answers[row["row"]].append(row["answer"])
    (folder / "answers.json").write_text(json.dumps({"answers": answers, "errors": {}}))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3]))
