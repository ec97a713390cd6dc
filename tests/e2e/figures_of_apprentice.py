"""Pages of the console about tasks of the apprentice, and which field each of their figures is."""

from typing import Any

from tests.support.page_figures import (
    Figure,
    Part,
    Rows,
    nano_dollars,
    number,
    percent,
    plain,
    score,
    text,
)

_TASK = "apprentice/tasks/intents"


def _evidence(version: Any) -> str:
    agreement = version["agreement"]
    agrees = f"agrees in {percent('mean').of(agreement)} of {number('pairs').of(agreement)} pairs"
    come = f"{number('evidence').of(agreement)} of the {number('evidenceNeeded').of(agreement)}"
    return f"{agrees}: {come} that it takes to graduate"


APPRENTICE: dict[str, list[Part]] = {
    "#/apprentice": [
        Part(
            f"{_TASK}/status",
            tables={
                "Tasks of the apprentice": Rows(
                    lambda it: [it["status"]],
                    {
                        "Task": plain("name"),
                        "Agrees": percent("versions.0.agreement.mean"),
                        "At least": percent("versions.0.agreement.bound"),
                        "Saved, 30 days": nano_dollars("savings.netNanoUsd"),
                    },
                )
            },
        )
    ],
    "#/apprentice/intents": [
        Part(
            f"{_TASK}/report?days=30",
            stats={
                "Phase": number("report.status.phase"),
                "Agrees at least": percent("report.status.versions.0.agreement.bound"),
                "Checked": percent("report.status.versions.0.sampling.rate"),
                "Saved": nano_dollars("report.status.savings.netNanoUsd"),
            },
            facts={
                "Answers": nano_dollars("report.totals.costAnswersNanoUsd"),
                "Checks": nano_dollars("report.totals.costChecksNanoUsd"),
                "Local answers": number("report.savings.localAnswers"),
            },
            tables={
                "Versions": Rows(
                    "report.status.versions",
                    {
                        "Version": number("number"),
                        "Stage": text("stage"),
                        "Pairs": number("pairs"),
                        "Agrees": percent("agreement.mean"),
                        "At least": percent("agreement.bound"),
                    },
                ),
                "Runs by day": Rows(
                    lambda it: it["report"]["days"][::-1],
                    {
                        "Day (UTC)": plain("day"),
                        "Runs": number("counts.begun"),
                        "Small model": number("counts.local"),
                        "Paid model": number("counts.remote"),
                    },
                ),
            },
        )
    ],
    "#/apprentice/intents/runs": [
        Part(
            f"{_TASK}/runs?limit=50",
            tables={
                "Runs": Rows(
                    "runs",
                    {
                        "Run": plain("id"),
                        "State": text("state"),
                        "Cost": nano_dollars("routing.costNanoUsd"),
                    },
                )
            },
        )
    ],
    "#/apprentice/intents/pairs": [
        Part(
            f"{_TASK}/pairs?version=1&limit=50",
            tables={
                "Pairs": Rows(
                    "pairs",
                    {
                        "Pair": number("sequence"),
                        "Score": score("score"),
                        "Run": plain("runId"),
                    },
                )
            },
        )
    ],
    "#/apprentice/intents/versions": [
        Part(
            f"{_TASK}/versions?limit=20",
            tables={
                "Versions of the small model": Rows(
                    "versions", {"Version": number("number"), "Model": plain("model")}
                )
            },
        ),
        Part(
            f"{_TASK}/status",
            tables={
                "Versions of the small model": Rows(
                    "status.versions",
                    {"Stage": text("stage"), "Evidence": Figure(_evidence, "")},
                )
            },
        ),
    ],
    "#/apprentice/intents/configuration": [
        Part(
            f"{_TASK}/configurations?limit=20",
            tables={
                "Versions of the configuration": Rows(
                    "configurations", {"Version": number("version"), "By": plain("createdBy")}
                )
            },
        )
    ],
}
