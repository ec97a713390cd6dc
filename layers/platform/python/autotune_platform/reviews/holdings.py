"""What reviews keep; the reviews themselves are kept by ``judging``."""

from autotune_platform.storage.data_holders import DataHolder, RegistryHolding

HOLDER = DataHolder(
    "reviews",
    [
        RegistryHolding(
            key="rvl_* / record",
            what="review links: whose they are, who made them; no token",
            days=7,
            retained="they go when they have ended by their time",
        ),
    ],
)
