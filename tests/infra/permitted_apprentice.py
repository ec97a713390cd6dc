"""What the roles of the apprentice's functions may do."""

from tests.infra.permitting import (
    API,
    ASKS_MODELS,
    ASKS_VERSIONS,
    COMPARES_MEANING,
    COUNTS_RUNS,
    DECRYPT,
    ENCRYPT,
    STARTS_RUNS,
    TRAINS,
    WAITING,
    at_sagemaker,
    bucket,
    derive,
    drain,
    follow,
    found_in,
    send,
    start,
    table,
)

OF_APPRENTICE = {
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
    | found_in("ApprenticeFiles")
    | bucket("ApprenticeFiles", "GetObject", names="bases/*")
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
}
