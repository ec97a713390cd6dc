"""Permissions of the apprentice that end-to-end tests are not seen to use, each with its reason."""

from tests.infra.reviewed_trainings import OF_TRAININGS, RARELY_CALLED_OF_TRAININGS
from tests.infra.reviewing import rare

RARELY_CALLED_OF_APPRENTICE = {
    **RARELY_CALLED_OF_TRAININGS,
    "ApprenticeApi": "keeps tasks of the apprentice (tests/component/apprentice)",
    "ApprenticeRunsApi": "takes inputs of tasks (tests/component/apprentice/test_runs.py)",
    "WorkRuns": "has models answer runs (tests/component/apprentice/test_runs.py)",
    "ApprenticeReportsApi": "tells where tasks stand (tests/component/apprentice/test_reports.py)",
    "AnswerLinear": "answers for students (tests/component/apprentice/test_linear_students.py)",
    "ApprenticeExamplesApi": "has examples (tests/component/apprentice/test_example_routes.py)",
    "FollowRuns": "counts runs of the apprentice (tests/component/apprentice/test_folding.py)",
    "SweepRuns": "ends runs that were lost (tests/component/apprentice/test_sweeping.py)",
}
"""Functions that a run may see or not."""

OF_APPRENTICE = (
    *OF_TRAININGS,
    *rare(
        "WorkRuns",
        """
        dynamodb:UpdateItem Apprentice apt_*#hosting
        sagemaker:InvokeEndpoint endpoint/*
        sagemaker:InvokeEndpoint inference-component/*
        """,
        "Versions at SageMaker are asked (tests/component/apprentice/test_hostings.py).",
    ),
    *rare(
        "SweepLedger",
        """
        dynamodb:GetItem Apprentice apr_*
        dynamodb:UpdateItem Apprentice apr_*
        dynamodb:GetItem Apprentice apt_*
        """,
        "A worker was killed while it asked (tests/component/apprentice/test_killed_runs.py).",
    ),
    *rare(
        "ApprenticeRunsApi",
        """
        dynamodb:UpdateItem Apprentice apr_*
        dynamodb:DeleteItem Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:BatchWriteItem Ledger llm_*
        s3:DeleteObject LedgerTexts/ledger/*
        """,
        "Texts of a run are deleted (tests/component/apprentice/test_erased_runs.py).",
    ),
    *rare(
        "ApprenticeRunsApi",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice apr_*
        dynamodb:PutItem Apprentice apr_*
        dynamodb:Query Apprentice apt_*
        dynamodb:BatchGetItem Ledger llm_*
        dynamodb:GetItem Ledger llm_*
        dynamodb:GetItem Budgets waiting#*
        dynamodb:PutItem Budgets waiting#*
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        sqs:SendMessage Runs
        lambda:InvokeFunction WorkRunsFunction
        """,
        "Runs are started, waited for and read (tests/component/apprentice/test_runs.py).",
    ),
    *rare(
        "WorkRuns",
        """
        dynamodb:GetItem Registry
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice apr_*
        dynamodb:PutItem Apprentice apr_*
        dynamodb:UpdateItem Apprentice apr_*
        dynamodb:GetItem Budgets
        dynamodb:UpdateItem Budgets money#*
        dynamodb:PutItem Budgets grd_*
        dynamodb:PutItem Budgets waiting#*
        dynamodb:UpdateItem Budgets grd_*
        kms:GenerateMac SecretsKeysGrader
        dynamodb:GetItem Ledger
        dynamodb:BatchGetItem Ledger llm_*
        dynamodb:PutItem Ledger llm_*
        dynamodb:UpdateItem Ledger llm_*
        dynamodb:UpdateItem Ledger cost#*
        dynamodb:UpdateItem Ledger traced#*
        dynamodb:UpdateItem Ledger money#*
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        s3:PutObject LedgerTexts/ledger/*
        kms:Decrypt ProviderKeysKey
        sts:AssumeRole iam::*:role/autotune-bedrock*
        sqs:SendMessage Runs
        sqs:ChangeMessageVisibility Runs
        sqs:DeleteMessage Runs
        sqs:GetQueueAttributes Runs
        sqs:GetQueueUrl Runs
        sqs:ReceiveMessage Runs
        lambda:InvokeFunction AnswerLinearFunction
        lambda:InvokeFunction ScoreSimilarityFunction
        """,
        "Models answer runs, also after a worker was killed (tests/component/apprentice).",
    ),
    *rare(
        "AnswerLinear",
        """
        s3:GetObject ApprenticeFiles/apprentice/apt_*/models/*
        s3:ListBucket ApprenticeFiles
        """,
        "A linear student answers in place of the paid model (tests/component/apprentice).",
    ),
    *rare(
        "ScoreSimilarity",
        """
        s3:GetObject ApprenticeFiles/apprentice/embeddings/*
        s3:ListBucket ApprenticeFiles
        """,
        "Answers are compared by their meaning (component/apprentice/test_similarity.py).",
    ),
    *rare(
        "ApprenticeApi",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:BatchWriteItem Apprentice apr_*
        dynamodb:BatchWriteItem Apprentice apt_*
        dynamodb:DeleteItem Apprentice apt_*
        dynamodb:PutItem Apprentice apt_*
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:Query Apprentice org_*#tasks
        dynamodb:DeleteItem Apprentice org_*#tasks
        dynamodb:PutItem Apprentice org_*#tasks
        dynamodb:UpdateItem Apprentice org_*#tasks
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        """,
        "Tasks are put, read and deleted (tests/component/apprentice).",
    ),
    *rare(
        "ChatApi",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice apr_*
        dynamodb:PutItem Apprentice apr_*
        dynamodb:Query Apprentice apt_*
        dynamodb:GetItem Ledger llm_*
        sqs:SendMessage Runs
        lambda:InvokeFunction WorkRunsFunction
        """,
        "Chat completions of tasks are runs (tests/component/apprentice/test_chats.py).",
    ),
    *rare(
        "ConnectionsApi",
        "dynamodb:BatchGetItem Apprentice org_*#tasks",
        "Tokens are made of tasks (tests/component/apprentice/test_tokens.py).",
    ),
    *rare(
        "ApprenticeApi",
        """
        dynamodb:ConditionCheckItem Apprentice apt_*
        dynamodb:ConditionCheckItem Apprentice org_*#tasks
        dynamodb:UpdateItem Apprentice apt_*
        """,
        "Versions are registered, promoted and retired (tests/component/apprentice).",
    ),
    *rare(
        "ApprenticeApi",
        """
        dynamodb:GetItem Ledger llc_*
        kms:Decrypt ProviderKeysKey
        """,
        "Servers of small models that demand a key (component/apprentice/test_keyed_servers.py).",
    ),
    *rare(
        "ApprenticeApi",
        "kms:GetPublicKey CertificatesKey",
        "Whoever checks certificates reads the key (component/apprentice/test_certificates.py).",
    ),
    *rare(
        "ApprenticeReportsApi",
        """
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice apt_*
        dynamodb:PutItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:GetItem Budgets money#org_*#apt_*
        dynamodb:GetItem Registry
        dynamodb:PutItem Audit org_*
        dynamodb:PutItem Registry nonce#*
        dynamodb:UpdateItem Registry rate#*
        kms:GenerateMac SecretsKeysApiKey
        """,
        "Reports read what others count (tests/component/apprentice/test_reports.py).",
    ),
    *rare(
        "ApprenticeExamplesApi",
        """
        dynamodb:ConditionCheckItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:BatchGetItem Apprentice apr_*
        dynamodb:BatchGetItem Apprentice apt_*
        dynamodb:DeleteItem Apprentice apt_*
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:GetItem Budgets money#org_*#apt_*
        dynamodb:BatchGetItem Ledger llm_*
        dynamodb:GetItem Registry
        dynamodb:PutItem Audit org_*
        dynamodb:PutItem Registry nonce#*
        dynamodb:UpdateItem Registry rate#*
        kms:GenerateMac SecretsKeysApiKey
        s3:GetObject LedgerTexts/ledger/*
        s3:ListBucket LedgerTexts
        """,
        "Examples are brought and read (tests/component/apprentice/test_example_routes.py).",
    ),
    *rare(
        "FollowRuns",
        """
        dynamodb:BatchGetItem Apprentice apt_*
        dynamodb:BatchWriteItem Apprentice apr_*
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:ConditionCheckItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice org_*#tasks
        """,
        "Runs are counted where there are any (tests/component/apprentice/test_folding.py).",
    ),
    *rare(
        "FollowRuns",
        """
        sqs:SendMessage Runs
        """,
        "Answers of a small model are checked where chance chose them.",
    ),
    *rare(
        "FollowRuns",
        "dynamodb:ConditionCheckItem Apprentice apt_*",
        "A canary goes to its next share (tests/component/apprentice/test_canaries.py).",
    ),
    *rare(
        "SweepRuns",
        """
        dynamodb:BatchGetItem Apprentice apt_*
        dynamodb:BatchWriteItem Apprentice apr_*
        dynamodb:BatchWriteItem Apprentice apt_*
        dynamodb:DeleteItem Apprentice apt_*
        dynamodb:GetItem Apprentice apr_*
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:UpdateItem Apprentice apr_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:ConditionCheckItem Apprentice apt_*
        dynamodb:ConditionCheckItem Apprentice org_*#tasks
        dynamodb:DeleteItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice org_*#tasks
        dynamodb:UpdateItem Apprentice org_*#tasks
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        sqs:SendMessage Runs
        """,
        "Runs and deletions are lost seldom (tests/component/apprentice/test_sweeping.py).",
    ),
    *rare(
        "DeleteOrganization",
        """
        dynamodb:BatchWriteItem Apprentice
        dynamodb:Query Apprentice
        dynamodb:Scan Apprentice
        s3:DeleteObject ApprenticeFiles/apprentice/apt_*
        s3:ListBucket ApprenticeFiles
        """,
        "An organisation goes with its tasks (tests/component/operations).",
    ),
)
