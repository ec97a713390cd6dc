"""What projections keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding

_WHY = "it sums up verdicts, which stay"

HOLDER = DataHolder(
    "projections",
    [
        Holding(
            place="table completions",
            key="bat_* / checkpoint*",
            what="which verdicts of each generation of a batch are counted",
            of="completion",
            retained="without it, verdicts would be counted again",
        ),
        Holding(
            place="table registry",
            key="grd_* / statistics#*",
            what="counts and histograms of each version of a grader",
            retained=_WHY,
        ),
        Holding(
            place="table registry",
            key="grd_* / metering#*",
            what="what an organisation had of a grader in each month",
            retained=_WHY,
        ),
    ],
)
