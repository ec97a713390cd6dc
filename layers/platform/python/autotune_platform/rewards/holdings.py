"""What rewards keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding

HOLDER = DataHolder(
    "rewards",
    [
        Holding(
            place="table registry",
            key="rwu_* / record",
            what="reward URLs: name, task, model; no secret",
            retained="a revoked one stays refused, and the audit log names it",
        ),
        Holding(
            place="table registry",
            key="question#* / claim",
            what="which completion answers a question, by the question's digest",
            of="completion",
            days=1,
            retained="it goes by itself, and holds no text",
        ),
    ],
)
