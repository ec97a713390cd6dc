"""The demo's deck: replies of a support desk, judged by a rubric that a person's labels mend."""

import sys
from pathlib import Path

from local.demo_commands import CommandLine
from local.deployment import REPOSITORY_ROOT
from local.endpoint import LOOPBACK, free_port
from local.server_process import ServerProcess

MODEL_SOURCE = Path("examples/language_models/support_judge.py")
MODEL = "support-judge"
DECK = Path("examples/decks/support.deck.md")
SAMPLES = Path("examples/decks/support_samples.jsonl")
WRITE_LABELS = Path("examples/decks/make_support.py")
IDS = Path("out/samples.ids")
LABELS = Path("out/labels.jsonl")
PASSAGE = "it names steps that they can take themselves."
CLAUSE = "Courtesy does not count."


def judge_a_deck(autotune: CommandLine, *, log_file: Path) -> None:
    """Makes a deck, has its samples judged, and mends its rubric by what a person said of them.

    Raises:
        DemoError: If a command fails.
        ServerProcessError: If the model's server does not start.
    """
    port = free_port()
    autotune.say(f"\n$ python {MODEL_SOURCE} --port {port} &")
    server = ServerProcess(
        arguments=[sys.executable, str(REPOSITORY_ROOT / MODEL_SOURCE), "--port", str(port)],
        answers_at=f"http://{LOOPBACK}:{port}/health",
        environment=autotune.environment,
        log_file=log_file,
    )
    with autotune.part("a deck beside these"), server:
        connection = autotune.read(
            *("llm", "connect", "--name", "a judge of one's own", "--provider", "simulated"),
            *("--base-url", f"http://{LOOPBACK}:{port}/v1", "--price", f"{MODEL}=0.10,0.40"),
        )
        deck_id = autotune.read(
            *("decks", "import", str(DECK), "--connection", connection["id"], "--model", MODEL)
        )["deckId"]
        grader_id = autotune.read("decks", "graders", "activate", deck_id, "--all")["id"]
        ids = autotune.lines("decks", "samples", "add", deck_id, str(SAMPLES))
        autotune.show("decks", "grade", deck_id, "--yes")
        write_labels(autotune, ids)
        autotune.show("decks", "label", deck_id, grader_id, str(LABELS))
        autotune.show("decks", "agreement", deck_id, grader_id)
        mend_the_rubric(autotune, deck_id, grader_id)


def mend_the_rubric(autotune: CommandLine, deck_id: str, grader_id: str) -> None:
    """Adds a clause to the rubric, and accepts it because held-out labels speak for it.

    Raises:
        DemoError: If a command fails.
    """
    edit = autotune.read(
        *("decks", "propose", deck_id, grader_id, "--find", PASSAGE),
        *("--replace", f"{PASSAGE} {CLAUSE}", "--note", "the judge takes courtesy for help"),
    )
    autotune.show("decks", "replay", deck_id, grader_id, edit["id"])
    autotune.show("decks", "replay", deck_id, grader_id, edit["id"], "--held-out", "--accept")


def write_labels(autotune: CommandLine, ids: list[str]) -> None:
    """Writes what a person says of the samples.

    Raises:
        DemoError: If the script fails.
    """
    # Other parts write there, too, and any of them may be the first.
    (REPOSITORY_ROOT / IDS).parent.mkdir(exist_ok=True)
    (REPOSITORY_ROOT / IDS).write_text("\n".join(ids) + "\n")
    autotune.say(f"\n$ python {WRITE_LABELS} labels --ids {IDS} > {LABELS}")
    command = [sys.executable, str(WRITE_LABELS), "labels", "--ids", str(IDS)]
    (REPOSITORY_ROOT / LABELS).write_text(autotune.run(command, captures=True))
