"""Asks questions with LiteLLM's batch API: ``python ask.py URL QUESTIONS FOLDER``.

The calls are those of https://docs.litellm.ai/docs/batches, with ``api_base`` and ``api_key`` and
retries as they come. LiteLLM has no loop and reads no rows: the loop is ours, looks each second,
reads output and error file once the batch has ended, and hands every line on.
"""

import asyncio
import json
import sys
from collections import defaultdict
from pathlib import Path

import litellm

ENDED = ("completed", "failed", "expired", "cancelled")


async def main(url: str, questions: list[str], folder: Path) -> None:
    """Write each question's answers and errors into ``answers.json``."""
    there = {"custom_llm_provider": "openai", "api_base": url, "api_key": "fake-key"}
    lines = [
        {
            "custom_id": str(number),
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": "gpt-4.1-mini",
                "messages": [{"role": "user", "content": text}],
                "max_tokens": 200,
            },
        }
        for number, text in enumerate(questions)
    ]
    path = folder / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with path.open("rb") as content:
        uploaded = await litellm.acreate_file(file=content, purpose="batch", **there)
    batch = await litellm.acreate_batch(
        completion_window="24h",
        endpoint="/v1/chat/completions",
        input_file_id=uploaded.id,
        **there,
    )
    while batch.status not in ENDED:
        await asyncio.sleep(1)
        batch = await litellm.aretrieve_batch(batch_id=batch.id, **there)
    answers, errors = defaultdict(list), {}
    for file_id in (batch.output_file_id, batch.error_file_id):
        if file_id:
            content = await litellm.afile_content(file_id=file_id, **there)
            for text in content.text.splitlines():
                _read(json.loads(text), answers, errors)
    (folder / "answers.json").write_text(json.dumps({"answers": answers, "errors": errors}))


def _read(line: dict, answers: dict, errors: dict) -> None:
    response = line["response"] or {}
    if line["error"] is None and response.get("status_code") == 200:
        answers[line["custom_id"]].append(response["body"]["choices"][0]["message"]["content"])
    else:
        errors[line["custom_id"]] = json.dumps(line["error"] or response)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3])))
