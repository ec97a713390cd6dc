"""What graders keep."""

from autotune_platform.storage.data_holders import DataHolder, RegistryHolding

_DELETION = "`DELETE /api/v1/graders/{id}`"

HOLDER = DataHolder(
    "graders",
    [
        RegistryHolding(
            key="grd_* / record",
            what="graders: name, address, settings; no secret",
            erased=_DELETION,
        ),
        RegistryHolding(key="health#* / grd_*", what="health of graders", erased=_DELETION),
    ],
)
