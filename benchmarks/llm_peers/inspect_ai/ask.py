"""Asks questions with inspect_ai's batch mode: ``python ask.py URL QUESTIONS FOLDER``.

Options are those of https://inspect.aisi.org.uk/models-batch.html. Only ``tick`` and ``size`` are
not as they come: a look each second, and all questions in one batch. ``fail_on_error=False`` keeps
what other samples answered where one fails, as its documentation advises.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import BatchConfig
from inspect_ai.solver import generate


def main(url: str, questions: list[str], folder: Path) -> None:
    """Write each question's answers and errors into ``answers.json``."""
    samples = [Sample(input=text, id=number) for number, text in enumerate(questions)]
    (log,) = evaluate(
        Task(dataset=samples, solver=generate()),
        model="openai/gpt-4.1-mini",
        model_base_url=url,
        model_args={"responses_api": False},
        batch=BatchConfig(size=len(questions), tick=1),
        max_tokens=200,
        fail_on_error=False,
        log_dir=str(folder),
        display="plain",
    )
    answers, errors = {}, {}
    for sample in log.samples or []:
        if sample.error is not None:
            errors[sample.id] = sample.error.message
        elif sample.output.choices:
            answers[sample.id] = [sample.output.completion]
    (folder / "answers.json").write_text(json.dumps({"answers": answers, "errors": errors}))
    if log.status != "success":
        sys.exit(f"{log.status}: {log.error.message if log.error else ''}")


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3]))
