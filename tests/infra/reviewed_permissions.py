"""Permissions that end-to-end tests are not seen to use, each with the reason why it is granted.

Whoever adds an entry has read the code that needs it. An entry that says that something is never
seen fails the run in which it is.
"""

from pathlib import Path

from local.decisions import DECISIONS_FILE, read_decisions
from tests.infra.reviewed_apprentice import OF_APPRENTICE, RARELY_CALLED_OF_APPRENTICE
from tests.infra.reviewed_decks import OF_DECKS, RARELY_CALLED_OF_DECKS
from tests.infra.reviewed_exports import OF_EXPORTS, RARELY_CALLED_OF_EXPORTS
from tests.infra.reviewed_ledger import OF_LEDGER, RARELY_CALLED_OF_LEDGER
from tests.infra.reviewing import never, rare
from tests.support.permissions import (
    OWN_LOGS,
    Comparison,
    grants_of,
    roles_of,
    service_template,
)

SILENT = {
    "Pages": "serves files of its own package, and asks AWS for nothing",
    "ReviewPage": "serves files of its own package, and asks AWS for nothing",
}
"""Functions that are never seen to ask for a permission."""

RARELY_CALLED = {
    **RARELY_CALLED_OF_EXPORTS,
    **RARELY_CALLED_OF_LEDGER,
    **RARELY_CALLED_OF_APPRENTICE,
    **RARELY_CALLED_OF_DECKS,
    "ContinueRun": "goes on with runs whose history is nearly full, after days",
    "CaptureCalls": "makes samples of chat completions (tests/component/decks)",
    "OverviewApi": "shows what happened over time (tests/component/overview)",
    "FailRun": "ends runs of which all attempts failed",
    "DeleteOrganization": "is invoked by operators who delete an organisation",
    "ManageOrganizations": "is invoked by operators who list, limit or suspend organisations",
}
"""Functions that a run may see or not."""


