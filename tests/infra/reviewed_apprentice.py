"""Permissions of the apprentice that end-to-end tests are not seen to use, each with its reason."""

from tests.infra.reviewing import rare

RARELY_CALLED_OF_APPRENTICE = {
    "ApprenticeApi": "keeps tasks of the apprentice (tests/component/apprentice)",
}
"""Functions that a run may see or not."""

OF_APPRENTICE = (
    *rare(
        "ApprenticeApi",
        """
        dynamodb:GetItem Apprentice apt_*
        dynamodb:Query Apprentice apt_*
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
        "DeleteOrganization",
        """
        dynamodb:BatchWriteItem Apprentice
        dynamodb:Query Apprentice
        dynamodb:Scan Apprentice
        """,
        "An organisation goes with its tasks (tests/component/operations).",
    ),
)
