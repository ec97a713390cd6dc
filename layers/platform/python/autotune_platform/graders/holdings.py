"""What graders keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding

_DELETION = "`DELETE /api/v1/graders/{id}`"

HOLDER = DataHolder(
    "graders",
    [
        Holding(
            place="table registry",
            key="grd_* / record",
            what="graders: name, address, settings; no secret",
            erased=_DELETION,
        ),
        Holding(
            place="table registry",
            key="health#* / grd_*",
            what="health of graders",
            erased=_DELETION,
        ),
    ],
)
