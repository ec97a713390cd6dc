"""What was measured last, as it is kept in the repository."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results.json"
OURS = "Autotune"


def read() -> dict[str, Any]:
    """Return what is stored, by client and case."""
    if not RESULTS.is_file():
        return {"clients": {}}
    found: dict[str, Any] = json.loads(RESULTS.read_text())
    return found


def write(stored: dict[str, Any]) -> None:
    """Store it, one case a line."""
    clients = []
    for name, client in stored["clients"].items():
        cases = ",\n".join(
            f"      {json.dumps(case)}: {json.dumps(observed)}"
            for case, observed in client["cases"].items()
        )
        head = {key: value for key, value in client.items() if key != "cases"}
        fields = "".join(f"    {json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items())
        clients.append(f'  {json.dumps(name)}: {{\n{fields}    "cases": {{\n{cases}\n    }}\n  }}')
    RESULTS.write_text('{"clients": {\n' + ",\n".join(clients) + "\n}}\n")
