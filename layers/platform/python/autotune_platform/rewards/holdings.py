"""What rewards keep."""

from autotune_platform.storage.data_holders import DataHolder, RegistryHolding

HOLDER = DataHolder(
    "rewards",
    [
        RegistryHolding(
            key="rwu_* / record",
            what="reward URLs: name, task, model; no secret",
            retained="a revoked one stays refused, and the audit log names it",
        ),
        RegistryHolding(
            key="question#* / claim",
            what="which completion answers a question, by the question's digest",
            of="completion",
            days=1,
            retained="it goes by itself, and holds no text",
        ),
    ],
)
