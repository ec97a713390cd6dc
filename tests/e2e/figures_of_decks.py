"""Pages of the console about decks, and which field of the API each of their figures is.

An address holds names in braces for ids of what ``make demo`` makes, such as ``{deck_id}``.
"""

from typing import Any

from tests.support.page_figures import (
    Figure,
    Part,
    Rows,
    difference,
    joined,
    level,
    nano_dollars,
    number,
    percent,
    plain,
    score,
    shares,
    text,
)

_DECK_GRADER = "decks/{deck_id}/graders/{deck_grader_id}"
_RUN_OF_DECK = {
    "Run": plain("id"),
    "Status": text("status"),
    "Graders": number(lambda it: len(it["graders"])),
    "Samples": number("samples"),
    "Cost": nano_dollars("costNanoUsd"),
}


def _interval(where: str, figure: Any = score) -> Figure:
    return joined(figure(f"{where}.low"), " to ", figure(f"{where}.high"))


def _agreement(found: Any) -> str:
    """What a deck keeps of the agreement of one grader."""
    if found["kappa"] is None:
        return "undefined"
    interval = "no interval" if found["low"] is None else _interval("of").of({"of": found})
    few = "" if found["sufficient"] else ", too few labels"
    return f"{score('kappa').of(found)}, {interval}{few}"


def _rated(half: str) -> Figure:
    return joined(
        number(f"progress.{half}.rated"), " rated, ", number(f"progress.{half}.samples"), " samples"
    )


def _labels(deck: Any) -> int | None:
    return max((one["labels"] for one in deck["agreement"]), default=None)


# Views by address, with what they show of which answers.
DECKS: dict[str, list[Part]] = {
    "#/decks": [
        Part(
            "decks?limit=50",
            tables={
                "Decks": Rows(
                    "decks",
                    {
                        "Name": plain("name"),
                        "Status": text("status"),
                        "Samples": number("samples"),
                        "Graders": number("graders"),
                        "Labels": number(_labels),
                        "κ with people": plain(
                            lambda it: " ".join(
                                f"{_agreement(one)} {one['name']}" for one in it["agreement"]
                            )
                        ),
                        "Spent": nano_dollars("spentNanoUsd"),
                    },
                )
            },
        )
    ],
    "#/decks/{deck_id}": [
        Part(
            "decks/{deck_id}",
            stats={
                "Samples": number("deck.samples"),
                "Graders": number("deck.graders"),
                "Spent": nano_dollars("deck.spentNanoUsd"),
            },
            facts={"Version": number("deck.version")},
        ),
        Part(
            "decks/{deck_id}/graders",
            tables={
                "Graders": Rows(
                    "graders",
                    {
                        "Name": plain("name"),
                        "Status": text("status"),
                        "Version": number("version"),
                        "Judge": plain("judge.model"),
                    },
                )
            },
        ),
    ],
    "#/decks/{deck_id}/samples": [
        Part(
            "decks/{deck_id}/samples?limit=50",
            tables={
                "Samples": Rows(
                    "samples",
                    {"Characters": number("outputCharacters"), "Prompt": number("deckVersion")},
                )
            },
        )
    ],
    "#/decks/{deck_id}/runs": [
        Part("decks/{deck_id}/runs?limit=50", tables={"Runs": Rows("runs", _RUN_OF_DECK)})
    ],
    "#/decks/{deck_id}/runs/{deck_run_id}": [
        Part(
            "decks/{deck_id}/runs/{deck_run_id}",
            stats={
                "Cost": nano_dollars("run.costNanoUsd"),
                "Samples": number("run.samples"),
                "There before": number("run.counts.known"),
            },
            images={
                "Judgements": shares("run.counts"),
                "Cost": joined(
                    nano_dollars("run.costNanoUsd"),
                    " paid, ",
                    nano_dollars("run.reservedNanoUsd"),
                    " under way, at most ",
                    nano_dollars("run.capNanoUsd"),
                ),
            },
        )
    ],
    f"#/{_DECK_GRADER}/results": [
        Part(
            f"{_DECK_GRADER}/results?limit=50",
            tables={
                "Results": Rows(
                    "results",
                    {
                        "Sample": plain("sampleId"),
                        "Level": plain(
                            lambda it: (
                                level("score").of(it) if it["status"] == "scored" else it["status"]
                            )
                        ),
                        "Cost": nano_dollars("costNanoUsd"),
                    },
                )
            },
        )
    ],
    f"#/{_DECK_GRADER}/agreement?version={{read_version}}": [
        Part(
            f"{_DECK_GRADER}/agreement?version={{read_version}}",
            stats={
                "κ with people": score("agreement.kappa.value"),
                "Its interval": _interval("agreement.kappa"),
                "Pairs": number("agreement.n"),
                "Coverage": percent("agreement.coverage"),
                "Look": number("agreement.look"),
                "Bias": difference("agreement.meanBias.value"),
                "Same level": percent("agreement.percentAgreement"),
                "People": number("agreement.ceiling.raters"),
            },
            tables={
                "Bias by level": Rows(
                    "agreement.biasByLevel",
                    {"The judge says": level("level"), "Samples": number("n")},
                ),
                "Whether it applies": Rows(
                    lambda it: (
                        [
                            {"judge": of["bothApply"], "abstains": of["onlyJudgeAbstains"]},
                            {
                                "judge": of["onlyTruthDoesNotApply"],
                                "abstains": of["neitherApplies"],
                            },
                        ]
                        if (of := it["agreement"]["applicability"])
                        else []
                    ),
                    {"Judge gives a level": number("judge"), "Judge abstains": number("abstains")},
                ),
            },
        )
    ],
    f"#/{_DECK_GRADER}/disagreements?version=1": [
        Part(
            f"{_DECK_GRADER}/disagreements?version=1&limit=10",
            tables={
                "How often people and judge say which level": Rows(
                    "confusion",
                    {level("").of(said): number(str(said + 3)) for said in range(-3, 4)},
                )
            },
        )
    ],
    f"#/{_DECK_GRADER}/patterns?version=1": [
        Part(
            f"{_DECK_GRADER}/patterns?version=1",
            tables={
                "Errors by kind of sample": Rows(
                    "patterns.errors",
                    {
                        "Judge is too high by": difference("meanError"),
                        "Samples": number("n"),
                        "q": score("q"),
                    },
                )
            },
        )
    ],
    f"#/{_DECK_GRADER}/fix": [
        Part(
            f"{_DECK_GRADER}/edits?limit=20",
            stats={"Looks spent": number("looks"), "Level of the next": plain("nextAlpha")},
            facts={},
        ),
        Part(
            f"{_DECK_GRADER}/versions?limit=20",
            tables={
                "Versions and their effects": Rows(
                    "versions",
                    {"Look": number(lambda it: it["effect"] and it["effect"]["look"])},
                )
            },
        ),
    ],
    "#/labelling/{deck_id}/{deck_grader_id}": [
        Part(
            f"{_DECK_GRADER}/feedback/progress",
            images={"Held out": _rated("holdout"), "Development": _rated("development")},
        )
    ],
}
