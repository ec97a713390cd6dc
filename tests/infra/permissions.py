"""What the role of each function may do, spelled out: a grant that is added is added here, too.

Those of some domains are in files of their own.
"""

from tests.infra.permitted_apprentice import OF_APPRENTICE
from tests.infra.permitted_decks import OF_DECKS
from tests.infra.permitted_ledger import OF_LEDGER
from tests.infra.permitting import (
    API,
    AUDITED,
    COUNTED_ENTITIES,
    COUNTED_REQUESTS,
    DECRYPT,
    ENCRYPT,
    LOGS_AND_TRACES,
    ORDERS,
    PRIORITIES,
    PUBLISH,
    WAITING,
    bucket,
    derive,
    drain,
    follow,
    found_in,
    queues,
    send,
    start,
    table,
    wake,
)

__all__ = ["EXPECTED", "LOGS_AND_TRACES", "WITH_OIDC"]

WITH_OIDC = {
    "OidcApi": table("Registry", "GetItem", keys="org_*")
    | COUNTED_REQUESTS
    | table("Registry", "PutItem", keys="nonce#*")
    | table("Registry", "PutItem", keys="ses_*")
    | AUDITED
    | derive("ApiKey")
    | ENCRYPT
}
"""What is granted besides where a deployment has an OpenID provider."""
EXPECTED = {
    **OF_APPRENTICE,
    **OF_DECKS,
    **OF_LEDGER,
    "AccessApi": API
    | COUNTED_ENTITIES
    | table("Registry", "BatchGetItem", keys="use#key_*")
    | table("Registry", "BatchGetItem", keys="key_*")
    | table("Registry", "PutItem", "UpdateItem", keys="key_*")
    | table("Registry", "PutItem", "UpdateItem", keys="ses_*")
    | table("Registry/index/byCollection", "Query"),
    "AuditApi": API | table("Audit", "Query"),
    "TasksApi": API
    | COUNTED_ENTITIES
    | table("Registry", "DeleteItem", "PutItem", keys="task_*")
    | table("Registry/index/byCollection", "Query"),
    "GradersApi": API
    | COUNTED_ENTITIES
    | derive("Grader")
    | table("Budgets", "GetItem")
    | WAITING
    | table("Budgets", "PutItem", keys="grd_*")
    | table("Registry", "Query")
    | table("Completions", "Query", keys="window#*")
    | table("Registry", "DeleteItem", "PutItem", keys="grd_*")
    | table("Registry", "DeleteItem", "PutItem", keys="health#*")
    | table("Registry/index/byCollection", "Query"),
    "OverviewApi": API
    | table("Completions", "Query", keys="open#*")
    | table("Completions", "Query", keys="window#*")
    | table("Completions", "BatchGetItem", keys="bat_*")
    | table("Completions/index/openBatches", "Query")
    | table("Registry/index/byCollection", "Query")
    | table("Budgets", "BatchGetItem", keys="grd_*")
    | table("Budgets", "GetItem", keys="money#*"),
    "CompletionsApi": API
    | send(*PRIORITIES)
    | table(
        "Completions", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "Query", "UpdateItem"
    )
    | table("Completions", "DeleteItem", keys="call_*")
    | table("Completions/index/batchesByTime", "Query")
    | table("Completions/index/scoresByTask", "Query")
    | table("Registry", "BatchGetItem")
    | found_in("Content")
    | bucket("Content", "DeleteObject", "GetObject", "PutObject", names="cmp_*"),
    "RunsApi": API
    | table(
        "Completions", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "Query", "UpdateItem"
    )
    | table("Completions/index/runsByState", "Query")
    | table("Ledger", "BatchGetItem", keys="llm_*"),
    "WaitingApi": API | WAITING | table("Completions", "BatchGetItem", "GetItem", "Query"),
    "ScoresApi": API
    | table("Completions", "BatchGetItem")
    | table("Completions/index/scoresByTask", "Query")
    | table("Registry", "BatchGetItem")
    | table("Registry/index/byCollection", "Query")
    | found_in("Content")
    | bucket("Content", "GetObject", names="cmp_*"),
    "ScoreExportApi": API
    | table("Completions", "BatchGetItem")
    | table("Completions/index/scoresByTask", "Query")
    | table("Registry", "BatchGetItem")
    | table("Registry/index/byCollection", "Query")
    | found_in("Content")
    | bucket("Content", "GetObject", names="cmp_*"),
    "ExportsApi": API
    | table("Registry", "BatchGetItem", "Query")
    | table("Registry", "DeleteItem", "PutItem", keys="exp_*")
    | table("Registry/index/byCollection", "Query")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject", "GetObject")
    | start("ExportScores"),
    "WriteExport": ENCRYPT
    | table("Ledger", "BatchGetItem", "GetItem", "Query")
    | table("Ledger/index/rowsByStatus", "Query")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject")
    | table("Completions", "BatchGetItem")
    | table("Completions/index/scoresByTask", "Query")
    | table("Registry", "GetItem", "Query")
    | table("Registry", "DeleteItem", "PutItem", keys="exp_*")
    | table("Registry/index/byCollection", "Query")
    | found_in("Content")
    | bucket("Content", "GetObject", names="cmp_*")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject", "GetObject", "PutObject"),
    "FailExport": ENCRYPT
    | table("Registry", "GetItem")
    | table("Registry", "DeleteItem", "PutItem", keys="exp_*")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject"),
    "SweepExports": ENCRYPT
    | table("Registry", "GetItem")
    | table("Registry", "DeleteItem", "PutItem", keys="exp_*")
    | table("Registry/index/byCollection", "Query")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject")
    | start("ExportScores"),
    "DispatchChunks": ENCRYPT
    | drain(*PRIORITIES)
    | table("Completions", "PutItem", keys="queue#*")
    | table("Completions", "PutItem", keys="run_*")
    | table("Completions/index/runsByState", "Query")
    | start("ScoreCompletions"),
    "GradeChunk": derive("Grader")
    | ENCRYPT
    | table("Budgets", "GetItem")
    | table("Budgets", "PutItem", "UpdateItem", keys="grd_*")
    | table("Completions", "BatchGetItem", "BatchWriteItem", "PutItem", "Query", "UpdateItem")
    | table("Completions", "DeleteItem", keys="call_*")
    | table("Completions", "DeleteItem", keys="parked#*")
    | table("Registry", "GetItem")
    | table("Registry", "UpdateItem", keys="grd_*")
    | found_in("Content")
    | bucket("Content", "GetObject", names="cmp_*")
    | ORDERS  # of rubric graders, whose models the ledger asks
    | wake("ScoreCompletions"),
    "AwaitAnswers": ENCRYPT
    | table("Budgets", "GetItem")
    | table("Ledger", "BatchGetItem", keys="llm_*")
    | table("Completions", "BatchGetItem")
    | table("Completions", "PutItem", keys="parked#*")
    | table("Completions", "UpdateItem", keys="run_*")
    | wake("ScoreCompletions"),
    # It reads no keys.
    "CallbacksApi": AUDITED
    | ENCRYPT
    | table("Registry", "GetItem")
    | derive("Grader")
    | table("Completions", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "UpdateItem")
    | table("Completions", "DeleteItem", keys="call_*")
    | table("Registry", "UpdateItem", keys="grd_*")
    | wake("ScoreCompletions"),
    "ContinueRun": start("ScoreCompletions"),
    "FailRun": ENCRYPT | table("Completions", "BatchGetItem", "UpdateItem"),
    "WebhooksApi": API
    | derive("Webhook")
    | table("Deliveries", "BatchGetItem", "GetItem", "UpdateItem")
    | table("Deliveries/index/deliveriesByTime", "Query")
    | table("Registry", "Query")
    | table("Registry", "DeleteItem", "PutItem", "UpdateItem", keys="*#webhooks")
    | send("Webhooks"),
    "DeliverEvents": derive("Webhook")
    | ENCRYPT
    | drain("Webhooks")
    | table("Deliveries", "BatchGetItem", "GetItem", "PutItem", "UpdateItem")
    | table("Deliveries/index/dueDeliveries", "Query")
    | table("Registry", "GetItem")
    | table("Registry", "UpdateItem", keys="*#webhooks")
    | send("Webhooks"),
    "SweepDeliveries": ENCRYPT
    | table("Deliveries", "GetItem", "PutItem")
    | table("Deliveries/index/dueDeliveries", "Query")
    | send("Webhooks"),
    "CreateOrganization": derive("ApiKey")
    | ENCRYPT
    | COUNTED_ENTITIES
    | table("Registry", "PutItem", keys="key_*")
    | table("Registry", "PutItem", keys="org_*"),
    "DeleteOrganization": ENCRYPT
    | table("Completions", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem")
    | table("Completions", "Query", "Scan", "UpdateItem")
    | table("Completions/index/openBatches", "Query")
    | table("Registry", "BatchWriteItem", "Query", "Scan")
    | table("Registry", "GetItem", "UpdateItem", keys="org_*")
    | table("Deliveries", "BatchWriteItem", "Query", "Scan")
    | table("Ledger", "BatchWriteItem", "Query", "Scan")
    | table("Budgets", "BatchWriteItem", "Query", "Scan")
    | table("Decks", "BatchWriteItem", "Query", "Scan")
    | table("Apprentice", "BatchWriteItem", "Query", "Scan")
    | table("Apprentice", "UpdateItem", keys="apt_*#hosting")
    | found_in("Content")
    | bucket("Content", "DeleteObject")
    | bucket("LedgerTexts", "DeleteObject")
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "DeleteObject", names="apt_*")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject"),
    "ManageOrganizations": ENCRYPT
    | table("Registry", "GetItem", "UpdateItem", keys="org_*")
    | table("Registry/index/byCollection", "Query"),
    "ExportAudit": ENCRYPT
    | table("Audit", "GetItem", "Query")
    | table("Audit", "PutItem", "UpdateItem", keys="export")
    | table("Registry/index/byCollection", "Query")
    | bucket("AuditArchive", "PutObject"),
    "ProjectVerdicts": PUBLISH
    | ENCRYPT
    | follow("Completions", failures="VerdictStreamFailures")
    | table("Audit", "UpdateItem", keys="org_*")
    | table("Completions", "BatchGetItem", "UpdateItem")
    | table("Registry", "UpdateItem", keys="grd_*")
    | table("Registry", "UpdateItem", keys="health#*"),
    "SweepBatches": PUBLISH
    | ENCRYPT
    | send(*PRIORITIES)
    | table("Audit", "UpdateItem", keys="org_*")
    | table("Completions", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "UpdateItem")
    | table("Completions/index/openBatches", "Query")
    | table("Registry", "UpdateItem", keys="grd_*")
    | table("Registry", "UpdateItem", keys="health#*")
    | found_in("Content")
    | bucket("Content", "GetObject", names="cmp_*")
    | queues("HighPriority", operations=["GetQueueAttributes"])
    | queues("LowPriority", operations=["GetQueueAttributes"])
    | queues("NormalPriority", operations=["GetQueueAttributes"]),
    "ListStuck": DECRYPT
    | table("Completions", "BatchGetItem", "GetItem")
    | table("Completions/index/openBatches", "Query"),
    "ProbeGraders": derive("Grader")
    | ENCRYPT
    | table("Registry", "GetItem", "Query")
    | table("Registry", "PutItem", keys="grd_*")
    | table("Registry", "PutItem", keys="health#*")
    | table("Budgets", "GetItem")
    | table("Completions", "Query", "DeleteItem", keys="parked#*")
    | wake("ScoreCompletions"),
    "PublishEvents": PUBLISH
    | ENCRYPT
    | table("Audit", "PutItem", keys="org_*")
    | follow("Registry", failures="OutboxFailures")
    | follow("Ledger", failures="LedgerOutboxFailures")
    | follow("Decks", failures="DecksOutboxFailures")
    | follow("Apprentice", failures="ApprenticeOutboxFailures"),
    "ReviewsApi": API
    | table("Registry/index/byCollection", "Query")
    | table("Registry", "PutItem", "UpdateItem", keys="rvl_*")
    | derive("ReviewLink")
    | table(
        "Completions", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "Query", "UpdateItem"
    )
    | table("Completions", "DeleteItem", keys="org_*#reviews#*")
    | table("Completions/index/reviewsByState", "Query")
    | found_in("Content")
    | bucket("Content", "GetObject", names="cmp_*")
    | wake("ScoreCompletions"),
    "RewardsApi": API
    | COUNTED_ENTITIES
    | derive("RewardUrl")
    | table("Registry", "PutItem", "UpdateItem", keys="rwu_*")
    | table("Registry/index/byCollection", "Query"),
    "TrainersApi": derive("RewardUrl")
    | COUNTED_REQUESTS
    | WAITING
    | table("Completions", "Query", keys="open#*")
    | AUDITED
    | ENCRYPT
    | table("Completions", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "UpdateItem")
    | table("Registry", "BatchGetItem", "GetItem")
    | table("Registry", "PutItem", keys="question#*")
    | bucket("Content", "PutObject", names="cmp_*")
    | send("NormalPriority"),
    "Pages": set(),
    "ReviewPage": set(),
    "FollowChanges": PUBLISH
    | table("Completions", "BatchGetItem", "Query", "UpdateItem", keys="cmp_*")
    | table("Completions", "BatchGetItem", "DeleteItem", "UpdateItem", keys="call_*")
    | table("Completions", "BatchGetItem", keys="pnl_*")
    | table("Completions", "GetItem", "PutItem", keys="rev_*")
    | derive("ReviewLink")
    | ENCRYPT
    | follow("Completions", failures="CompletionChangesFailures")
    | bucket("Content", "DeleteObject", names="cmp_*")
    | {("sns:Publish", "ReviewTopic", "")},
    "RedriveDeadLetters": send(*PRIORITIES)
    | queues("HighPriorityDeadLetters", operations=["DeleteMessage", "ReceiveMessage"])
    | queues("LowPriorityDeadLetters", operations=["DeleteMessage", "ReceiveMessage"])
    | queues("NormalPriorityDeadLetters", operations=["DeleteMessage", "ReceiveMessage"])
    | send("Webhooks")
    | queues("WebhooksDeadLetters", operations=["DeleteMessage", "ReceiveMessage"])
    | send("Captures")
    | queues("CapturesDeadLetters", operations=["DeleteMessage", "ReceiveMessage"])
    | send("Runs")
    | queues("RunsDeadLetters", operations=["DeleteMessage", "ReceiveMessage"]),
}
