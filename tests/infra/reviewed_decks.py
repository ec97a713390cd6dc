"""Permissions of decks that end-to-end tests are not seen to use, each with its reason."""

from tests.infra.reviewing import rare

RARELY_CALLED_OF_DECKS = {
    "DeckFeedbackApi": "records what people say of samples (tests/component/decks)",
    "DeckRunsApi": "estimates, starts and shows runs of decks (tests/component/decks)",
    "AdvanceDeckEdits": "measures edits, and takes those of models (tests/component/decks)",
    "AdvanceDeckRun": "has samples of decks judged (tests/component/decks)",
    "SweepDeckRuns": "redrives runs of decks that are lost (tests/component/decks)",
    "DeckEditsApi": "edits rubrics of decks, and measures edits (tests/component/decks)",
    "DeckMeasuresApi": "measures how far judges agree with people (tests/component/decks)",
    "DecksApi": "makes and shows decks (tests/component/decks)",
    "SamplesApi": "takes in and shows samples of decks (tests/component/decks)",
    "EraseDecks": "erases deleted decks, every two minutes",
    "DeckTelemetryApi": "takes in samples that find their deck (tests/component/decks)",
    "IngestUrlsApi": "makes and shows ingest URLs (tests/component/decks)",
    "IngestApi": "takes samples and decks at ingest URLs (tests/component/decks)",
    "EraseExpired": "erases captured calls whose time is over, every three minutes",
}
"""Functions that a run may see or not."""

_TAKES_CALLS = """
        dynamodb:Query Decks org_*#prompt#*
        dynamodb:GetItem Decks org_*#templates
        dynamodb:Query Decks org_*#templates
        dynamodb:BatchGetItem Decks dck_*
        dynamodb:GetItem Decks dck_*
        dynamodb:PutItem Decks dck_*
        dynamodb:UpdateItem Decks dck_*
        dynamodb:PutItem Decks smp_*
        dynamodb:GetItem Decks org_*#call#*
        dynamodb:PutItem Decks org_*#call#*
        dynamodb:UpdateItem Decks org_*#call#*
        dynamodb:DeleteItem Decks org_*#unmatched
        dynamodb:GetItem Decks org_*#unmatched
        dynamodb:PutItem Decks org_*#unmatched
        dynamodb:Query Decks org_*#unmatched
        dynamodb:UpdateItem Decks org_*#unmatched
        dynamodb:BatchGetItem Decks ump_*
        dynamodb:DeleteItem Decks ump_*
        dynamodb:GetItem Decks ump_*
        dynamodb:PutItem Decks ump_*
        dynamodb:Query Decks ump_*
        dynamodb:UpdateItem Decks ump_*
        s3:DeleteObject Content/content/*
        s3:PutObject Content/content/*
"""
"""What whoever takes in captured calls may do (``DecksStack.grant_take_calls``)."""

