"""How it is written down what roles may do, and what several functions may."""

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
