"""Permissions of the apprentice that end-to-end tests are not seen to use, each with its reason."""

from tests.infra.reviewing import rare

RARELY_CALLED_OF_APPRENTICE = {
    "ApprenticeApi": "keeps tasks of the apprentice (tests/component/apprentice)",
    "FollowRuns": "counts runs of the apprentice (tests/component/apprentice/test_folding.py)",
}
"""Functions that a run may see or not."""

OF_APPRENTICE = (
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
        """,
        "Tasks are put, read and deleted (tests/component/apprentice).",
    ),
    *rare(
        "ConnectionsApi",
        "dynamodb:BatchGetItem Apprentice org_*#tasks",
        "Tokens are made of tasks (tests/component/apprentice/test_tokens.py).",
    ),
    *rare(
        "FollowRuns",
        """
        dynamodb:BatchGetItem Apprentice apt_*
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
        dynamodb:UpdateItem Apprentice apt_*
        dynamodb:ConditionCheckItem Apprentice org_*#tasks
        dynamodb:GetItem Apprentice org_*#tasks
        """,
        "Runs are counted where there are any (tests/component/apprentice/test_folding.py).",
    ),
    *rare(
        "DeleteOrganization",
        """
        dynamodb:BatchWriteItem Apprentice
        dynamodb:Query Apprentice
        dynamodb:Scan Apprentice
        """,
        "An organisation goes with its tasks (tests/component/operations).",
    ),
)
