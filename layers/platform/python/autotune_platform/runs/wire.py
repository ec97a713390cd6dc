"""Runs as callers see them."""

from autotune.protocol import runs as wire
from autotune_platform.runs.models import RunSummary
from autotune_platform.runs.service import CountedRun


def run_on_wire(counted: CountedRun) -> wire.Run:
    """Return a run with the counts of its verdicts."""
    return wire.Run(**counted.run.model_dump(), counts=counted.counts)


def summary_on_wire(summary: RunSummary) -> wire.RunSummary:
    """Return a run as a list shows it."""
    return wire.RunSummary.model_validate(summary, from_attributes=True)
