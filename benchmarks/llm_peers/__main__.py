"""``python -m benchmarks.llm_peers [client …]``: run clients against the fake, store what came.

Takes some fifteen minutes. What is stored for clients that are not named stays; ``--case`` runs
some cases only. ``docs/ledger.md`` is written from what is stored. Nothing outside this machine is
asked but for the packages of environments that are not made yet.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.llm_peers import running
from benchmarks.llm_peers.cases import CASES, Case
from benchmarks.llm_peers.peers import LLM_PEERS, LlmPeer
from benchmarks.llm_peers.stored import OURS, read, write
from integrations.environments import InstallationError
from local.deployment import REPOSITORY_ROOT
from local.progress import SilentProgress

AT_ONCE = 2


def main() -> int:
    """Run the clients named, or all; store the results; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.llm_peers", description=__doc__)
    names = [OURS, *(peer.name for peer in LLM_PEERS)]
    parser.add_argument("clients", nargs="*", choices=(*names, []), help="all of them unless named")
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES])
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.case or case.name in arguments.case]
    stored = read()
    for name in arguments.clients or names:
        peer = next((one for one in LLM_PEERS if one.name == name), None)
        before = stored["clients"].get(name, {})
        found = _ours(cases) if peer is None else _theirs(peer, cases)
        kept = before.get("cases", {}) if arguments.case else {}
        stored["clients"][name] = {
            **found,
            "measured": datetime.now(UTC).date().isoformat(),
            "cases": {**kept, **found["cases"]},
        }
        write(stored)
    page = [sys.executable, "-m", "tools.ledger_peers"]
    subprocess.run(page, cwd=REPOSITORY_ROOT, check=True)  # noqa: S603 - our own
    return 0


def _theirs(peer: LlmPeer, cases: Sequence[Case]) -> dict[str, Any]:
    try:
        peer.environment.make(SilentProgress())
    except (InstallationError, OSError) as error:
        return {"version": peer.version, "reason": str(error)[:300], "cases": {}}

    def run(case: Case) -> Any:
        observed = running.run(peer, case).as_json()
        print(f"{peer.name} {case.name}: {observed}", flush=True)
        return observed

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(run, cases))
    by_name = {case.name: one for case, one in zip(cases, found, strict=True)}
    return {"version": peer.version, "cases": by_name}


def _ours(cases: Sequence[Case]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="autotune-llm-ours-") as folder:
        results = Path(folder) / "results.json"
        subprocess.run(  # noqa: S603 - our own
            [
                *(sys.executable, "-m", "tests.support.ledger_cases", str(results)),
                *(case.name for case in cases),
            ],
            cwd=REPOSITORY_ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return {"version": "this repository", "cases": json.loads(results.read_text())}


if __name__ == "__main__":
    sys.exit(main())
