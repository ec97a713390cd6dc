"""What the ledger keeps."""

from autotune.protocol.limits import LLM_IMPORT_DAYS
from autotune_platform.storage.data_holders import DataHolder, Holding, RegistryHolding

_KEPT = "until the request's `retentionDays` are over, or until erased"
_ERASED = "`DELETE /api/v1/llm-requests/{id}/content`"
_COUNTED = "it goes by itself, and holds no text"

HOLDER = DataHolder(
    "ledger",
    [
        RegistryHolding(
            key="llc_* / record",
            what="connections: address, prices, limits; no key",
            retained="rows name a revoked one",
        ),
        RegistryHolding(
            key="llt_* / record",
            what="tokens for OpenAI's batch API: name, connection, scopes, a digest of the secret",
            retained="a revoked one stays refused, and the audit log names it",
        ),
        RegistryHolding(
            key="llf_* / record",
            what="files of OpenAI's batch API: their names as callers gave them, sizes",
            days=LLM_IMPORT_DAYS,
            retained=_COUNTED,
        ),
        RegistryHolding(
            key="lob_* / record",
            what="batches of OpenAI's batch API: counts, callers' metadata, why lines are wrong",
            days=LLM_IMPORT_DAYS,
            retained=_COUNTED,
        ),
        RegistryHolding(
            key="openai-batch#* / claim",
            what="which batch a creation makes, by a digest of what was sent",
            days=LLM_IMPORT_DAYS,
            retained=_COUNTED,
        ),
        Holding(
            place="bucket exports",
            key="exports/org_*/llf_*/*",
            what="files of OpenAI's batch API: what was uploaded, and what came of it",
            has_text=True,
            days=LLM_IMPORT_DAYS,
            kept=f"{LLM_IMPORT_DAYS} days from its making",
            erased="`DELETE /v1/files/{id}`",
        ),
        Holding(
            place="bucket exports",
            key="exports/org_*/lob_*/*",
            what="what some lines of such a batch came to, until all have",
            has_text=True,
            days=LLM_IMPORT_DAYS,
            kept=f"until the batch has ended; at most {LLM_IMPORT_DAYS} days",
            erased="by itself, with the batch's end",
        ),
        Holding(
            place="table ledger",
            key="llc_* / key#*",
            what="keys to providers, encrypted",
            kept="until the connection is revoked",
            erased="`DELETE /api/v1/llm-connections/{id}`",
        ),
        Holding(
            place="table ledger",
            key="llm_* / state",
            what="rows: model, status, usage, cost, labels; no text",
            retained="what was paid stays known",
        ),
        Holding(
            place="table ledger",
            key="llm_* / deadline",
            what="by when requests with a `completeBy` are to be asked",
            kept="30 days beyond that",
            retained=_COUNTED,
        ),
        Holding(
            place="table ledger",
            key="llm_* / input*",
            what="what models are asked: texts, variables, parameters",
            has_text=True,
            kept=_KEPT,
            erased=_ERASED,
        ),
        Holding(
            place="table ledger",
            key="llm_* / output*",
            what="what models answered, and what was read of it",
            has_text=True,
            kept=_KEPT,
            erased=_ERASED,
        ),
        Holding(
            place="bucket ledger",
            key="ledger/llm_*/*",
            what="the same texts where they outgrow an item and stay until they are deleted",
            has_text=True,
            kept=_KEPT,
            erased=_ERASED,
        ),
        Holding(
            place="table ledger",
            key="lbt_* / [!e]*",
            what="batches: counts, cost, ids of rows",
            retained="what was paid stays known",
        ),
        Holding(
            place="bucket ledger",
            key="ledger/lbt_*/*",
            what="what a provider's job is sent and answers, as long as it is under way",
            has_text=True,
            kept="until the batch is settled",
            erased="by itself, with the batch's end",
        ),
        Holding(
            place="table ledger",
            key="creating#llc_* / lease",
            what="which batch creates a provider's job at present",
            days=1,
            retained=_COUNTED,
        ),
        Holding(
            place="table ledger",
            key="job#* / owner",
            what="which batch has which of a provider's jobs, by a digest of its name",
            retained="so that no two batches take the same job for their own",
        ),
        Holding(
            place="table ledger",
            key="group#llc_* / state",
            what="queues: which models of a connection are waited for",
            retained="it says nothing of any request",
        ),
        Holding(
            place="table ledger",
            key="calls#llc_* / openCalls",
            what="how many batches of a queue are open",
            retained="it says nothing of any request",
        ),
        Holding(
            place="table ledger",
            key="enqueue#org_* / claim",
            what="digests of requests, by idempotency key",
            retained="so that another request under the same key is refused for good",
        ),
        Holding(
            place="table ledger",
            key="open#org_* / rows",
            what="how many requests are under way",
            retained="what is under way is still counted",
        ),
        Holding(
            place="table ledger",
            key="cost#org_* / *",
            what="sums of costs by day, connection, model and purpose",
            days=800,
            retained=_COUNTED,
        ),
        Holding(
            place="table ledger",
            key="traced#org_* / *",
            what="sums of costs by day and callers' ids of experiments and rubrics",
            days=800,
            retained=_COUNTED,
        ),
        Holding(
            place="table ledger",
            key="lim_* / state",
            what="imports: how far they are, first lines that were rejected, callers' ids of these",
            days=LLM_IMPORT_DAYS,
            retained=_COUNTED,
        ),
        Holding(
            place="bucket exports",
            key="exports/org_*/lim_*/*",
            what="imported files until they are read, and which of their lines were rejected",
            has_text=True,
            days=LLM_IMPORT_DAYS,
            kept=f"until it is read; at most {LLM_IMPORT_DAYS} days from its upload",
            erased="`DELETE /api/v1/llm-imports/{id}`",
        ),
        Holding(
            place="table ledger",
            key="open#org_* / imports",
            what="how many imports are under way",
            retained="what is under way is still counted",
        ),
        Holding(
            place="executions",
            key="ImportLlmRequests",
            what="ids of imports, as executions hand them on",
            days=90,
            kept="90 days after its end, by Step Functions",
            retained=_COUNTED,
        ),
        Holding(
            place="executions",
            key="SubmitLlmBatch",
            what="ids of batches and queues, as executions hand them on",
            days=90,
            kept="90 days after its end, by Step Functions",
            retained=_COUNTED,
        ),
    ],
)
"""The ledger as the platform stores it."""
