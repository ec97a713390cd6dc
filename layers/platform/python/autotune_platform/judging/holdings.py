"""What judging keeps."""

from autotune_platform.storage.data_holders import DataHolder, Holding

_GOES = "it goes by itself, and holds no text"

HOLDER = DataHolder(
    "judging",
    [
        Holding(
            place="table completions",
            key="call_* / call",
            what="requests to graders that may answer later: ids, digests, times",
            of="completion",
            days=7,
            kept="7 days from when the answer is due",
            retained=_GOES,
        ),
        Holding(
            place="table completions",
            key="call_* / answer#*",
            what="answers, until they are verdicts",
            of="completion",
            days=7,
            kept="until it is applied, at most 7 days from when it is due",
            retained=_GOES,
        ),
        Holding(
            place="table completions",
            key="cmp_* / wait#*",
            what="which request a completion waits for",
            of="completion",
            days=7,
            kept="7 days from when the answer is due",
            retained=_GOES,
        ),
        Holding(
            place="table completions",
            key="rev_* / review",
            what="reviews: what people were shown and answered",
            of="completion",
            retained="verdicts name their review",
        ),
        Holding(
            place="table completions",
            key="org_*#reviews#* / *",
            what="which reviews are assigned to a person",
            of="completion",
            days=7,
            kept="until the review expires",
            retained="it goes by itself",
        ),
    ],
)
