"""What judging keeps."""

from autotune_platform.storage.data_holders import WITH_COMPLETION, CompletionHolding, DataHolder

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
            what="answers, until they are verdicts; one about several completions until the last "
            "of them",
            has_text=True,
            days=7,
            kept="until it is applied, at most 7 days from when it is due",
            erased=WITH_COMPLETION,
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
            what="reviews: what people were shown and answered; when explanations are erased, "
            "reviews stay",
            has_text=True,
            kept="for good; the explanation until the text goes",
            erased=WITH_COMPLETION,
        ),
        CompletionHolding(
            key="org_*#declined#* / rev_*",
            what="which reviews a person is not offered again",
            days=7,
            kept="until the review expires",
            retained="it goes by itself",
        ),
        CompletionHolding(
            key="org_*#reviewers / *",
            of="organization",
            what="how many reviews each person answered, corrected or could not judge, in all and "
            "by day",
            days=400,
            retained="it goes by itself, and holds no text",
        ),
        CompletionHolding(
            key="org_*#agreement* / *",
            of="organization",
            what="how far two reviewers, or a grader and reviewers, agreed, in counts by day",
            days=400,
            retained="it goes by itself, and holds no text",
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
