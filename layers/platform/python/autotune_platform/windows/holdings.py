"""What windows keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding
from autotune_platform.windows.grains import DAY, FIVE_MINUTES, HOUR

_WHY = "it sums up verdicts, which stay, and goes by itself"

HOLDER = DataHolder(
    "windows",
    [
        Holding(
            place="table completions",
            key=f"window#{grain.name}#org_* / *",
            what=f"counts of each {each}, of an organisation, its tasks and graders",
            days=grain.kept.days,
            retained=_WHY,
        )
        for grain, each in ((FIVE_MINUTES, "five minutes"), (HOUR, "hour"), (DAY, "day"))
    ],
)
