"""What is kept of captured calls, and by which prompts decks are found."""

from collections.abc import Sequence

from autotune_platform.storage.data_holders import Holding, RegistryHolding

_DECK = "`DELETE /api/v1/decks/{id}`"
_UNMATCHED = "`DELETE /api/v1/unmatched-prompts/{id}`"
_GOES = "it goes by itself, and holds no text"
_COUNTS = "it says nothing of any deck"

TELEMETRY: Sequence[Holding] = [
    Holding(
        place="table decks",
        key="org_*#capture / settings",
        what="which calls are captured, and by which patterns they are redacted",
        retained="a setting is set anew, and holds no text of a call",
    ),
    Holding(
        place="table decks",
        key="org_*#prompt#* / dck_*",
        what="which decks have a system prompt, by its digest",
        erased=_DECK,
    ),
    Holding(
        place="table decks",
        key="org_*#templates / dck_*",
        what="system prompts with placeholders",
        erased=_DECK,
    ),
    Holding(
        place="table decks",
        key="org_*#templates / counts",
        what="how many of them there are",
        retained=_COUNTS,
    ),
    Holding(
        place="table decks",
        key="org_*#templates / characters",
        what="how long they are together",
        retained=_COUNTS,
    ),
    Holding(
        place="table decks",
        key="org_*#templates / revision",
        what="which change of them was the latest",
        retained=_COUNTS,
    ),
    Holding(
        place="table decks",
        key="smp_* / expiry",
        what="when a captured sample is erased",
        erased="`DELETE /api/v1/decks/{id}/samples/{id}`, " + _DECK,
    ),
    Holding(
        place="table decks",
        key="org_*#call#* / receipt",
        what="which sample was made of a captured call, by a digest of the call's id",
        days=7,
        retained=_GOES,
    ),
    Holding(
        place="table decks",
        key="org_*#call#* / request#*",
        what="digests of requests for samples without a deck, by idempotency key",
        days=7,
        retained=_GOES,
    ),
    Holding(
        place="table decks",
        key="org_*#unmatched / ump_*",
        what="ids of system prompts of captured calls that no deck has",
        erased=_UNMATCHED,
    ),
    Holding(
        place="table decks",
        key="org_*#unmatched / counts",
        what="how many of them there are",
        retained="it says nothing of any prompt",
    ),
    RegistryHolding(
        key="igu_* / record",
        what="ingest URLs: name, deck; a digest of the secret",
        retained="a revoked one stays refused, and the audit log names it",
    ),
    Holding(
        place="table decks",
        key="ump_* / prompt",
        what="how such a prompt begins, how many calls had it, since when",
        has_text=True,
        kept="30 days after the last call with it, or as long as captured calls are kept",
        erased=_UNMATCHED,
    ),
    Holding(
        place="table decks",
        key="ump_* / text",
        what="such a prompt",
        has_text=True,
        kept="as long as its head",
        erased=_UNMATCHED,
    ),
    Holding(
        place="table decks",
        key="ump_* / example#*",
        what="a few calls with such a prompt: request, response, metadata",
        has_text=True,
        kept="as long as captured calls are kept",
        erased=_UNMATCHED,
    ),
    Holding(
        place="table decks",
        key="ump_* / expiry",
        what="when such a prompt is erased",
        erased=_UNMATCHED,
    ),
]
