"""What access keeps."""

from autotune_platform.storage.data_holders import DataHolder, RegistryHolding

HOLDER = DataHolder(
    "access",
    [
        RegistryHolding(
            key="org_* / record",
            what="organisations: their names",
            retained="everything else names its organisation",
        ),
        RegistryHolding(
            key="key_* / record",
            what="keys: name, role, principal; no secret",
            retained="a revoked key stays refused, and the audit log names it",
        ),
        RegistryHolding(
            key="ses_* / record",
            what="sessions of the console: name, role, principal; no secret; a code's hash",
            days=8,
            retained="they go seven days after they have ended by their time",
        ),
        RegistryHolding(
            key="use#key_* / ses_*",
            what="when sessions were last used",
            days=8,
            retained="as long as the session that it is about",
        ),
        RegistryHolding(
            key="rate#org_* / sessions",
            what="how many sessions were made in twelve hours",
            days=1,
            retained="they go when their twelve hours are over",
        ),
        RegistryHolding(
            key="use#key_* / use",
            what="when keys were last used",
            retained="as long as the key that it is about",
        ),
        RegistryHolding(
            key="nonce#* / nonce",
            what="ids of requests and hashes of sign-ins, so that none is accepted twice",
            days=1,
            retained="they go when their signature is too old to be accepted",
        ),
        RegistryHolding(
            key="rate#org_* / second",
            what="how many requests came in each second, by key",
            days=1,
            retained="they go when their second is over",
        ),
        RegistryHolding(
            key="entities#org_* / counts",
            what="how many keys, graders, tasks and reward URLs there are",
            retained="as long as what is counted",
        ),
    ],
)
