"""What scoring keeps."""

from autotune_platform.storage.data_holders import DataHolder, Holding

HOLDER = DataHolder(
    "scoring",
    [
        Holding(
            place="executions",
            key="ScoreCompletions",
            what="ids of completions, as executions hand them on",
            of="completion",
            days=90,
            kept="90 days after its end, by Step Functions",
            retained="it goes by itself, and holds no text",
        )
    ],
)
