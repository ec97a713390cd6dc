"""What the role of each function may do, spelled out: a grant that is added is added here, too."""

REGISTRY, COMPLETIONS = "Registry", "Completions"
READ = {"BatchGetItem", "GetItem", "Query"}
WRITE = {"BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"}
LOGS_AND_TRACES = {
    ("logs:CreateLogStream", "own log group"),
    ("logs:PutLogEvents", "own log group"),
    ("xray:PutTraceSegments", "*"),
    ("xray:PutTelemetryRecords", "*"),
}


def table(name, actions):
    return {(f"dynamodb:{action}", name) for action in actions}


def derive(kind):
    return {("kms:GenerateMac", f"SecretsKeys{kind}")}


REGISTRY_READ_WRITE = table(REGISTRY, READ | WRITE)
COMPLETIONS_READ_WRITE = table(COMPLETIONS, READ | WRITE)
CONTENT_READ = {("s3:GetObject", "Content/content/*"), ("s3:ListBucket", "Content")}
EXPORT_DELETE = {("s3:DeleteObject", "Exports/exports/*"), ("s3:ListBucket", "Exports")}
EXPORT_READ = {("s3:GetObject", "Exports/exports/*")}
READ_SCORES = table(COMPLETIONS, READ) | {("dynamodb:Query", "Completions/index/scoresByTask")}
CONTENT_WRITE = {
    ("s3:PutObject", "Content/content/*"),
    ("s3:DeleteObject", "Content/content/*"),
}
DECRYPT = {("kms:Decrypt", "DataKey"), ("kms:DescribeKey", "DataKey")}
ENCRYPT = {
    ("kms:Encrypt", "DataKey"),
    ("kms:GenerateDataKey", "DataKey"),
    ("kms:ReEncryptFrom", "DataKey"),
    ("kms:ReEncryptTo", "DataKey"),
}
PRIORITIES = ("HighPriority", "NormalPriority", "LowPriority")
ENTER_CALLS = {("dynamodb:PutItem", "Audit")}
ENTER_DECISIONS = {("dynamodb:UpdateItem", "Audit")}
API = REGISTRY_READ_WRITE | derive("ApiKey") | DECRYPT | ENCRYPT | ENTER_CALLS
LIST = {("dynamodb:Query", "Registry/index/byCollection")}


def queues(actions, names=PRIORITIES):
    return {(f"sqs:{action}", name) for name in names for action in actions}


GIVE = {"SendMessage", "GetQueueAttributes", "GetQueueUrl"}
TAKE = {
    *("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"),
    *("GetQueueAttributes", "GetQueueUrl"),
}
SEND = queues(GIVE)
CONSUME = queues(TAKE)
SEND_WEBHOOKS = queues(GIVE, ["Webhooks"])
DELIVERIES = table("Deliveries", READ | WRITE)
DUE_DELIVERIES = {("dynamodb:Query", "Deliveries/index/dueDeliveries")}


def follow(stream, *, failures):
    """A table's stream is read; where the records lie that failed is sent to a queue."""
    actions = {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}
    return table(stream, actions) | queues(GIVE, [failures])


