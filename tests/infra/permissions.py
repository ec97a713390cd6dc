"""What the role of each function may do, spelled out: a grant that is added is added here, too."""

from tests.support.permissions import OWN_LOGS

LOGS_AND_TRACES = {
    ("logs:CreateLogStream", OWN_LOGS, ""),
    ("logs:PutLogEvents", OWN_LOGS, ""),
    ("xray:PutTraceSegments", "*", ""),
    ("xray:PutTelemetryRecords", "*", ""),
}


def table(name, *operations, keys=""):
    """Operations on a table or an index, on items whose partition key is like ``keys``."""
    return {(f"dynamodb:{operation}", name, keys) for operation in operations}


def bucket(name, *operations, names="*"):
    """Operations on the objects of a bucket below the prefix of its name."""
    prefixes = {"ApprenticeFiles": "apprentice", "AuditArchive": "audit", "LedgerTexts": "ledger"}
    prefix = prefixes.get(name, name.lower())
    return {(f"s3:{operation}", f"{name}/{prefix}/{names}", "") for operation in operations}


def found_in(name):
    """The objects of a bucket can be listed, and one that is missing is answered as missing."""
    return {("s3:ListBucket", name, "")}


def queues(*names, operations):
    return {(f"sqs:{operation}", name, "") for name in names for operation in operations}


def send(*names):
    return queues(*names, operations=["SendMessage"])


def drain(*names):
    """What Lambda needs to take messages and pass them to the function."""
    operations = ("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility")
    return queues(*names, operations=[*operations, "GetQueueAttributes", "GetQueueUrl"])


def follow(stream, *, failures):
    """A table's stream is read; where the records lie that failed is sent to a queue."""
    operations = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
    failed = queues(failures, operations=["SendMessage", "GetQueueAttributes", "GetQueueUrl"])
    return table(stream, *operations) | failed


def wake(machine):
    return {("states:SendTaskSuccess", machine, "")}


def start(machine):
    return {("states:StartExecution", machine, "")}


def at_sagemaker(kind, *operations):
    """Operations on what SageMaker has under names of ours, which are made at run time."""
    return {(f"sagemaker:{operation}", f"{kind}/*", "") for operation in operations}


def derive(kind):
    return {("kms:GenerateMac", f"SecretsKeys{kind}", "")}


