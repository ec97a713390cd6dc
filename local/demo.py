"""``python -m local.demo``: real completions scored end to end.

A deck is judged beside the rest, because both mostly wait; what that printed is shown at the end.
All but one wait are ordinary commands. Everything it starts is its own, on free ports, and is
stopped at the end, also after Ctrl-C.
"""

import json
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from types import FrameType

from local.demo_commands import AUTOTUNE, CommandLine, DemoError
from local.demo_deck import judge_a_deck
from local.deployment import REPOSITORY_ROOT, DeploymentError
from local.endpoint import LOOPBACK, free_port
from local.first_organization import OperatorCommandError
from local.grader_process import GraderProcess
from local.ministack import MiniStackError
from local.progress import PrintedProgress
from local.server_process import ServerProcess, ServerProcessError
from local.stack import LocalStack, StackBusyError

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
GRADER_BATCH_SIZE = 50
DIRECTORY = REPOSITORY_ROOT / ".autotune" / "demo"

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


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
            seconds = {"stack": time.monotonic() - started}
            seconds |= score_examples(CommandLine(profile))
            print("\nseconds: " + ", ".join(f"{name} {each:.0f}" for name, each in seconds.items()))
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
    print("See all of it in your browser: make console")
    return 0


def score_examples(autotune: CommandLine) -> Mapping[str, float]:
    """Scores completions, asks a person and a model, and beside that mends a deck's rubric.

    Returns:
        How many seconds each part took.

    Raises:
        DemoError: If a command fails, or a completion was not scored.
        ServerProcessError: If a server does not start.
    """
    with (DIRECTORY / "deck.log").open("w+") as shown, ThreadPoolExecutor(1) as threads:
        decks = autotune.beside(shown)
        judged = threads.submit(judge_a_deck, decks, log_file=DIRECTORY / "judge.log")
        try:
            with autotune.part("completions and a person"):
                score_completions(autotune)
            with autotune.part("a model"):
                ask_a_model(autotune)
            judged.result()
        except BaseException:
            decks.stop()
            raise
        finally:
            wait([judged])
            shown.seek(0)
            print(shown.read(), end="", flush=True)
    return {**autotune.seconds, **decks.seconds}


def score_completions(autotune: CommandLine) -> None:
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
