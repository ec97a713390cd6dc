"""The calls of ``client.exports``."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Unpack

from autotune.client.arguments import fields_of, request_of
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.filters import score_filters
from autotune.client.submissions import LONGEST_KEY, checked_key
from autotune.protocol.exports import (
    CreateExportRequest,
    Export,
    ExportDetails,
    ExportFormat,
    ExportList,
    ExportResponse,
    ExportShape,
    PreferenceOptions,
    StepwiseOptions,
    UnpairedOptions,
)

_export = returning(ExportResponse, lambda answer: answer.export)
_exports = returning(ExportList, lambda page: (page.exports, page.next_token))


def create_export(
    *,
    format: ExportFormat,  # noqa: A002 - its name on the wire
    shape: ExportShape | None = None,
    task_id: str | None = None,
    model_id: str | None = None,
    grader_id: str | None = None,
    min_score: float | None = None,
    max_score: float | None = None,
    start_date: datetime | None = None,
    end_date: datetime | None = None,
    preference: PreferenceOptions | Mapping[str, Any] | None = None,
    unpaired: UnpairedOptions | Mapping[str, Any] | None = None,
    stepwise: StepwiseOptions | Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[ExportDetails]:
    """Have the verdicts that match, as of now, written to files; return before they are.

    Args:
        format: ``jsonl`` (gzipped), ``parquet`` or ``tfrecord``.
        shape: ``scores`` (default), ``preference``, ``unpaired`` or ``stepwise``.
        min_score: lowest score, 0 to 1, included; as ``max_score``.
        start_date: the earliest decision, included. A time without a zone is local.
        end_date: the latest decision, left out.
        preference: how pairs are made, such as ``{"min_score_delta": 0.2, "sample_size": 10_000}``.
        unpaired: from which score on a response is good, such as ``{"threshold": 0.7}``.
        stepwise: the same of a step, and what separates steps.
        idempotency_key: 1 to 200 visible ASCII characters; the same key and arguments again
            return the first export. A fresh one is made where none is given.

    Raises:
        InvalidInputError: an argument is out of its range, or options are of another shape;
            nothing was sent.
        InvalidRequestError: there is no such task in this organisation, or the key came before
            with other arguments.
    """
    filters = score_filters(
        task_id=task_id,
        model_id=model_id,
        grader_id=grader_id,
        min_score=min_score,
        max_score=max_score,
        start_date=start_date,
        end_date=end_date,
    )
    request = request_of(
        CreateExportRequest,
        format=format,
        shape=shape,
        filters=filters,
        preference=fields_of(preference),
        unpaired=fields_of(unpaired),
        stepwise=fields_of(stepwise),
    )
    return call(
        "POST",
        "exports",
        read=_export,
        body=request,
        idempotency_key=checked_key(idempotency_key, longest=LONGEST_KEY),
        **options,
    )


def get_export(export_id: str, **options: Unpack[CallOptions]) -> Call[ExportDetails]:
    """Read an export: how far it is, and the links to its files once it is completed.

    Raises:
        NotFoundError: there is no such export in this organisation, or it has expired.
    """
    return call("GET", "exports", export_id, read=_export, **options)


def list_exports(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[Export]:
    """Walk through the organisation's exports of seven days, oldest first.

    Args:
        page_size: exports fetched at a time, 1 to 200.
    """
    return listing("exports", read=_exports, page_size=page_size, **options)


def delete_export(export_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete an export's files, and stop it where it is being written; it is ``canceled`` then.

    Raises:
        NotFoundError: there is no such export in this organisation.
    """
    return call("DELETE", "exports", export_id, read=nothing, **options)
