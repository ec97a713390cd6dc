"""Options that say which requests to language models are meant."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from autotune.cli.invocation import require_id, stop
from autotune.protocol.llm_batches import LlmBatchStatus
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_requests import LlmErrorCode, LlmStatus

AllOfThem = Annotated[
    bool, typer.Option("--all", help="All requests are meant: no other filter is needed.")
]
_NAMES = {
    "connection": "connection_id",
    "batch": "batch_id",
    "came_with": "import_id",
    "experiment": "experiment_id",
    "rubric": "rubric_id",
    "score": "score_id",
    "evidence": "evidence_id",
    "sample": "sample_id",
    "completion": "completion_id",
    "deck": "deck_id",
    "error": "error_code",
    "since": "created_after",
    "until": "created_before",
}


Connection = Annotated[str | None, typer.Option(help="Only of this connection.")]
Model = Annotated[str | None, typer.Option(help="Only of this model.")]
Since = Annotated[
    datetime | None, typer.Option(help="Earliest creation, included; local without a zone.")
]
Until = Annotated[
    datetime | None, typer.Option(help="Latest creation, left out; local without a zone.")
]


@dataclass(frozen=True, kw_only=True)
class RequestFilterOptions:
    """Filters of requests."""

    status: Annotated[LlmStatus | None, typer.Option(help="Only those in this status.")] = None
    purpose: Annotated[str | None, typer.Option(help="Only for this.")] = None
    provider: Annotated[LlmProvider | None, typer.Option(help="Only of this provider.")] = None
    model: Model = None
    connection: Connection = None
    batch: Annotated[
        str | None, typer.Option(help="Only those that are in this batch, or were in it last.")
    ] = None
    came_with: Annotated[
        str | None, typer.Option("--import", help="Only those that came with this import.")
    ] = None
    experiment: Annotated[
        str | None, typer.Option(help="Only those whose trace has this experimentId.")
    ] = None
    rubric: Annotated[str | None, typer.Option(help="The same by rubricId.")] = None
    score: Annotated[str | None, typer.Option(help="The same by scoreId.")] = None
    evidence: Annotated[str | None, typer.Option(help="The same by evidenceId.")] = None
    sample: Annotated[str | None, typer.Option(help="The same by sampleId.")] = None
    completion: Annotated[str | None, typer.Option(help="Only those about this completion.")] = None
    deck: Annotated[str | None, typer.Option(help="Only those for this deck.")] = None
    custom_id: Annotated[str | None, typer.Option(help="Only those with this customId.")] = None
    error: Annotated[LlmErrorCode | None, typer.Option(help="Only those that ended so.")] = None
    since: Since = None
    until: Until = None

    def arguments(self) -> dict[str, Any]:
        """Return what was given, as arguments of ``client.llm.list``."""
        return _arguments(asdict(self))

    def required(self, *, every: bool) -> dict[str, Any]:
        """Return the arguments; end the command where nothing says which requests are meant."""
        arguments = self.arguments()
        if not arguments and not every:
            stop("say which requests are meant, or give --all")
        return arguments


@dataclass(frozen=True, kw_only=True)
class BatchFilterOptions:
    """Filters of batches."""

    needs_operator: Annotated[
        bool,
        typer.Option("--needs-operator", help="Only those that do not go on by themselves."),
    ] = False
    differs: Annotated[
        bool,
        typer.Option("--differs", help="Only those charged otherwise than their provider reports."),
    ] = False
    status: Annotated[LlmBatchStatus | None, typer.Option(help="Only those in this status.")] = None
    connection: Connection = None
    model: Model = None
    since: Since = None
    until: Until = None

    def arguments(self) -> dict[str, Any]:
        """Return what was given, as arguments of ``client.llm.batches.list``."""
        return _arguments(asdict(self))


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, by the names that the client has for them."""
    if options["connection"] is not None:
        require_id(options["connection"], "llc", name="connection", listed_by="llm connections")
    given = {name: value for name, value in options.items() if value is not None}
    return {_NAMES.get(name, name): value for name, value in given.items()}
