"""``python -m local.demo``: real completions scored end to end.

All but one wait are ordinary commands. Everything it starts is its own, on free ports, and is
stopped at the end, also after Ctrl-C.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

from autotune import AutotuneClient
from local.deployment import REPOSITORY_ROOT, DeploymentError
from local.endpoint import LOOPBACK, free_port
from local.first_organization import OperatorCommandError
from local.grader_process import GraderProcess
from local.ministack import MiniStackError
from local.progress import PrintedProgress
from local.records import LocalProfile
from local.server_process import ServerProcess, ServerProcessError
from local.stack import LocalStack, StackBusyError

AUTOTUNE = Path(sys.executable).with_name("autotune")
GRADER_SOURCE = Path("grader_template/grader.py")
COMPLETIONS = Path("examples/data/arithmetic.jsonl")
SCORES = Path("out/scores")
BUILTIN_GRADER = Path("examples/builtin_graders/numeric.json")
ONE_COMPLETION = Path("out/unsure.jsonl")
MODEL_SOURCE = Path("examples/language_models/arithmetic_judge.py")
MODEL = "arithmetic-judge"
REQUESTS = Path("out/requests.jsonl")
REQUEST_IDS = Path("out/requests.ids")
JUDGED = 100
REVIEW_SECONDS = 60
GRADER_BATCH_SIZE = 50
DIRECTORY = REPOSITORY_ROOT / ".autotune" / "demo"

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


class DemoError(RuntimeError):
    """A step of the demo did not end as it should."""


class CommandLine:
    """The ``autotune`` command, shown as it runs.

    Args:
        profile: The stack that it talks to.
    """

    def __init__(self, profile: LocalProfile) -> None:
        self._profile = profile
        mine = {name: text for name, text in os.environ.items() if not name.startswith("AUTOTUNE_")}
        self.environment: Mapping[str, str] = {
            **mine,
            "AUTOTUNE_BASE_URL": profile.base_url,
            "AUTOTUNE_API_KEY": profile.api_key,
        }

    def show(self, *arguments: str) -> None:
        """Runs a command with its output on this terminal.

        Raises:
            DemoError: If it does not end with 0.
        """
        self._run(arguments, captures=False)

    def read(self, *arguments: str) -> dict[str, Any]:
        """Runs a command with ``--json`` and returns what it answers.

        Raises:
            DemoError: If it does not end with 0, or answers no JSON object.
        """
        output = self._run([*arguments, "--json"], captures=True)
        try:
            answer = json.loads(output)
        except json.JSONDecodeError as error:
            message = f"autotune {arguments[0]} --json answered no JSON: {output[:500]}"
            raise DemoError(message) from error
        if not isinstance(answer, dict):
            message = f"autotune {arguments[0]} --json answered no JSON object: {output[:500]}"
            raise DemoError(message)
        return answer

    def lines(self, *arguments: str) -> list[str]:
        """Runs a command and returns the lines that it prints.

        Raises:
            DemoError: If it does not end with 0.
        """
        return self._run(arguments, captures=True).splitlines()

    def wait_for_review(self) -> None:
        """Waits until a person is asked for their judgement.

        Raises:
            DemoError: If nobody is asked within a minute.
        """
        print(
            "\nwaiting until the graders turn out to be less sure than the task wants", flush=True
        )
        with AutotuneClient(base_url=self._profile.base_url, api_key=self._profile.api_key) as api:
            for _ in range(REVIEW_SECONDS):
                if next(iter(api.reviews.list(state="open")), None) is not None:
                    return
                time.sleep(1)
        message = f"no person was asked within {REVIEW_SECONDS} s"
        raise DemoError(message)

    def _run(self, arguments: Sequence[str], *, captures: bool) -> str:
        print(f"\n$ autotune {shlex.join(arguments)}", flush=True)
        finished = subprocess.run(
            [str(AUTOTUNE), *arguments],
            cwd=REPOSITORY_ROOT,
            env=dict(self.environment),
            stdout=subprocess.PIPE if captures else None,
            text=True,
            check=False,
        )
        if finished.returncode != 0:
            message = f"autotune {arguments[0]} ended with {finished.returncode}"
            raise DemoError(message)
        return finished.stdout or ""


def main() -> int:
    """Runs the demo and returns its exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    started = time.monotonic()
    stack = LocalStack(directory=DIRECTORY, progress=PrintedProgress())
    try:
        print("Bringing up the whole stack on this machine, with fresh data")
        stack.down()  # what a demo that was killed left behind
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        with stack as profile:
            score_examples(CommandLine(profile))
            print()
    except (
        DemoError,
        DeploymentError,
        MiniStackError,
        OperatorCommandError,
        ServerProcessError,
        StackBusyError,
    ) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("interrupted; everything that was started is stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    print(f"Done in {time.monotonic() - started:.0f} s; scores are in {SCORES}")
    return 0


def score_examples(autotune: CommandLine) -> None:
    """Registers a grader, has the examples scored by it, exports the scores, and asks a person.

    Raises:
        DemoError: If a command fails, or a completion was not scored.
        ServerProcessError: If the grader does not start.
    """
    port = free_port()
    registered = autotune.read(
        "graders",
        "register",
        *("--name", "reference match"),
        *("--endpoint", f"http://{LOOPBACK}:{port}"),
        *("--max-batch-size", str(GRADER_BATCH_SIZE)),
    )
    grader_id = registered["grader"]["id"]
    print(f"registered {grader_id}; its shared secret is shown this once, to its owner")

    print(f"\n$ AUTOTUNE_GRADER_SECRET=... autotune grader serve {GRADER_SOURCE} --port {port} &")
    with GraderProcess(
        command=AUTOTUNE,
        source=REPOSITORY_ROOT / GRADER_SOURCE,
        port=port,
        environment={
            **autotune.environment,
            "AUTOTUNE_GRADER_SECRET": registered["credentials"]["sharedSecret"],
        },
        log_file=DIRECTORY / "grader.log",
    ):
        autotune.show("graders", "verify", grader_id)
        task = autotune.read("tasks", "create", "--name", "arithmetic", "--grader", grader_id)
        print(f"created {task['id']}")
        autotune.show("submit", str(COMPLETIONS), "--task", task["id"])
        # The folder of an earlier demo holds another export.
        shutil.rmtree(REPOSITORY_ROOT / SCORES, ignore_errors=True)
        export = autotune.read("export", "--task", task["id"], "--out", str(SCORES))
        ask_a_person(autotune, grader_id)
    ask_a_model(autotune)
    submitted = count_lines(REPOSITORY_ROOT / COMPLETIONS)
    if export["records"] != submitted:
        message = f"{submitted} completions were submitted, and {export['records']} were scored"
        raise DemoError(message)


def ask_a_person(autotune: CommandLine, grader_id: str) -> None:
    """Has two graders and a person score one more completion.

    Raises:
        DemoError: If a command fails, or no person is asked.
    """
    builtin = autotune.read(
        *("graders", "register", "--name", "last number", "--builtin", str(BUILTIN_GRADER))
    )
    task = autotune.read(
        *("tasks", "create", "--name", "arithmetic, with a person"),
        *("--grader", f"{grader_id}=2", "--grader", builtin["grader"]["id"]),
        *("--review-confidence-below", "0.99"),
    )
    one = REPOSITORY_ROOT / ONE_COMPLETION
    with (REPOSITORY_ROOT / COMPLETIONS).open() as lines:
        one.write_text(next(lines))
    autotune.show("submit", str(ONE_COMPLETION), "--task", task["id"], "--no-wait")
    autotune.wait_for_review()
    review = autotune.read("reviews", "next")["review"]
    print("its reviewer could work in a browser: `make up`, `autotune reviews link --reviewer you`")
    autotune.show(
        *("reviews", "answer", review["id"], "--value", "0.9"),
        *("--explanation", "Right, and to the point."),
    )
    score = autotune.read("scores", "--task", task["id"])
    opinions = ", ".join(f"{one['graderId']} {one['value']}" for one in score["opinions"])
    print(f"scored {score['score']['value']} by a {score['decidedBy']}; the graders: {opinions}")


def ask_a_model(autotune: CommandLine) -> None:
    """Has a hundred responses judged in a batch by an endpoint that speaks OpenAI's language.

    Raises:
        DemoError: If a command fails.
        ServerProcessError: If the model's server does not start.
    """
    port = free_port()
    print(f"\n$ python {MODEL_SOURCE} --port {port} &")
    with ServerProcess(
        arguments=[sys.executable, str(REPOSITORY_ROOT / MODEL_SOURCE), "--port", str(port)],
        answers_at=f"http://{LOOPBACK}:{port}/health",
        environment=autotune.environment,
        log_file=DIRECTORY / "model.log",
    ):
        made = autotune.read(
            *("llm", "connect", "--name", "a model of one's own", "--provider", "simulated"),
            *("--base-url", f"http://{LOOPBACK}:{port}/v1", "--price", f"{MODEL}=0.10,0.40"),
        )
        write_requests(REPOSITORY_ROOT / REQUESTS)
        ids = autotune.lines(
            *("llm", "enqueue", str(REQUESTS), "--connection", made["id"], "--model", MODEL)
        )
        (REPOSITORY_ROOT / REQUEST_IDS).write_text("\n".join(ids) + "\n")
        rows = [json.loads(line) for line in autotune.lines("llm", "results", str(REQUEST_IDS))]
        verdicts = Counter(row["parsedVerdict"] for row in rows)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        spent = sum(row["costNanoUsd"] for row in rows) / 1e9
        print(f"{len(rows)} requests: {counts}; they cost {spent:.6f} USD")
        for row in rows[:2]:
            print(f"  {row['reasoning']} -> {row['parsedVerdict']}")
        autotune.show("llm", "batches")
        autotune.show("llm", "costs")


def write_requests(path: Path) -> None:
    """Writes requests to judge the first hundred completions of the examples."""
    with (REPOSITORY_ROOT / COMPLETIONS).open() as lines:
        completions = [json.loads(line) for line in islice(lines, JUDGED)]
    requests = [
        {
            "purpose": "scoring",
            "input": {
                "system": "You judge sums. End with VERDICT: right or VERDICT: wrong.",
                "user": "{{question}}\nReference: {{reference}}\nResponse: {{response}}",
                "variables": {
                    "question": one["prompt"],
                    "reference": one["metadata"]["answer"],
                    "response": one["response"],
                },
            },
            "params": {"maxTokens": 200},
            "verdict": {"type": "label", "labels": ["right", "wrong"]},
        }
        for one in completions
    ]
    path.write_text("".join(json.dumps(request) + "\n" for request in requests))


def count_lines(path: Path) -> int:
    """Lines of a file that are not blank."""
    with path.open() as lines:
        return sum(1 for line in lines if line.strip())


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
