"""What decks keep."""

from autotune_platform.decks.runs.models import RUN_DAYS
from autotune_platform.decks.telemetry.holdings import TELEMETRY
from autotune_platform.storage.data_holders import DataHolder, Holding

_DECK = "`DELETE /api/v1/decks/{id}`"
_SAMPLE = f"`DELETE /api/v1/decks/{{id}}/samples/{{id}}`, {_DECK}"

_GOES = "it goes by itself, and holds no text"

HOLDER = DataHolder(
    "decks",
    [
        Holding(
            place="table decks",
            key="dck_* / deck",
            what="decks: name, description, settings",
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / counts",
            what="how many samples and graders a deck has",
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / figures",
            what="what a deck's runs cost, and how far its graders, by name, agree with people",
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / version#*",
            what="versions of a deck: system prompts, notes",
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / grader#grd_*",
            what="graders of a deck: name, status",
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / gone#grd_*",
            what="ids of deleted graders, until what was said for them is erased",
            erased="within hours, by itself",
        ),
        Holding(
            place="table decks",
            key="dck_* / rubric#grd_*",
            what="versions of a deck's grader: criteria, levels, examples, judge, notes",
            has_text=True,
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / sample#smp_*",
            what="samples: how their texts begin, how long they are, group, half, model",
            has_text=True,
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="dck_* / text#*",
            what="which sample was the first with its texts, by a digest of these",
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="dck_* / request#*",
            what="digests of requests for samples, by idempotency key",
            days=7,
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="smp_* / content",
            what="samples: request, response, metadata",
            has_text=True,
            erased=_SAMPLE,
        ),
        Holding(
            place="bucket content",
            key="content/dck_*/smp_*",
            what="the same where they outgrow an item",
            has_text=True,
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="dck_* / edit#grd_*",
            what="edits of rubrics: patches, which may have examples from samples, and effects",
            has_text=True,
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / fixing#grd_*",
            what="the latest proposal of a grader's edits: what disagreements were named, patterns",
            has_text=True,
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / looks#grd_*",
            what="when held-out labels of a grader were looked at, for which edit",
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / run#drn_*",
            what="runs of a deck: graders, counts, money, names of graders that a model proposed",
            has_text=True,
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="dck_* / runkey#*",
            what="idempotency keys of runs, as digests",
            days=RUN_DAYS,
            retained=_GOES,
        ),
        Holding(
            place="table decks",
            key="drn_* / plan#*",
            what="ids of a run's samples",
            days=RUN_DAYS,
            retained=_GOES,
        ),
        Holding(
            place="table decks",
            key="drn_* / chunk#*",
            what="ids of what a run asks",
            days=RUN_DAYS,
            retained=_GOES,
        ),
        Holding(
            place="table decks",
            key="drn_* / proposal",
            what="graders that a run proposes, until it ends",
            has_text=True,
            days=RUN_DAYS,
            erased=_DECK,
        ),
        Holding(
            place="table decks",
            key="grd_* / open#*",
            what="which run a grader's version is at work in",
            retained="it goes at the end of the run, and holds no text",
        ),
        Holding(
            place="table decks",
            key="grd_* / result#*",
            what="results: levels, reasons, costs",
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="grd_* / repeat#*",
            what="results of samples that were judged again",
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="grd_* / words#*",
            what="what judges say for their results, which may quote samples",
            has_text=True,
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="smp_* / result#*",
            what="which results a sample has",
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="grd_* / feedback#smp_*",
            what="ratings and corrections: level, rater, explanation",
            has_text=True,
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="grd_* / truth#smp_*",
            what="what counts as true of a sample, with each rater's level",
            has_text=True,
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="grd_* / adjudication#smp_*",
            what="decisions about ratings that are apart: level, who decided, explanation",
            has_text=True,
            erased=_SAMPLE,
        ),
        Holding(
            place="table decks",
            key="grd_* / lease#smp_*",
            what="who is at a sample, until when",
            days=1,
            kept="15 minutes, and up to two days behind them",
            retained="it goes by itself",
        ),
        Holding(
            place="table decks",
            key="grd_* / shown#smp_*",
            what="to whom a judge's result was shown",
            erased=_SAMPLE,
        ),
        *TELEMETRY,
        Holding(
            place="table decks",
            key="grd_* / hand#*",
            what="ids of the samples that a person is offered next",
            days=1,
            kept="15 minutes, and up to two days behind them",
            retained="it goes by itself",
        ),
        Holding(
            place="table decks",
            key="grd_* / fresh#*",
            what="how many labels came since a calibration was measured",
            retained="it says nothing of any sample, and goes with its deck",
        ),
        Holding(
            place="executions",
            key="WorkDeckRun",
            what="ids of decks, graders and runs, as executions hand them on",
            days=90,
            kept="90 days after its end, by Step Functions",
            retained=_GOES,
        ),
        Holding(
            place="table decks",
            key="org_*#decks / counts",
            what="how many decks there are",
            retained="it says nothing of any deck",
        ),
    ],
)