OPEN_BATCHES = {("dynamodb:Query", "Completions/index/openBatches")}
PUBLISH = (
    table(REGISTRY, READ)
    | table("Deliveries", {"GetItem", "PutItem", "UpdateItem"})
    | SEND_WEBHOOKS
)
EXPECTED = {
    "AccessApi": API | LIST,
    "AuditApi": API | table("Audit", READ),
    "TasksApi": API | LIST,
    "GradersApi": API
    | derive("Grader")
    | LIST
    | table("Budgets", {"GetItem", "PutItem", "UpdateItem"}),
    "CompletionsApi": API
    | COMPLETIONS_READ_WRITE
    | {("dynamodb:Query", "Completions/index/scoresByTask")}
    | CONTENT_READ
    | CONTENT_WRITE
    | SEND,
    "RunsApi": API | COMPLETIONS_READ_WRITE | {("dynamodb:Query", "Completions/index/runsByState")},
    "WaitingApi": API | table(COMPLETIONS, READ),
    "ScoresApi": API
    | LIST
    | table(COMPLETIONS, READ)
    | {("dynamodb:Query", "Completions/index/scoresByTask")}
    | CONTENT_READ,
    "ScoreExportApi": API | LIST | READ_SCORES | CONTENT_READ,
    "ExportsApi": API
    | LIST
    | {("dynamodb:Query", "Completions/index/scoresByTask")}
    | EXPORT_DELETE
    | EXPORT_READ
    | {("states:StartExecution", "ExportScores")},
    "WriteExport": table(REGISTRY, READ | {"PutItem", "DeleteItem"})
    | LIST
    | READ_SCORES
    | CONTENT_READ
    | EXPORT_DELETE
    | EXPORT_READ
    | {("s3:PutObject", "Exports/exports/*")}
    | DECRYPT
    | ENCRYPT,
    "FailExport": table(REGISTRY, READ | {"PutItem", "DeleteItem"})
    | EXPORT_DELETE
    | DECRYPT
    | ENCRYPT,
    "SweepExports": table(REGISTRY, READ | {"PutItem", "DeleteItem"})
    | LIST
    | EXPORT_DELETE
    | {("states:StartExecution", "ExportScores")}
    | DECRYPT
    | ENCRYPT,
    "DispatchChunks": CONSUME
    | {("dynamodb:Query", "Completions/index/runsByState")}
    | {("states:StartExecution", "ScoreCompletions")}
    | table(COMPLETIONS, {"PutItem"})
    | DECRYPT
    | ENCRYPT,
    "GradeChunk": table(REGISTRY, READ | {"UpdateItem"})
    | table("Budgets", {"GetItem", "PutItem", "UpdateItem"})
    | COMPLETIONS_READ_WRITE
    | CONTENT_READ
    | {("states:SendTaskSuccess", "ScoreCompletions")}
    | derive("Grader")
    | DECRYPT
    | ENCRYPT,
    "AwaitAnswers": table(COMPLETIONS, READ | {"PutItem", "UpdateItem"})
    | table("Budgets", READ)
    | {("states:SendTaskSuccess", "ScoreCompletions")}
    | DECRYPT
    | ENCRYPT,
    "CallbacksApi": table(REGISTRY, READ | {"PutItem", "UpdateItem"})
    | COMPLETIONS_READ_WRITE
    | ENTER_CALLS
    | {("states:SendTaskSuccess", "ScoreCompletions")}
    | derive("Grader")
    | DECRYPT
    | ENCRYPT,
    "ContinueRun": {("states:StartExecution", "ScoreCompletions")},
    "FailRun": COMPLETIONS_READ_WRITE | DECRYPT | ENCRYPT,
    "WebhooksApi": API
    | derive("Webhook")
    | DELIVERIES
    | {("dynamodb:Query", "Deliveries/index/deliveriesByTime")}
    | SEND_WEBHOOKS,
    "DeliverEvents": table(REGISTRY, READ | {"UpdateItem"})
    | DELIVERIES
    | DUE_DELIVERIES
    | derive("Webhook")
    | DECRYPT
    | ENCRYPT
    | SEND_WEBHOOKS
    | queues(TAKE, ["Webhooks"]),
    "SweepDeliveries": DUE_DELIVERIES
    | table("Deliveries", {"GetItem", "PutItem", "UpdateItem"})
    | DECRYPT
    | ENCRYPT
    | SEND_WEBHOOKS,
    "CreateOrganization": API - ENTER_CALLS,
    "ExportAudit": table("Audit", READ | {"PutItem", "UpdateItem"})
    | LIST
    | {("s3:PutObject", "AuditArchive/audit/*")}
    | DECRYPT
    | ENCRYPT,
    "ProjectVerdicts": ENTER_DECISIONS
    | table(COMPLETIONS, READ | {"UpdateItem"})
    | table(REGISTRY, {"UpdateItem"})
    | PUBLISH
    | follow(COMPLETIONS, failures="VerdictStream")
    | DECRYPT
    | ENCRYPT,
    "SweepBatches": COMPLETIONS_READ_WRITE
    | ENTER_DECISIONS
    | OPEN_BATCHES
    | CONTENT_READ
    | SEND
    | PUBLISH
    | table(REGISTRY, {"UpdateItem"})
    | DECRYPT
    | ENCRYPT,
    "ListStuck": table(COMPLETIONS, READ) | OPEN_BATCHES | CONTENT_READ | DECRYPT,
    "ProbeGraders": table(REGISTRY, {"Query", "GetItem", "PutItem"})
    | table("Budgets", READ)
    | table(COMPLETIONS, {"Query", "DeleteItem"})
    | {("states:SendTaskSuccess", "ScoreCompletions")}
    | derive("Grader")
    | DECRYPT
    | ENCRYPT,
    "PublishEvents": PUBLISH | follow(REGISTRY, failures="Outbox") | DECRYPT | ENCRYPT,
    "ReviewsApi": API
    | LIST
    | derive("ReviewLink")
    | COMPLETIONS_READ_WRITE
    | {("dynamodb:Query", "Completions/index/reviewsByState")}
    | {("states:SendTaskSuccess", "ScoreCompletions")}
    | CONTENT_READ,
    "RewardsApi": API | derive("RewardUrl") | LIST,
    "TrainersApi": table(REGISTRY, READ | {"PutItem"})
    | COMPLETIONS_READ_WRITE
    | CONTENT_READ
    | CONTENT_WRITE
    | SEND
    | ENTER_CALLS
    | derive("RewardUrl")
    | DECRYPT
    | ENCRYPT,
    "ReviewPage": set(),
    "FollowChanges": PUBLISH
    | {("sns:Publish", "ReviewTopic"), ("s3:DeleteObject", "Content/content/*")}
    | follow(COMPLETIONS, failures="CompletionChanges")
    | derive("ReviewLink")
    | DECRYPT
    | ENCRYPT,
    "RedriveDeadLetters": SEND | CONSUME | SEND_WEBHOOKS | queues(TAKE, ["Webhooks"]),
}