PRIORITIES = ("HighPriority", "NormalPriority", "LowPriority")
DECRYPT = {("kms:Decrypt", "DataKey", ""), ("kms:DescribeKey", "DataKey", "")}
ENCRYPT = DECRYPT | {
    ("kms:Encrypt", "DataKey", ""),
    ("kms:GenerateDataKey", "DataKey", ""),
    ("kms:ReEncryptFrom", "DataKey", ""),
    ("kms:ReEncryptTo", "DataKey", ""),
}
AUDITED = table("Audit", "PutItem", keys="org_*")
COUNTED_REQUESTS = table("Registry", "UpdateItem", keys="rate#*")
COUNTED_ENTITIES = table("Registry", "UpdateItem", keys="entities#*")
TAKES_CALLS = (
    table("Decks", "Query", keys="org_*#prompt#*")
    | table("Decks", "GetItem", "Query", keys="org_*#templates")
    | table("Decks", "BatchGetItem", "GetItem", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "PutItem", keys="smp_*")
    | table("Decks", "GetItem", "PutItem", "UpdateItem", keys="org_*#call#*")
    | table(
        "Decks", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem", keys="org_*#unmatched"
    )
    | table(
        "Decks",
        *("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
        keys="ump_*",
    )
    | bucket("Content", "DeleteObject", "PutObject", names="dck_*")
)
WAITING = table("Budgets", "GetItem", "PutItem", keys="waiting#*")
API = (
    table("Registry", "GetItem")
    | COUNTED_REQUESTS
    | table("Registry", "PutItem", keys="nonce#*")
    | table("Registry", "PutItem", keys="use#key_*")
    | AUDITED
    | derive("ApiKey")
    | ENCRYPT
)
ASKS_MODELS = (
    table("Registry", "GetItem")
    | table("Budgets", "GetItem")
    | table("Budgets", "UpdateItem", keys="money#*")
    | {("kms:Decrypt", "ProviderKeysKey", "")}
    | {("sts:AssumeRole", "iam::*:role/autotune-bedrock*", "")}
)
CALLS_MODELS = ASKS_MODELS | table("Registry", "PutItem", keys="llc_*")
TRAINS = (
    ENCRYPT
    | table("Apprentice", "GetItem", keys="org_*#tasks")
    | table("Apprentice", "GetItem", "UpdateItem", keys="apt_*")
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "DeleteObject", names="apt_*")
)
STARTS_RUNS = (
    table("Apprentice", "GetItem", "Query", keys="apt_*")
    | table("Apprentice", "GetItem", keys="org_*#tasks")
    | table("Apprentice", "GetItem", "PutItem", keys="apr_*")
    | table("Ledger", "BatchGetItem", "GetItem", keys="llm_*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject")
    | send("Runs")
    | {("lambda:InvokeFunction", "WorkRunsFunction", "")}
)
ORDERS = (
    table("Budgets", "GetItem", keys="money#*")
    | table("Ledger", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "UpdateItem")
    | bucket("LedgerTexts", "DeleteObject")
)
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
PUBLISH = table("Registry", "Query") | table("Deliveries", "GetItem", "PutItem") | send("Webhooks")
COUNTS_RUNS = (
    ENCRYPT
    | table("Apprentice", "BatchGetItem", "ConditionCheckItem", keys="apt_*")
    | table("Apprentice", "GetItem", "Query", "UpdateItem", keys="apt_*")
    | table("Apprentice", "BatchWriteItem", keys="apr_*")
    | table("Apprentice", "ConditionCheckItem", "GetItem", keys="org_*#tasks")
    | send("Runs")
)

