"""Pages of the console about grading, and which field of the API each of their figures is.

An address holds names in braces for ids of what ``make demo`` makes, such as ``{task_id}``.
"""

from tests.support.page_figures import (
    Figure,
    Part,
    Rows,
    bars,
    duration,
    joined,
    nano_dollars,
    number,
    percent,
    plain,
    score,
    shares,
    size,
    text,
)

_OUTCOME = {
    "Scored": number("counts.scored"),
    "Mean score": score("avgScore"),
    "Abstained": number("counts.abstained"),
    "Failed": number("counts.failed"),
}
_BY = {
    **_OUTCOME,
    "p50": duration("p50TurnaroundMs"),
    "p99": duration("p99TurnaroundMs"),
}


def _in(where: str, figures: dict[str, Figure]) -> dict[str, Figure]:
    return {
        label: Figure(figure.show, f"{where}.{figure.field}") for label, figure in figures.items()
    }


_VERDICTS = {
    "Completion": plain("completionId"),
    "State": text("state"),
    "Score": score(lambda it: it["score"] and it["score"]["value"]),
    "Took": duration("latencyMs"),
}
# Views by address, with what they show of which answers.
GRADING: dict[str, list[Part]] = {
    "#/": [
        Part(
            "overview?window=24h",
            stats={
                "Open completions": number("overview.open.completions"),
                "Open batches": number("overview.open.batches"),
                "Overdue batches": number("overview.stuck.total"),
                "Circuits open": number(lambda it: len(it["overview"]["circuits"])),
                "Spent today": nano_dollars("overview.budgets.0.spentNanoUsd"),
                "Submitted": number("overview.totals.submitted"),
                "Scored": number("overview.totals.counts.scored"),
                "Abstained": number("overview.totals.counts.abstained"),
                "Failed": number("overview.totals.counts.failed"),
                "p50 turnaround": duration("overview.totals.p50TurnaroundMs"),
                "p99 turnaround": duration("overview.totals.p99TurnaroundMs"),
            },
            tables={
                "Budgets": Rows(
                    "overview.budgets",
                    {
                        "Period": text("period"),
                        "Which": plain("name"),
                        "Spent": nano_dollars("spentNanoUsd"),
                        "Reserved": nano_dollars("reservedNanoUsd"),
                    },
                )
            },
        )
    ],
    "#/tasks": [
        Part(
            "tasks?limit=50",
            tables={
                "Tasks": Rows(
                    "tasks",
                    {
                        "Id": plain("id"),
                        "Graders": number(lambda it: len(it["graders"])),
                        "Reviewed": plain(lambda it: "yes" if it["review"] else "no"),
                    },
                )
            },
        )
    ],
    "#/tasks/{task_id}": [
        Part(
            "tasks/{task_id}/stats?window=7d",
            stats={
                **_in("totals", _OUTCOME),
                "p50 turnaround": duration("totals.p50TurnaroundMs"),
                "p99 turnaround": duration("totals.p99TurnaroundMs"),
            },
            images={"Scores": bars("totals.scoreDistribution")},
            tables={
                "By model": Rows("models", {"Model": plain("modelId"), **_BY}),
                "By version of the grader": Rows(
                    "versions", {"Version": plain("graderVersion"), **_BY}
                ),
            },
        )
    ],
    "#/completions?task={task_id}": [
        Part(
            "scores?taskId={task_id}&order=newest&limit=50",
            tables={"Completions": Rows("scores", {**_VERDICTS, "Model": plain("modelId")})},
        )
    ],
    "#/completions/{completion_id}": [
        Part(
            "completions/{completion_id}/explanation",
            stats={
                "State": text("verdict.state"),
                "Score": score("verdict.score.value"),
                "Confidence": score("verdict.score.confidence"),
                "Took": duration("verdict.latencyMs"),
            },
        )
    ],
    "#/graders": [
        Part(
            "graders?limit=50",
            tables={
                "Graders": Rows(
                    "graders", {"Id": plain("id"), "Status": text("status"), "Kind": plain("kind")}
                )
            },
        )
    ],
    "#/graders/{grader_id}": [
        Part(
            "graders/{grader_id}/stats?window=7d",
            stats={
                "Scored": number("counts.scored"),
                "Abstained": number("counts.abstained"),
                "Failed": number("counts.failed"),
                "Error rate": percent("errorRate"),
                "p50 latency": duration("p50LatencyMs"),
                "p99 latency": duration("p99LatencyMs"),
            },
            images={"Scores": bars("scoreDistribution")},
            tables={
                "By version": Rows(
                    "versions",
                    {
                        "Version": plain("version"),
                        **_OUTCOME,
                        "Error rate": percent("errorRate"),
                        "p50": duration("p50LatencyMs"),
                        "p99": duration("p99LatencyMs"),
                    },
                )
            },
        ),
        Part("graders/{grader_id}/usage", stats={"Used this month": number("total")}),
        Part(
            "reviews/agreement?graderId={grader_id}&window=7d",
            stats={
                "Compared": number("agreement.pairs"),
                "Same score": percent("agreement.shareWithinTolerance"),
                "Mean difference": score("agreement.meanAbsoluteDifference"),
                "Weighted kappa": score("agreement.weightedKappa"),
            },
        ),
    ],
    "#/batches": [
        Part(
            "batches?limit=50",
            tables={
                "Batches": Rows(
                    "batches",
                    {
                        "Batch": plain("id"),
                        "State": text("state"),
                        "All": number("counts.expected"),
                        "Failed": number("counts.failed"),
                        "Pending": number("counts.pending"),
                    },
                )
            },
        )
    ],
    "#/batches/{batch_id}": [
        Part(
            "batches/{batch_id}/explanation",
            images={"Verdicts": shares("counts")},
            facts={"Completions": number("counts.expected")},
        ),
        Part(
            "batches/{batch_id}/completions?limit=50",
            tables={
                "Completions": Rows("completions", {**_VERDICTS, "Attempts": number("attempts")})
            },
        ),
    ],
    "#/runs": [
        Part(
            "runs?limit=50",
            tables={
                "Runs": Rows(
                    "runs",
                    {
                        "Run": plain("id"),
                        "State": text("state"),
                        "Left": joined(number("remaining"), " / ", number("completions")),
                        "Attempts": number("attempt"),
                    },
                )
            },
        )
    ],
    "#/runs/{run_id}": [
        Part(
            "runs/{run_id}",
            images={"Verdicts": shares("run.counts")},
            facts={
                "Without a verdict": joined(
                    number("run.remaining"), " of ", number("run.completions")
                ),
                "Attempts": number("run.attempt"),
            },
        )
    ],
    "#/reviews?state=answered": [
        Part(
            "reviews?state=answered&limit=50",
            tables={
                "Reviews": Rows(
                    "reviews", {"Review": plain("id"), "Completion": plain("completionId")}
                )
            },
        )
    ],
    "#/reviews/{review_id}": [
        Part(
            "reviews/{review_id}",
            facts={
                "Score": score("review.answer.value"),
                "Confidence": score("review.answer.confidence"),
            },
        )
    ],
    "#/reviews/reviewers": [
        Part(
            "reviews/progress?limit=50",
            tables={
                "Reviewers": Rows(
                    "reviewers",
                    {
                        "Reviewer": plain("reviewerId"),
                        "Today": number("today.answered"),
                        "Answered": number("total.answered"),
                        "Second opinions": number("total.secondOpinions"),
                        "Corrected": number("total.corrected"),
                        "Could not judge": number("total.cannotJudge"),
                    },
                )
            },
        )
    ],
    "#/exports": [
        Part(
            "exports?limit=200",
            tables={
                "Exports": Rows(
                    lambda it: it["exports"][::-1],
                    {
                        "Export": plain("id"),
                        "State": text("state"),
                        "Records": number("progress.recordsWritten"),
                        "Looked at": number("progress.scanned"),
                    },
                )
            },
        )
    ],
    "#/exports/{export_id}": [
        Part(
            "exports/{export_id}",
            stats={
                "Records written": number("export.progress.recordsWritten"),
                "Verdicts looked at": number("export.progress.scanned"),
                "Parts": number("export.progress.parts"),
            },
            tables={
                "Files": Rows(
                    lambda it: [
                        *it["export"]["downloads"]["parts"],
                        it["export"]["downloads"]["manifest"],
                    ],
                    {
                        "File": plain("name"),
                        "Records": number(lambda it: it.get("records")),
                        "Size": size("bytes"),
                        "SHA-256": plain("sha256"),
                    },
                )
            },
        )
    ],
    "#/webhooks": [
        Part(
            "webhooks",
            tables={"Webhooks": Rows("webhooks", {"URL": plain("url"), "Status": text("status")})},
        )
    ],
    "#/webhooks/{webhook_id}": [
        Part(
            "webhooks/{webhook_id}/deliveries?limit=50",
            tables={
                "Deliveries": Rows(
                    "deliveries",
                    {
                        "Event id": plain("eventId"),
                        "Event": plain("eventType"),
                        "Status": text("status"),
                        "Attempts": number("attempts"),
                        "Last answer": plain("lastStatus"),
                    },
                )
            },
        )
    ],
    "#/reward-urls": [
        Part(
            "reward-urls?limit=50",
            tables={
                "Reward URLs": Rows(
                    "rewardUrls",
                    {
                        "Name": plain("name"),
                        "State": text("state"),
                        "Task": plain("taskId"),
                        "Model": plain("modelId"),
                    },
                )
            },
        )
    ],
}
