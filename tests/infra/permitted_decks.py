"""What the roles of functions of decks may do."""

from tests.infra.permitting import (
    API,
    AUDITED,
    COUNTED_ENTITIES,
    COUNTED_REQUESTS,
    ENCRYPT,
    ORDERS,
    TAKES_CALLS,
    WAITING,
    bucket,
    drain,
    found_in,
    start,
    table,
)

OF_DECKS = {
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
}
