"""Permissions of exports that end-to-end tests are not seen to use, each with its reason."""

from tests.infra.reviewing import rare

RARELY_CALLED_OF_EXPORTS = {
    "FailExport": "ends exports of which all attempts failed",
}
"""Functions that a run may see or not."""

OF_EXPORTS = (
    *rare(
        "WriteExport",
        """
        dynamodb:BatchGetItem Ledger
        dynamodb:Query Ledger/index/rowsByStatus
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        """,
        "Requests to language models are exported with their texts (tests/component/ledger).",
    ),
    *rare(
        "WriteExport",
        """
        dynamodb:GetItem Ledger
        dynamodb:Query Ledger
        """,
        "An export of a batch reads its own list (tests/component/ledger/test_own_lists.py).",
    ),
    *rare(
        "ExportsApi",
        "dynamodb:DeleteItem Registry exp_*",
        "An export that is deleted while it is open, or whose execution could not be started.",
    ),
    *(
        each
        for function in ("FailExport", "SweepExports")
        for each in rare(
            function,
            """
            dynamodb:GetItem Registry
            dynamodb:PutItem Registry exp_*
            dynamodb:DeleteItem Registry exp_*
            s3:ListBucket Exports
            s3:DeleteObject Exports/exports/*
            """,
            "An export whose execution failed or was lost (tests/component/exports).",
        )
    ),
    *rare(
        "SweepExports",
        "states:StartExecution ExportScores",
        "An export whose execution was lost begins again (tests/component/exports).",
    ),
    *rare(
        "WriteExport",
        """
        s3:ListBucket Exports
        s3:DeleteObject Exports/exports/*
        """,
        "A step that finds its export deleted or canceled removes the files that it wrote.",
    ),
)
