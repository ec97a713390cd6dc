"""Permissions of the ledger that end-to-end tests are not seen to use, each with its reason."""

from tests.infra.reviewing import rare

RARELY_CALLED_OF_LEDGER = {
    "ImportsApi": "makes, starts and shows imports of files (tests/component/ledger)",
    "ChatApi": "passes chat completions through for tokens (tests/component/ledger)",
    "OpenAiApi": "answers in OpenAI's words for tokens (tests/component/ledger)",
    "ImportRequests": "takes imported files in (tests/component/ledger)",
}
"""Functions that a run may see or not."""

OF_LEDGER = (
    *rare(
        "ImportsApi",
        """
        dynamodb:GetItem Registry
        dynamodb:UpdateItem Registry rate#*
        dynamodb:PutItem Registry nonce#*
        dynamodb:PutItem Audit org_*
        kms:GenerateMac SecretsKeysApiKey
        dynamodb:BatchGetItem Ledger
        dynamodb:GetItem Ledger
        dynamodb:PutItem Ledger
        dynamodb:UpdateItem Ledger
        dynamodb:Query Ledger/index/rowsByStatus
        s3:ListBucket Exports
        s3:DeleteObject Exports/exports/*
        s3:GetObject Exports/exports/*
        s3:PutObject Exports/exports/*
        states:StartExecution ImportLlmRequests
        """,
        "Imports are made, started, listed, read and deleted by keys (tests/component/ledger).",
    ),
    *rare(
        "ConnectionsApi",
        "dynamodb:PutItem Registry llt_*",
        "Tokens for OpenAI's batch API are made by keys (tests/component/ledger).",
    ),
    *rare(
        "ConnectionsApi",
        "dynamodb:UpdateItem Registry llt_*",
        "Tokens for OpenAI's batch API are revoked by keys (tests/component/ledger).",
    ),
    *rare(
        "ChatApi",
        """
        dynamodb:GetItem Registry
        dynamodb:UpdateItem Registry rate#*
        dynamodb:PutItem Audit org_*
        dynamodb:GetItem Ledger
        dynamodb:PutItem Ledger llm_*
        dynamodb:UpdateItem Ledger llm_*
        dynamodb:UpdateItem Ledger cost#*
        dynamodb:UpdateItem Ledger traced#*
        dynamodb:UpdateItem Ledger money#*
        dynamodb:GetItem Budgets
        dynamodb:UpdateItem Budgets money#*
        dynamodb:PutItem Budgets llc_*
        dynamodb:UpdateItem Budgets llc_*
        dynamodb:GetItem Budgets waiting#*
        dynamodb:PutItem Budgets waiting#*
        dynamodb:GetItem Decks org_*#capture
        sqs:SendMessage Captures
        s3:PutObject LedgerTexts/ledger/*
        kms:Decrypt ProviderKeysKey
        """,
        "Chat completions are passed through for tokens (tests/component/ledger/test_chats.py).",
    ),
    *rare(
        "ChatApi",
        """
        dynamodb:BatchGetItem Ledger llm_*
        dynamodb:UpdateItem Ledger call#*
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        """,
        "A program sends a chat completion again with its idempotency key "
        "(tests/component/ledger/test_chats_again.py).",
    ),
    *rare(
        "OpenAiApi",
        """
        dynamodb:GetItem Registry
        dynamodb:UpdateItem Registry rate#*
        dynamodb:DeleteItem Registry llf_*
        dynamodb:PutItem Registry llf_*
        dynamodb:PutItem Registry lob_*
        dynamodb:UpdateItem Registry lob_*
        dynamodb:PutItem Registry openai-batch#*
        dynamodb:Query Registry/index/byCollection
        dynamodb:PutItem Audit org_*
        dynamodb:BatchGetItem Ledger
        dynamodb:GetItem Ledger
        dynamodb:PutItem Ledger lim_*
        dynamodb:UpdateItem Ledger lim_*
        dynamodb:UpdateItem Ledger llm_*
        dynamodb:UpdateItem Ledger open#*
        s3:ListBucket LedgerTexts
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket Exports
        s3:DeleteObject Exports/exports/*
        s3:GetObject Exports/exports/*
        s3:PutObject Exports/exports/*
        states:StartExecution ImportLlmRequests
        """,
        "Files and batches of OpenAI's batch API, asked for with a token (tests/component/ledger).",
    ),
    *rare(
        "ImportRequests",
        """
        dynamodb:GetItem Budgets money#*
        dynamodb:GetItem Registry
        dynamodb:BatchWriteItem Ledger
        dynamodb:GetItem Ledger
        dynamodb:PutItem Ledger
        dynamodb:UpdateItem Ledger
        s3:PutObject LedgerTexts/ledger/*
        s3:ListBucket Exports
        s3:DeleteObject Exports/exports/*
        s3:GetObject Exports/exports/*
        s3:PutObject Exports/exports/*
        states:StartExecution SubmitLlmBatch
        """,
        "A file of requests is taken in, chunk by chunk (tests/component/ledger).",
    ),
    *rare(
        "SweepLedger",
        "states:StartExecution ImportLlmRequests",
        "An import whose execution was lost begins again (tests/component/ledger).",
    ),
    *(
        reviewed
        for function in ("ConnectionsApi", "WorkLlmBatch")
        for reviewed in rare(
            function,
            "sts:AssumeRole iam::*:role/autotune-bedrock*",
            "Connections to Bedrock have roles of their owners' accounts "
            "(tests/component/ledger/test_jobs_bedrock.py).",
        )
    ),
    *rare(
        "ConnectionsApi",
        "dynamodb:Query Ledger llc_*",
        "A key that was replaced is deleted once no job needs it "
        "(tests/component/ledger/test_key_versions.py).",
    ),
    *rare(
        "WorkLlmBatch",
        "dynamodb:PutItem Budgets waiting#*",
        "Organisations share the functions that ask models; on one machine these have no bound "
        "(tests/component/ledger/test_step_shares.py).",
    ),
    *rare(
        "WorkLlmBatch",
        "dynamodb:DeleteItem Ledger llc_*",
        "A provider's job that has ended needs its key no more "
        "(tests/component/ledger/test_key_versions.py).",
    ),
    *rare(
        "WorkLlmBatch",
        "dynamodb:UpdateItem Budgets llc_*",
        "A connection's requests per second and bytes under way are taken where a single call is "
        "made (tests/component/ledger/test_throttling.py).",
    ),
    *rare(
        "ConnectionsApi",
        "s3:PutObject LedgerTexts/ledger/*",
        "A provider that is verified answers with more than an item holds.",
    ),
    *rare(
        "LedgerApi",
        "dynamodb:Query Ledger",
        "Requests of a batch are read from its list (tests/component/ledger/test_own_lists.py).",
    ),
    *rare(
        "LlmBatchesApi",
        "dynamodb:UpdateItem Ledger",
        "Somebody cancels a batch while it is under way (tests/component/ledger/test_jobs.py).",
    ),
    *rare(
        "LedgerApi",
        "s3:ListBucket LedgerTexts",
        "S3 says that a text is gone rather than forbidden, which erasing may race with.",
    ),
    *rare(
        "WorkLlmBatch",
        """
        dynamodb:PutItem Registry llc_*
        s3:AbortMultipartUpload LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        """,
        "A refused account pauses its connection, a long upload breaks off, a text may be gone.",
    ),
    *rare(
        "SweepLedger",
        """
        dynamodb:GetItem Ledger
        dynamodb:UpdateItem Budgets money#*
        """,
        "A batch whose execution was lost is redriven, a call whose caller was killed is booked.",
    ),
)
