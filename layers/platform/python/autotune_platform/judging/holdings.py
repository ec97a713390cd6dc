"""What judging keeps."""

from autotune_platform.storage.data_holders import CompletionHolding, DataHolder

_GOES = "it goes by itself, and holds no text"

HOLDER = DataHolder(
    "judging",
    [
        CompletionHolding(
            key="call_* / call",
            what="requests to graders that may answer later: ids, digests, times",
            days=7,
            kept="7 days from when the answer is due",
            retained=_GOES,
        ),
        CompletionHolding(
            key="call_* / answer#*",
            what="answers, until they are verdicts",
            days=7,
            kept="until it is applied, at most 7 days from when it is due",
            retained=_GOES,
        ),
        CompletionHolding(
            key="cmp_* / wait#*",
            what="which request a completion waits for",
            days=7,
            kept="7 days from when the answer is due",
            retained=_GOES,
        ),
        CompletionHolding(
            key="rev_* / review",
            what="reviews: what people were shown and answered",
            retained="verdicts name their review",
        ),
        CompletionHolding(
            key="org_*#reviews#* / *",
            what="which reviews are assigned to a person",
            days=7,
            kept="until the review expires",
            retained="it goes by itself",
        ),
    ],
)
