"""What the roles of the ledger's functions may do, and of those that answer OpenAI's clients."""

from tests.infra.permitting import (
    API,
    AUDITED,
    CALLS_MODELS,
    COUNTED_ENTITIES,
    COUNTED_REQUESTS,
    ENCRYPT,
    STARTS_RUNS,
    WAITING,
    bucket,
    found_in,
    send,
    start,
    table,
)

OF_LEDGER = {
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
}