ASKS_VERSIONS = (
    {("lambda:InvokeFunction", "AnswerLinearFunction", "")}
    | at_sagemaker("endpoint", "InvokeEndpoint")
    | at_sagemaker("inference-component", "InvokeEndpoint")
    | table("Apprentice", "UpdateItem", keys="apt_*#hosting")
)
COMPARES_MEANING = {("lambda:InvokeFunction", "ScoreSimilarityFunction", "")}
EXPECTED = {
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
    "ApprenticeApi": API
    | {("kms:GetPublicKey", "CertificatesKey", ""), ("kms:Decrypt", "ProviderKeysKey", "")}
    | table("Ledger", "GetItem", keys="llc_*")
    | table("Apprentice", "ConditionCheckItem", "GetItem", "Query", keys="apt_*")
    | table("Apprentice", "BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem", keys="apt_*")
    | table("Budgets", "GetItem", "UpdateItem", keys="money#org_*#apt_*")
    | table("Apprentice", "BatchWriteItem", keys="apr_*")
    | table("Apprentice", "ConditionCheckItem", "GetItem", "Query", keys="org_*#tasks")
    | table("Apprentice", "DeleteItem", "PutItem", "UpdateItem", keys="org_*#tasks")
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "DeleteObject", names="apt_*"),
    "ApprenticeRunsApi": API
    | WAITING
    | STARTS_RUNS
    | table("Apprentice", "UpdateItem", keys="apr_*")
    | table("Apprentice", "DeleteItem", "UpdateItem", keys="apt_*")
    | table("Ledger", "BatchWriteItem", keys="llm_*")
    | bucket("LedgerTexts", "DeleteObject"),
    "WorkRuns": ENCRYPT
    | ASKS_MODELS
    | derive("Grader")
    | table("Budgets", "PutItem", "UpdateItem", keys="grd_*")
    | table("Budgets", "PutItem", keys="waiting#*")
    | table("Apprentice", "GetItem", "Query", keys="apt_*")
    | table("Apprentice", "GetItem", keys="org_*#tasks")
    | table("Apprentice", "GetItem", "PutItem", "UpdateItem", keys="apr_*")
    | table("Ledger", "GetItem")
    | table("Ledger", "BatchGetItem", "PutItem", "UpdateItem", keys="llm_*")
    | table("Ledger", "UpdateItem", keys="cost#*")
    | table("Ledger", "UpdateItem", keys="traced#*")
    | table("Ledger", "UpdateItem", keys="money#*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject", "PutObject")
    | send("Runs")
    | drain("Runs")
    | ASKS_VERSIONS
    | COMPARES_MEANING,
    "AnswerLinear": DECRYPT
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "GetObject", names="apt_*/models/*"),
    "ScoreSimilarity": DECRYPT
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "GetObject", names="embeddings/*"),
    "ApprenticeReportsApi": API
    | table("Apprentice", "GetItem", keys="org_*#tasks")
    | table("Apprentice", "GetItem", "PutItem", "Query", keys="apt_*")
    | table("Budgets", "GetItem", keys="money#org_*#apt_*"),
    "ApprenticeExamplesApi": API
    | table("Apprentice", "ConditionCheckItem", "GetItem", keys="org_*#tasks")
    | table("Apprentice", "BatchGetItem", "GetItem", "Query", keys="apt_*")
    | table("Apprentice", "DeleteItem", "UpdateItem", keys="apt_*")
    | table("Apprentice", "BatchGetItem", keys="apr_*")
    | table("Budgets", "GetItem", keys="money#org_*#apt_*")
    | table("Ledger", "BatchGetItem", keys="llm_*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject"),
    "ApprenticeTrainingsApi": API
    | table("Apprentice", "ConditionCheckItem", "GetItem", keys="org_*#tasks")
    | table("Apprentice", "GetItem", "Query", "UpdateItem", keys="apt_*")
    | table("Budgets", "GetItem", keys="money#org_*#apt_*")
    | at_sagemaker("training-job", "StopTrainingJob")
    | start("TrainStudent"),
    "FreezeExamples": TRAINS
    | table("Apprentice", "ConditionCheckItem", keys="org_*#tasks")
    | table("Apprentice", "BatchGetItem", "Query", keys="apt_*")
    | table("Apprentice", "BatchGetItem", keys="apr_*")
    | table("Ledger", "BatchGetItem", keys="llm_*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject")
    | bucket("ApprenticeFiles", "PutObject", names="apt_*/data/*"),
    "TrainLinear": TRAINS
    | bucket("ApprenticeFiles", "GetObject", names="apt_*/data/*")
    | bucket("ApprenticeFiles", "PutObject", names="apt_*/models/*"),
    "ValidateStudent": TRAINS
    | table("Apprentice", "Query", keys="apt_*")
    | bucket("ApprenticeFiles", "GetObject", names="apt_*/data/*")
    | bucket("ApprenticeFiles", "GetObject", names="apt_*/models/*")
    | ASKS_VERSIONS
    | COMPARES_MEANING,
    "HostStudent": TRAINS
    | table("Apprentice", "ConditionCheckItem", keys="org_*#tasks")
    | table("Apprentice", "Query", keys="apt_*")
    | bucket("ApprenticeFiles", "GetObject", names="apt_*/data/*")
    | {("kms:GetPublicKey", "CertificatesKey", ""), ("kms:Sign", "CertificatesKey", "")}
    | ASKS_VERSIONS,
    "TrainOnSageMaker": TRAINS
    | bucket("ApprenticeFiles", "GetObject", names="bases/*")
    | bucket("ApprenticeFiles", "PutObject", names="apt_*/jobs/*")
    | table("Budgets", "GetItem", "UpdateItem", keys="money#org_*#apt_*")
    | table("Apprentice", "UpdateItem", keys="money#org_*#apt_*")
    | at_sagemaker(
        "training-job", "AddTags", "CreateTrainingJob", "DescribeTrainingJob", "StopTrainingJob"
    )
    | {("iam:PassRole", "JobsRole", "")},
    "VerifyArtifact": TRAINS
    | bucket("ApprenticeFiles", "GetObject", names="apt_*/jobs/*")
    | bucket("ApprenticeFiles", "PutObject", names="apt_*/models/*"),
    "DeployStudent": TRAINS
    | table("Apprentice", "DeleteItem", "PutItem", "UpdateItem", keys="apt_*#hosting"),
    "FailTraining": TRAINS | at_sagemaker("training-job", "StopTrainingJob"),
    "SweepTrainings": ENCRYPT
    | table("Apprentice/index/dueRuns", "Query")
    | table("Apprentice", "ConditionCheckItem", "GetItem", keys="org_*#tasks")
    | table("Apprentice", "GetItem", "Query", "UpdateItem", keys="apt_*")
    | table("Apprentice", "UpdateItem", keys="money#org_*#apt_*")
    | table("Budgets", "GetItem", "UpdateItem", keys="money#org_*#apt_*")
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "DeleteObject", names="apt_*/jobs/*")
    | at_sagemaker("training-job", "DescribeTrainingJob", "StopTrainingJob")
    | start("TrainStudent"),
    "FollowRuns": COUNTS_RUNS | follow("Apprentice", failures="RunStreamFailures"),
    "SweepHostings": ENCRYPT
    | table("Apprentice/index/dueRuns", "Query")
    | table("Apprentice", "GetItem", "Query", keys="apt_*")
    | table("Apprentice", "DeleteItem", "UpdateItem", keys="apt_*#hosting")
    | at_sagemaker(
        "endpoint",
        *("CreateEndpoint", "DescribeEndpoint", "DeleteEndpoint", "AddTags", "ListTags"),
        "CreateInferenceComponent",
    )
    | at_sagemaker(
        "inference-component",
        *("CreateInferenceComponent", "DescribeInferenceComponent", "DeleteInferenceComponent"),
        *("UpdateInferenceComponentRuntimeConfig", "AddTags", "ListTags"),
    )
    | at_sagemaker(
        "endpoint-config",
        *("CreateEndpointConfig", "DescribeEndpointConfig", "DeleteEndpointConfig"),
        *("CreateEndpoint", "AddTags", "ListTags"),
    )
    | at_sagemaker("model", "CreateModel", "DescribeModel", "DeleteModel", "AddTags", "ListTags")
    | {("iam:PassRole", "HostingHostRole", "")},
    "SweepRuns": COUNTS_RUNS
    | table("Apprentice/index/dueRuns", "Query")
    | table("Apprentice", "GetItem", "UpdateItem", keys="apr_*")
    | table("Apprentice", "BatchWriteItem", "DeleteItem", keys="apt_*")
    | table("Apprentice", "DeleteItem", "UpdateItem", keys="org_*#tasks")
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "DeleteObject", names="apt_*"),
    "DecksApi": API
    | COUNTED_ENTITIES
    | table("Registry", "PutItem", keys="task_*")
    | table("Decks", "BatchGetItem", "GetItem", "Query", keys="dck_*")
    | table("Decks", "DeleteItem", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "UpdateItem", keys="org_*#decks")
    | table("Decks", "PutItem", keys="org_*#prompt#*")
    | table("Decks", "PutItem", "UpdateItem", keys="org_*#templates")
    | table("Decks", "GetItem", "PutItem", keys="org_*#capture")
    | table("Decks/index/byCollection", "Query"),
    "CaptureCalls": ENCRYPT
    | TAKES_CALLS
    | drain("Captures")
    | table("Decks", "GetItem", keys="org_*#capture")
    | table("Ledger", "BatchGetItem", "GetItem", keys="llm_*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject"),
    "SamplesApi": API
    | table("Decks", "BatchGetItem", "GetItem", "Query", keys="dck_*")
    | table("Decks", "BatchGetItem", "Query", keys="smp_*")
    | table("Decks", "BatchGetItem", "Query", keys="grd_*")
    | table("Decks", "DeleteItem", "PutItem", "UpdateItem", keys="grd_*")
    | table("Decks", "DeleteItem", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "DeleteItem", "PutItem", keys="smp_*")
    | table("Registry", "PutItem", keys="grd_*")
    | found_in("Content")
    | bucket("Content", "DeleteObject", "GetObject", "PutObject", names="dck_*"),
    "IngestUrlsApi": API
    | table("Decks", "GetItem", keys="dck_*")
    | table("Registry", "PutItem", "UpdateItem", keys="igu_*")
    | table("Registry/index/byCollection", "Query")
    | COUNTED_ENTITIES,
    "IngestApi": AUDITED
    | ENCRYPT
    | COUNTED_REQUESTS
    | table("Registry", "GetItem")
    | TAKES_CALLS
    | table("Decks", "UpdateItem", keys="org_*#decks")
    | table("Decks", "PutItem", keys="org_*#prompt#*")
    | table("Decks", "PutItem", "UpdateItem", keys="org_*#templates"),
    "DeckTelemetryApi": API
    | TAKES_CALLS
    | table("Decks", "UpdateItem", keys="org_*#decks")
    | table("Decks", "PutItem", keys="org_*#prompt#*")
    | table("Decks", "PutItem", "UpdateItem", keys="org_*#templates"),
    "DeckFeedbackApi": API
    | table("Decks", "BatchGetItem", "GetItem", "Query", keys="dck_*")
    | table("Decks", "BatchGetItem", "GetItem", "Query", keys="grd_*")
    | table("Decks", "BatchGetItem", keys="smp_*")
    | table("Decks", "PutItem", keys="dck_*")
    | table("Decks", "BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem", keys="grd_*")
    | table("Decks/index/byCollection", "Query")
    | table("Registry", "PutItem", keys="grd_*")
    | bucket("Content", "GetObject", names="dck_*")
    | found_in("Content"),
    "DeckMeasuresApi": API
    | table("Decks", "BatchGetItem", "GetItem", "Query", keys="dck_*")
    | table("Decks", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "BatchGetItem", "Query", keys="grd_*")
    | table("Decks", "BatchWriteItem", keys="grd_*")
    | COUNTED_ENTITIES
    | table("Registry", "PutItem", keys="grd_*")
    | table("Registry", "DeleteItem", keys="health#*"),
    "EraseExpired": ENCRYPT
    | table("Decks/index/dueDecks", "Query")
    | table(
        "Decks",
        *("BatchGetItem", "DeleteItem", "GetItem", "Query", "UpdateItem"),
        keys="dck_*",
    )
    | table("Decks", "DeleteItem", "GetItem", "Query", keys="smp_*")
    | table("Decks", "DeleteItem", "Query", keys="grd_*")
    | table("Decks", "DeleteItem", "GetItem", "UpdateItem", keys="ump_*")
    | table("Decks", "DeleteItem", "UpdateItem", keys="org_*#unmatched")
    | bucket("Content", "DeleteObject", names="dck_*"),
    "EraseDecks": ENCRYPT
    | table("Decks/index/byCollection", "Query")
    | table("Decks", "BatchWriteItem", "DeleteItem", "Query", keys="dck_*")
    | table("Decks", "DeleteItem", keys="org_*#prompt#*")
    | table("Decks", "DeleteItem", "PutItem", "UpdateItem", keys="org_*#templates")
    | table("Decks", "BatchWriteItem", "Query", keys="grd_*")
    | table("Decks", "BatchWriteItem", "Query", keys="smp_*")
    | table("Registry", "GetItem", "PutItem", keys="grd_*")
    | found_in("Content")
    | bucket("Content", "DeleteObject", names="dck_*"),
    "DeckRunsApi": API
    | table("Decks", "BatchGetItem", "GetItem", "Query")
    | table("Decks", "DeleteItem", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "PutItem", keys="org_*#prompt#*")
    | table("Decks", "PutItem", "UpdateItem", keys="org_*#templates")
    | table("Decks", "BatchWriteItem", "PutItem", keys="grd_*")
    | table("Decks", "BatchWriteItem", keys="drn_*")
    | table("Decks", "UpdateItem", keys="org_*#decks")
    | table("Budgets", "GetItem", keys="money#*")
    | start("WorkDeckRun"),
    "DeckEditsApi": API
    | table("Decks", "BatchGetItem", "GetItem", "Query")
    | table("Decks", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "PutItem", keys="grd_*")
    | table("Decks", "BatchWriteItem", keys="drn_*")
    | table("Decks", "UpdateItem", keys="org_*#decks")
    | table("Decks", "PutItem", keys="org_*#prompt#*")
    | table("Decks", "PutItem", "UpdateItem", keys="org_*#templates")
    | bucket("Content", "GetObject", names="dck_*")
    | found_in("Content")
    | ORDERS
    | start("SubmitLlmBatch")
    | start("WorkDeckRun"),
    "AdvanceDeckRun": ENCRYPT
    | ORDERS
    | WAITING
    | start("SubmitLlmBatch")
    | table("Registry", "GetItem")
    | table("Registry", "PutItem", keys="grd_*")
    | table("Decks", "BatchGetItem", "GetItem", "Query")
    | table("Decks", "DeleteItem", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "DeleteItem", "PutItem", keys="smp_*")
    | table("Decks", "DeleteItem", "PutItem", keys="drn_*")
    | table("Decks", "DeleteItem", "PutItem", keys="grd_*")
    | table("Decks", "UpdateItem", keys="org_*#decks")
    | found_in("Content")
    | bucket("Content", "DeleteObject", "GetObject", "PutObject", names="dck_*"),
    "AdvanceDeckEdits": ENCRYPT
    | ORDERS
    | table("Registry", "GetItem")
    | table("Decks", "BatchGetItem", "GetItem", "Query")
    | table("Decks", "PutItem", "UpdateItem", keys="dck_*")
    | found_in("Content")
    | bucket("Content", "GetObject", names="dck_*")
    | start("SubmitLlmBatch"),
    "SweepDeckRuns": ENCRYPT
    | table("Decks", "GetItem", "PutItem", "UpdateItem", keys="dck_*")
    | table("Decks", "DeleteItem", keys="drn_*")
    | table("Decks", "DeleteItem", keys="grd_*")
    | table("Decks", "UpdateItem", keys="org_*#decks")
    | table("Decks/index/byCollection", "Query")
    | start("WorkDeckRun"),
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
    "LedgerApi": API
    | WAITING
    | table("Budgets", "GetItem", keys="money#*")
    | table(
        "Ledger",
        *("BatchGetItem", "BatchWriteItem", "GetItem"),
        *("PutItem", "Query", "UpdateItem"),
    )
    | table("Ledger/index/rowsByStatus", "Query")
    | table("Ledger/index/queuedRows", "Query")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "DeleteObject", "GetObject", "PutObject")
    | start("SubmitLlmBatch"),
    "LlmBatchesApi": API
    | table("Budgets", "GetItem", "UpdateItem", keys="money#*")
    | table("Ledger", "BatchGetItem", "GetItem", "Query", "UpdateItem")
    | table("Ledger/index/rowsByStatus", "Query"),
    "ConnectionsApi": API
    | WAITING
    | COUNTED_ENTITIES
    | CALLS_MODELS
    | table("Registry", "PutItem", "UpdateItem", keys="llc_*")
    | table("Registry", "PutItem", "UpdateItem", keys="llt_*")
    | table("Registry/index/byCollection", "Query")
    | table("Apprentice", "BatchGetItem", keys="org_*#tasks")
    | table("Ledger", "BatchGetItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem")
    | table("Ledger", "Query", keys="llc_*")
    | table("Ledger/index/rowsByStatus", "Query")
    | bucket("LedgerTexts", "PutObject")
    | {("kms:Encrypt", "ProviderKeysKey", "")},
    "ImportsApi": API
    | table("Ledger", "BatchGetItem", "GetItem", "PutItem", "UpdateItem")
    | table("Ledger/index/rowsByStatus", "Query")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject", "GetObject", "PutObject")
    | start("ImportLlmRequests"),
    "OpenAiApi": AUDITED
    | ENCRYPT
    | COUNTED_REQUESTS
    | table("Registry", "GetItem")
    | table("Registry", "DeleteItem", "PutItem", keys="llf_*")
    | table("Registry", "PutItem", "UpdateItem", keys="lob_*")
    | table("Registry", "PutItem", keys="openai-batch#*")
    | table("Registry/index/byCollection", "Query")
    | table("Ledger", "BatchGetItem", "GetItem")
    | table("Ledger", "PutItem", "UpdateItem", keys="lim_*")
    | table("Ledger", "UpdateItem", keys="llm_*")
    | table("Ledger", "UpdateItem", keys="open#*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject", "GetObject", "PutObject")
    | start("ImportLlmRequests"),
    "ChatApi": AUDITED
    | ENCRYPT
    | COUNTED_REQUESTS
    | WAITING
    | table("Registry", "GetItem")
    | table("Ledger", "GetItem")
    | table("Ledger", "BatchGetItem", "PutItem", "UpdateItem", keys="llm_*")
    | table("Ledger", "UpdateItem", keys="call#*")
    | table("Ledger", "UpdateItem", keys="cost#*")
    | table("Ledger", "UpdateItem", keys="traced#*")
    | table("Ledger", "UpdateItem", keys="money#*")
    | table("Budgets", "GetItem")
    | table("Budgets", "UpdateItem", keys="money#*")
    | table("Budgets", "PutItem", "UpdateItem", keys="llc_*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "GetObject", "PutObject")
    | table("Decks", "GetItem", keys="org_*#capture")
    | send("Captures")
    | STARTS_RUNS
    | {("kms:Decrypt", "ProviderKeysKey", "")},
    "ImportRequests": ENCRYPT
    | table("Registry", "GetItem")
    | table("Budgets", "GetItem", keys="money#*")
    | table("Ledger", "BatchWriteItem", "GetItem", "PutItem", "UpdateItem")
    | bucket("LedgerTexts", "PutObject")
    | found_in("Exports")
    | bucket("Exports", "DeleteObject", "GetObject", "PutObject")
    | start("SubmitLlmBatch"),
    "WorkLlmBatch": ENCRYPT
    | CALLS_MODELS
    | table(
        "Ledger",
        *("BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
    )
    | table("Ledger", "DeleteItem", keys="llc_*")
    | table("Ledger/index/queuedRows", "Query")
    | table("Budgets", "PutItem", "UpdateItem", keys="llc_*")
    | table("Budgets", "PutItem", keys="waiting#*")
    | found_in("LedgerTexts")
    | bucket("LedgerTexts", "AbortMultipartUpload", "DeleteObject", "GetObject", "PutObject")
    | start("SubmitLlmBatch"),
    "SweepLedger": ENCRYPT
    | table("Budgets", "UpdateItem", keys="money#*")
    | table("Ledger", "GetItem", "UpdateItem")
    | table("Ledger/index/dueBatches", "Query")
    | table("Apprentice", "GetItem", "UpdateItem", keys="apr_*")
    | table("Apprentice", "GetItem", keys="apt_*")
    | start("ImportLlmRequests")
    | start("SubmitLlmBatch"),
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
