"""What access keeps."""

from autotune_platform.storage.data_holders import DataHolder, Holding

HOLDER = DataHolder(
    "access",
    [
        Holding(
            place="table registry",
            key="org_* / record",
            what="organisations: their names",
            retained="everything else names its organisation",
        ),
        Holding(
            place="table registry",
            key="key_* / record",
            what="keys: name, role, principal; no secret",
            retained="a revoked key stays refused, and the audit log names it",
        ),
        Holding(
            place="table registry",
            key="nonce#* / nonce",
            what="ids of requests, so that none is accepted twice",
            days=1,
            retained="they go when their signature is too old to be accepted",
        ),
    ],
)