# What the services themselves ask for.
_OF_SERVICES = (
    never("*", "logs:*", OWN_LOGS, "Lambda writes a function's logs as its role."),
    never("*", "xray:*", "*", "Lambda sends a function's traces as its role."),
    never("*", "kms:*", "DataKey", "The service that holds the data asks for its key."),
    *(
        never(function, f"dynamodb:{operation}", table, "Lambda reads the stream as the role.")
        for operation in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
        for function, table in (
            ("ProjectVerdicts", "Completions"),
            ("FollowChanges", "Completions"),
            ("PublishEvents", "Registry"),
            ("PublishEvents", "Ledger"),
            ("PublishEvents", "Decks"),
            ("PublishEvents", "Apprentice"),
            ("FollowRuns", "Apprentice"),
        )
    ),
    never("*", "sqs:*", "*Failures", "Lambda sends what a stream's consumer gave up as the role."),
    *(
        never(function, f"sqs:{operation}", queues, "Lambda polls the queue as the role.")
        for operation in (
            *("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"),
            *("GetQueueAttributes", "GetQueueUrl"),
        )
        for function, queues in (("DispatchChunks", "*Priority"), ("DeliverEvents", "Webhooks"))
    ),
    never("*", "s3:ListBucket", "Content", "S3 answers 404 for a missing text, and not 403."),
)
_OF_TIMING_AND_FAILURES = (
    *rare(
        "AwaitAnswers",
        """
        dynamodb:GetItem Budgets
        dynamodb:PutItem Completions parked#*
        """,
        "A run is parked after minutes of a grader's outage (tests/component/runs).",
    ),
    *rare(
        "AwaitAnswers",
        "states:SendTaskSuccess ScoreCompletions",
        "All answers came before the run began to wait, so that nothing else wakes it.",
    ),
    *rare(
        "GradeChunk",
        """
        dynamodb:Query Completions
        dynamodb:DeleteItem Completions parked#*
        states:SendTaskSuccess ScoreCompletions
        """,
        "The first round that finds a grader back wakes runs that are parked for it.",
    ),
    *rare(
        "GradeChunk",
        "dynamodb:DeleteItem Completions call_*",
        "A callback in several parts came before the round that takes it.",
    ),
    *rare(
        "GradeChunk",
        "dynamodb:GetItem Budgets money#*",
        "A run looks at budgets while a rubric grader's question is still in its queue.",
    ),
    *rare(
        "GradeChunk",
        "dynamodb:UpdateItem Budgets grd_*",
        "A run behind a limit reserves a turn when it finds no permit left.",
    ),
    *rare(
        "GradeChunk",
        "dynamodb:UpdateItem Registry grd_*",
        "An answer that comes after its deadline is counted for the grader.",
    ),
    *rare(
        "DeleteOrganization",
        """
        dynamodb:BatchGetItem Completions
        dynamodb:BatchWriteItem Completions
        dynamodb:GetItem Completions
        dynamodb:PutItem Completions
        dynamodb:Query Completions
        dynamodb:Scan Completions
        dynamodb:UpdateItem Completions
        dynamodb:Query Completions/index/openBatches
        dynamodb:BatchWriteItem Registry
        dynamodb:Query Registry
        dynamodb:Scan Registry
        dynamodb:GetItem Registry org_*
        dynamodb:UpdateItem Registry org_*
        dynamodb:BatchWriteItem Deliveries
        dynamodb:Query Deliveries
        dynamodb:Scan Deliveries
        dynamodb:UpdateItem Apprentice apt_*#hosting
        s3:DeleteObject Content/content/*
        s3:ListBucket Exports
        s3:DeleteObject Exports/exports/*
        """,
        "Operators delete an organisation with all that is its own (tests/component/operations).",
    ),
    *rare(
        "GradersApi",
        "dynamodb:Query Completions window#*",
        "Figures of a grader in a window of time (tests/component/overview).",
    ),
    *rare(
        "ManageOrganizations",
        """
        dynamodb:GetItem Registry org_*
        dynamodb:UpdateItem Registry org_*
        dynamodb:Query Registry/index/byCollection
        """,
        "Operators list, limit and suspend organisations (tests/component/operations).",
    ),
    *(
        each
        for function in ("ProjectVerdicts", "SweepBatches")
        for each in rare(
            function,
            "dynamodb:UpdateItem Registry health#*",
            "An answer names another version than the one that was registered.",
        )
    ),
    *rare(
        "ProbeGraders",
        """
        dynamodb:Query Completions parked#*
        dynamodb:DeleteItem Completions parked#*
        dynamodb:GetItem Budgets
        states:SendTaskSuccess ScoreCompletions
        """,
        "A grader is found well every five minutes, and seldom does anything wait for it then.",
    ),
    *rare(
        "*",
        "dynamodb:PutItem Registry use#key_*",
        "A process notes the first use of a key, and the next one an hour later.",
    ),
    *rare(
        "*",
        "dynamodb:BatchGetItem Registry use#key_*",
        "Whoever lists keys is shown when each was last used (tests/component/access).",
    ),
    *rare(
        "ReviewsApi",
        """
        dynamodb:PutItem Registry rvl_*
        dynamodb:UpdateItem Registry rvl_*
        dynamodb:Query Registry/index/byCollection
        """,
        "Links are made, listed and revoked by keys (tests/component/reviews).",
    ),
    *rare(
        "ContinueRun",
        "states:StartExecution ScoreCompletions",
        "A run goes on in another execution after thousands of events, which takes days.",
    ),
    *rare(
        "DispatchChunks",
        "dynamodb:Query Completions/index/runsByState",
        "It counts an organisation's runs only where the functions that grade are limited.",
    ),
    *rare(
        "OverviewApi",
        "dynamodb:BatchGetItem Completions bat_*",
        "The overview reads batches that are overdue, and few runs have one "
        "(tests/component/overview).",
    ),
    *rare(
        "RunsApi",
        "dynamodb:BatchGetItem Ledger llm_*",
        "An explanation reads requests where a completion waits for a model "
        "(tests/component/scoring/test_source_requests.py).",
    ),
    *rare(
        "DeleteOrganization",
        """
        dynamodb:BatchWriteItem Decks
        dynamodb:Query Decks
        dynamodb:Scan Decks
        s3:ListBucket Content
        dynamodb:BatchWriteItem Ledger
        dynamodb:Query Ledger
        dynamodb:Scan Ledger
        dynamodb:BatchWriteItem Budgets
        dynamodb:Query Budgets
        dynamodb:Scan Budgets
        s3:DeleteObject LedgerTexts/ledger/*
        """,
        "Operators delete an organisation with its requests and its budget (tests/component).",
    ),
    *rare(
        "ExportAudit",
        """
        dynamodb:GetItem Audit
        dynamodb:PutItem Audit export
        dynamodb:UpdateItem Audit export
        """,
        "The hourly run notes how far it came; an operator who names a day does not.",
    ),
    *rare(
        "FailRun",
        """
        dynamodb:BatchGetItem Completions
        dynamodb:UpdateItem Completions
        """,
        "A run fails after all attempts of a state (tests/component/scoring).",
    ),
    *rare(
        "FollowChanges",
        """
        s3:DeleteObject Content/content/*
        dynamodb:Query Completions cmp_*
        dynamodb:UpdateItem Completions cmp_*
        dynamodb:GetItem Completions rev_*
        dynamodb:PutItem Completions rev_*
        """,
        "DynamoDB removes an item after its retention, which is a month.",
    ),
    *rare(
        "FollowChanges",
        """
        dynamodb:BatchGetItem Completions cmp_*
        dynamodb:BatchGetItem Completions call_*
        dynamodb:BatchGetItem Completions pnl_*
        dynamodb:DeleteItem Completions call_*
        dynamodb:UpdateItem Completions call_*
        """,
        "A text expired whose grader's later answer nobody applied (tests/component).",
    ),
    *rare(
        "CompletionsApi",
        "dynamodb:DeleteItem Completions call_*",
        "A text is deleted whose grader's later answer nobody applied (tests/component).",
    ),
    *rare(
        "RunsApi",
        """
        dynamodb:Query Completions
        dynamodb:BatchWriteItem Completions
        """,
        "An explanation of a decided completion, and a canceled run of a batch of several.",
    ),
    *rare(
        "CompletionsApi",
        "dynamodb:Query Completions",
        "Completions of several generations are read with all their verdicts.",
    ),
    *rare(
        "CompletionsApi",
        "dynamodb:Query Completions/index/batchesByTime",
        "People list batches, which no end-to-end test does (tests/component/completions).",
    ),
    *rare(
        "ReviewsApi",
        "dynamodb:DeleteItem Completions org_*#reviews#*",
        "A review is assigned to another person (tests/component/reviews).",
    ),
    *rare(
        "SweepBatches",
        """
        dynamodb:BatchWriteItem Completions
        dynamodb:PutItem Completions
        dynamodb:UpdateItem Audit org_*
        dynamodb:UpdateItem Registry grd_*
        dynamodb:Query Registry
        dynamodb:GetItem Deliveries
        dynamodb:PutItem Deliveries
        s3:GetObject Content/content/*
        sqs:SendMessage *
        sqs:GetQueueAttributes *
        """,
        "It ends what is out of time and sends again what is lost, of any priority and size, and "
        "tells, counts and audits it where the projection has not.",
    ),
    *rare(
        "SweepDeliveries",
        """
        dynamodb:GetItem Deliveries
        dynamodb:PutItem Deliveries
        sqs:SendMessage Webhooks
        """,
        "A webhook whose wake-up was lost is woken again (tests/component/webhooks).",
    ),
    *rare(
        "TrainersApi",
        """
        dynamodb:GetItem Completions
        s3:PutObject Content/content/*
        """,
        "A question that is asked again, or too large for an item (tests/component/rewards).",
    ),
    *rare(
        "RedriveDeadLetters",
        """
        sqs:DeleteMessage *DeadLetters
        sqs:SendMessage *
        """,
        "Letters are dead after five deliveries that failed (tests/component/operations).",
    ),
    *rare(
        "GradersApi",
        "dynamodb:PutItem Budgets grd_*",
        "Verification closes the circuit of a grader that was down.",
    ),
)
REVIEWED = (
    *_OF_SERVICES,
    *_OF_TIMING_AND_FAILURES,
    *OF_APPRENTICE,
    *OF_DECKS,
    *OF_EXPORTS,
    *OF_LEDGER,
)


def compared_permissions(directory: Path) -> Comparison:
    """Return what the functions of a local stack may do beside what they did."""
    template = service_template(directory / "cdk.out")
    return Comparison(
        functions=roles_of(template),
        grants=grants_of(template),
        decisions=read_decisions(directory / DECISIONS_FILE),
        reviewed=REVIEWED,
        silent=SILENT,
        rarely_called=RARELY_CALLED,
    )
