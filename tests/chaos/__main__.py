"""``python -m tests.chaos``: thousands of completions, sick graders, killed workers, a restart.

Bounded to ten minutes and seeded. Ends with 1 where a completion was lost, judged twice, or scored
with a value that its grader did not sign.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autotune import AutotuneClient
from local.endpoint import lambda_client
from local.stack import LocalStack
from tests.chaos.diseases import Patient, hospital
from tests.chaos.faults import Saboteur
from tests.chaos.invariants import STATES, CompletionsTable, Findings, check

BATCH = 60
GRADER_BATCH = 20
LIMIT_SECONDS = 480

console = Console(width=110)


class Chaos:
    """One run of everything at once."""

    def __init__(self, stack: LocalStack, patients: list[Patient], *, seed: int) -> None:
        self._stack = stack
        self._patients = patients
        self._draw = random.Random(seed)
        self._saboteur = Saboteur(stack, seed=seed)
        self.patients: dict[str, Patient] = {}
        self.accepted: dict[str, str] = {}
        self.batches: dict[str, str] = {}

    def run(self, completions: int) -> Findings:
        """Submit, sabotage, restart, and wait until everything has its verdict."""
        started = time.monotonic()
        self._submit_all(completions)
        graders = len(self._patients)
        console.print(f"accepted {len(self.accepted)} completions for {graders} graders")
        self._saboteur.start()
        time.sleep(8)
        self._saboteur.stop()
        self._restart()
        self._saboteur.start()
        time.sleep(8)
        self._saboteur.stop()
        console.print(
            f"killed {self._saboteur.killed} workers, delivered {self._saboteur.doubled} messages "
            "again, stopped and started the stack once"
        )
        self._drive_to_the_end(started)
        profile = self._stack.profile()
        assert profile is not None
        return check(CompletionsTable(profile.aws_endpoint_url), self.accepted, self.patients)

    def _client(self) -> AutotuneClient:
        profile = self._stack.profile()
        assert profile is not None
        return AutotuneClient(base_url=profile.base_url, api_key=profile.api_key)

    def _submit_all(self, completions: int) -> None:
        profile = self._stack.profile()
        assert profile is not None
        with self._client() as client:
            for patient in self._patients:
                registered = client.graders.register(
                    name=patient.name,
                    endpoint=patient.grader.url,
                    capabilities={"maxBatchSize": GRADER_BATCH},
                )
                patient.grader.secret = registered.credentials.shared_secret
                verified = client.graders.verify(registered.grader.id)
                assert verified.verified, verified
                task = client.tasks.create(name=patient.name, grader_id=registered.grader.id)
                self.patients[task.id] = patient
                submitted = client.completions.submit_many(
                    (
                        {
                            "taskId": task.id,
                            "modelId": "chaos",
                            "prompt": str(number),
                            "response": "r",
                            "metadata": {"value": round(self._draw.random(), 3)},
                        }
                        for number in range(completions // len(self._patients))
                    ),
                    batch_size=BATCH,
                )
                for batch in submitted:
                    self.batches[batch.batch_id] = task.id
                    self.accepted |= dict.fromkeys(batch.completion_ids, task.id)
                    self._saboteur.remember(
                        {
                            "organization_id": profile.organization_id,
                            "grader_id": registered.grader.id,
                            "grader_version": verified.grader.version,
                            "completion_ids": batch.completion_ids,
                            "text_bytes": 100,
                        }
                    )

    def _restart(self) -> None:
        """Stop the stack in order and start it again: tables and queues stay, runs are gone."""
        self._stack.down()
        self._stack.up()

    def _drive_to_the_end(self, started: float) -> None:
        profile = self._stack.profile()
        assert profile is not None
        table = CompletionsTable(profile.aws_endpoint_url)
        functions = lambda_client(profile.aws_endpoint_url)
        names = [one["FunctionName"] for one in functions.list_functions()["Functions"]]
        sweep = next(name for name in names if "SweepBatches" in name)
        while time.monotonic() - started < LIMIT_SECONDS:
            opened = table.make_everything_due()
            if not opened:
                return
            functions.invoke(FunctionName=sweep, Payload=b"{}")
            console.print(f"{time.monotonic() - started:4.0f} s: {opened} batches were open")
            time.sleep(10)


def shown(findings: Findings, patients: dict[str, Patient]) -> Table:
    """Return the table of states by grader."""
    table = Table("grader", "accepted", *STATES, "pending", "requests")
    for task_id, patient in patients.items():
        states = findings.states.get(task_id, {})
        counts = [states.get(state, 0) for state in (*STATES, "pending")]
        table.add_row(
            patient.name,
            str(sum(counts)),
            *map(str, counts),
            str(len(patient.grader.requests)),
        )
    return table


def main() -> int:
    """Run, print the table, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=5_040)
    parser.add_argument("--seed", type=int, default=20_261_121)
    arguments = parser.parse_args()
    console.print(f"seed {arguments.seed}")
    with tempfile.TemporaryDirectory(prefix="autotune-chaos-") as folder:
        stack = LocalStack(directory=Path(folder), environment={"SFN_WAIT_SCALE": "0.1"})
        with stack, hospital(arguments.seed) as patients:
            chaos = Chaos(stack, patients, seed=arguments.seed)
            findings = chaos.run(arguments.completions)
    console.print(shown(findings, chaos.patients))
    for violation in findings.violations[:20]:
        console.print(f"[red]violated:[/red] {violation}")
    console.print(f"{len(findings.violations)} violations")
    return 1 if findings.violations else 0


if __name__ == "__main__":
    sys.exit(main())
