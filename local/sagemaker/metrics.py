"""Metrics of a job, read from what it prints by the expressions that its owner gave."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.sagemaker.records import now


def final_metrics(log_file: Path, algorithm: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the last value of each metric that was printed.

    Args:
        log_file: What the job printed; it may not be there.
        algorithm: Its ``AlgorithmSpecification``.
    """
    definitions = algorithm.get("MetricDefinitions", [])
    if not definitions or not log_file.exists():
        return []
    text = log_file.read_text(errors="replace")
    found = []
    for definition in definitions:
        values = [value for value in map(_number, _captured(definition["Regex"], text)) if value]
        if values:
            value = float(values[-1])
            found.append({"MetricName": definition["Name"], "Value": value, "Timestamp": now()})
    return found


def _captured(pattern: str, text: str) -> list[str]:
    try:
        return [match[1] for match in re.finditer(pattern, text)]
    except (re.error, IndexError):  # SageMaker goes on without a metric, too
        return []


def _number(text: str) -> str | None:
    try:
        float(text)
    except ValueError:
        return None
    return text