OF_DECKS = (
    *(
        one
        for function in ("CaptureCalls", "DeckTelemetryApi", "IngestApi")
        for one in rare(
            function,
            _TAKES_CALLS,
            "Samples find their deck, or are counted (tests/component/decks).",
        )
    ),
    *rare(
        "CaptureCalls",
        """
        dynamodb:GetItem Decks org_*#capture
        dynamodb:BatchGetItem Ledger llm_*
        dynamodb:GetItem Ledger llm_*
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        sqs:ChangeMessageVisibility Captures
        sqs:DeleteMessage Captures
        sqs:GetQueueAttributes Captures
        sqs:GetQueueUrl Captures
        sqs:ReceiveMessage Captures
        """,
        "Chat completions become samples once they were answered (tests/component/decks, and "
        "integrations).",
    ),
    *rare(
        "DecksApi",
        """
        dynamodb:GetItem Decks org_*#capture
        dynamodb:PutItem Decks org_*#capture
        """,
        "Admins say what is captured (tests/component/decks).",
    ),
    *rare(
        "DeckEditsApi",
        """
        dynamodb:PutItem Decks org_*#prompt#*
        dynamodb:PutItem Decks org_*#templates
        dynamodb:UpdateItem Decks org_*#templates
        """,
        "An edited prompt is a version of its deck (tests/component/decks/test_prompt_edits.py).",
    ),
    *rare(
        "AdvanceDeckRun",
        """
        dynamodb:DeleteItem Decks dck_*
        s3:DeleteObject Content/content/*
        s3:PutObject Content/content/*
        """,
        "Large responses are stored, and go where their source was deleted meanwhile "
        "(tests/component/decks/test_prompt_edits.py).",
    ),
    *rare(
        "DeckEditsApi",
        "states:StartExecution SubmitLlmBatch",
        "What a model is asked for edits begins at once (tests/component/decks).",
    ),
    *rare(
        "SweepDeckRuns",
        "dynamodb:UpdateItem Decks dck_*",
        "Runs that are lost for good are counted with what they cost (tests/component/decks).",
    ),
    *rare(
        "IngestApi",
        """
        dynamodb:GetItem Registry
        dynamodb:PutItem Audit org_*
        dynamodb:UpdateItem Registry rate#*
        """,
        "Whoever has an ingest URL is admitted and counted (tests/component/decks).",
    ),
    *rare(
        "IngestUrlsApi",
        """
        dynamodb:GetItem Registry
        dynamodb:PutItem Audit org_*
        dynamodb:PutItem Registry nonce#*
        dynamodb:UpdateItem Registry rate#*
        kms:GenerateMac SecretsKeysApiKey
        """,
        "Its calls are signed as others are (tests/component/decks).",
    ),
    *rare(
        "IngestUrlsApi",
        """
        dynamodb:GetItem Decks dck_*
        dynamodb:PutItem Registry igu_*
        dynamodb:UpdateItem Registry igu_*
        dynamodb:UpdateItem Registry entities#*
        dynamodb:Query Registry/index/byCollection
        """,
        "Ingest URLs are made, listed and revoked (tests/component/decks).",
    ),
    *rare(
        "IngestApi",
        """
        dynamodb:UpdateItem Decks org_*#decks
        dynamodb:PutItem Decks org_*#prompt#*
        dynamodb:PutItem Decks org_*#templates
        dynamodb:UpdateItem Decks org_*#templates
        """,
        "Decks are made at ingest URLs (tests/component/decks).",
    ),
    *rare(
        "DeckTelemetryApi",
        """
        dynamodb:UpdateItem Decks org_*#decks
        dynamodb:PutItem Decks org_*#prompt#*
        dynamodb:PutItem Decks org_*#templates
        dynamodb:UpdateItem Decks org_*#templates
        """,
        "Prompts that no deck has become one (tests/component/decks).",
    ),
    *rare(
        "EraseDecks",
        """
        dynamodb:DeleteItem Decks org_*#prompt#*
        dynamodb:DeleteItem Decks org_*#templates
        dynamodb:PutItem Decks org_*#templates
        dynamodb:UpdateItem Decks org_*#templates
        """,
        "Prompts of deleted decks are found no more (tests/component/decks).",
    ),
    *rare(
        "EraseExpired",
        """
        dynamodb:Query Decks/index/dueDecks
        dynamodb:BatchGetItem Decks dck_*
        dynamodb:GetItem Decks dck_*
        dynamodb:DeleteItem Decks dck_*
        dynamodb:Query Decks dck_*
        dynamodb:UpdateItem Decks dck_*
        dynamodb:DeleteItem Decks smp_*
        dynamodb:GetItem Decks smp_*
        dynamodb:Query Decks smp_*
        dynamodb:DeleteItem Decks grd_*
        dynamodb:Query Decks grd_*
        dynamodb:DeleteItem Decks ump_*
        dynamodb:GetItem Decks ump_*
        dynamodb:UpdateItem Decks ump_*
        dynamodb:DeleteItem Decks org_*#unmatched
        dynamodb:UpdateItem Decks org_*#unmatched
        s3:DeleteObject Content/content/*
        """,
        "Captured calls are erased once their time is over (tests/component/decks).",
    ),
    *rare(
        "AdvanceDeckRun",
        "dynamodb:UpdateItem Decks dck_*",
        "A deck counts the graders that a model proposes (tests/component/decks).",
    ),
    *rare(
        "AdvanceDeckRun",
        """
        dynamodb:GetItem Budgets waiting#*
        dynamodb:PutItem Budgets waiting#*
        """,
        "Organisations share the functions that go on with runs; on one machine these have no "
        "bound (tests/component/decks/test_run_shares.py).",
    ),
    *rare(
        "DeckRunsApi",
        """
        dynamodb:DeleteItem Decks dck_*
        dynamodb:PutItem Decks org_*#prompt#*
        dynamodb:PutItem Decks org_*#templates
        dynamodb:UpdateItem Decks org_*#templates
        """,
        "Decks are made, and go again where no model can propose graders (tests/component/decks).",
    ),
    *rare(
        "DecksApi",
        """
        dynamodb:BatchGetItem Decks dck_*
        dynamodb:GetItem Decks dck_*
        dynamodb:Query Decks dck_*
        dynamodb:DeleteItem Decks dck_*
        dynamodb:PutItem Decks dck_*
        dynamodb:UpdateItem Decks dck_*
        dynamodb:UpdateItem Decks org_*#decks
        dynamodb:PutItem Decks org_*#prompt#*
        dynamodb:PutItem Decks org_*#templates
        dynamodb:UpdateItem Decks org_*#templates
        dynamodb:Query Decks/index/byCollection
        dynamodb:PutItem Registry task_*
        dynamodb:UpdateItem Registry entities#*
        """,
        "Decks are made, changed and deleted with their graders (tests/component/decks).",
    ),
    *rare(
        "DeckMeasuresApi",
        """
        dynamodb:PutItem Decks dck_*
        dynamodb:PutItem Registry grd_*
        dynamodb:DeleteItem Registry health#*
        dynamodb:UpdateItem Registry entities#*
        """,
        "Graders are published, and again once they changed (tests/component/decks).",
    ),
    *rare(
        "SamplesApi",
        """
        dynamodb:Query Decks smp_*
        dynamodb:BatchGetItem Decks dck_*
        dynamodb:BatchGetItem Decks smp_*
        dynamodb:GetItem Decks dck_*
        dynamodb:Query Decks dck_*
        dynamodb:BatchGetItem Decks grd_*
        dynamodb:Query Decks grd_*
        dynamodb:DeleteItem Decks dck_*
        dynamodb:DeleteItem Decks grd_*
        dynamodb:PutItem Decks grd_*
        dynamodb:UpdateItem Decks grd_*
        dynamodb:DeleteItem Decks smp_*
        dynamodb:PutItem Decks dck_*
        dynamodb:PutItem Decks smp_*
        dynamodb:UpdateItem Decks dck_*
        dynamodb:PutItem Registry grd_*
        s3:ListBucket Content
        s3:DeleteObject Content/content/*
        s3:GetObject Content/content/*
        s3:PutObject Content/content/*
        """,
        "Samples are taken in, with labels too, read and deleted (tests/component/decks).",
    ),
    *rare(
        "EraseDecks",
        """
        dynamodb:Query Decks smp_*
        dynamodb:Query Decks/index/byCollection
        dynamodb:Query Decks dck_*
        dynamodb:Query Decks grd_*
        dynamodb:BatchWriteItem Decks dck_*
        dynamodb:BatchWriteItem Decks grd_*
        dynamodb:BatchWriteItem Decks smp_*
        dynamodb:DeleteItem Decks dck_*
        dynamodb:GetItem Registry grd_*
        dynamodb:PutItem Registry grd_*
        s3:ListBucket Content
        s3:DeleteObject Content/content/*
        """,
        "Whatever belongs to decks that were deleted (tests/component/decks).",
    ),
    *rare(
        "AdvanceDeckRun",
        """
        dynamodb:DeleteItem Decks smp_*
        s3:GetObject Content/content/*
        """,
        "Large samples are judged, and results of deleted samples go (tests/component/decks).",
    ),
    *rare(
        "DeckEditsApi",
        """
        dynamodb:BatchGetItem Budgets money#*
        dynamodb:BatchGetItem Ledger
        dynamodb:BatchWriteItem Ledger
        dynamodb:GetItem Budgets money#*
        dynamodb:GetItem Ledger
        dynamodb:PutItem Ledger
        dynamodb:UpdateItem Ledger
        s3:DeleteObject LedgerTexts/ledger/*
        s3:GetObject Content/content/*
        """,
        "A model is asked for edits, and replays read labelled samples (tests/component/decks).",
    ),
    *rare(
        "AdvanceDeckEdits",
        """
        dynamodb:BatchGetItem Budgets money#*
        dynamodb:BatchGetItem Decks
        dynamodb:BatchGetItem Ledger
        dynamodb:BatchWriteItem Ledger
        dynamodb:GetItem Budgets money#*
        dynamodb:GetItem Decks
        dynamodb:GetItem Ledger
        dynamodb:GetItem Registry
        dynamodb:PutItem Decks dck_*
        dynamodb:PutItem Ledger
        dynamodb:Query Decks
        dynamodb:UpdateItem Decks dck_*
        dynamodb:UpdateItem Ledger
        s3:DeleteObject LedgerTexts/ledger/*
        s3:GetObject Content/content/*
        s3:ListBucket Content
        states:StartExecution SubmitLlmBatch
        """,
        "A model is asked for edits, and replays have ended (tests/component/decks).",
    ),
    *rare(
        "DeckFeedbackApi",
        """
        dynamodb:BatchWriteItem Decks grd_*
        dynamodb:GetItem Decks grd_*
        dynamodb:Query Decks/index/byCollection
        dynamodb:UpdateItem Decks grd_*
        s3:GetObject Content/content/*
        """,
        "Labels one by one, with leases and corrections, and the inbox (tests/component/decks).",
    ),
    *rare(
        "DeckFeedbackApi",
        """
        dynamodb:PutItem Decks dck_*
        dynamodb:PutItem Registry grd_*
        """,
        "Fresh labels suspend a calibration, looks are noted (tests/component/decks).",
    ),
    *rare(
        "AdvanceDeckRun",
        "dynamodb:PutItem Registry grd_*",
        "Judgements that come after their labels suspend a calibration (tests/component/decks).",
    ),
    *rare(
        "SweepDeckRuns",
        """
        dynamodb:DeleteItem Decks drn_*
        dynamodb:DeleteItem Decks grd_*
        dynamodb:GetItem Decks dck_*
        dynamodb:PutItem Decks dck_*
        dynamodb:UpdateItem Decks org_*#decks
        states:StartExecution WorkDeckRun
        """,
        "Runs whose execution was lost, or whose deck was deleted (tests/component/decks).",
    ),
)
