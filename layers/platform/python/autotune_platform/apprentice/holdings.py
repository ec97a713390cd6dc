"""What the apprentice keeps."""

from autotune_platform.storage.data_holders import DataHolder, Holding

_TASK = "`DELETE /api/v1/apprentice/tasks/{id}`"
_RUN = "`DELETE /api/v1/apprentice/runs/{id}/content`"
_EXAMPLE = "`DELETE /api/v1/apprentice/tasks/{id}/examples/{id}`"

HOLDER = DataHolder(
    "apprentice",
    [
        Holding(
            place="table apprentice",
            key="org_*#tasks / task#*",
            what="tasks of the apprentice: name, description, number of the configuration",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="org_*#tasks / counts",
            what="how many tasks of the apprentice an organisation has",
            retained="it is a number",
        ),
        Holding(
            place="table apprentice",
            key="apt_* / configuration#*",
            what="versions of a task's configuration: prompts, schemas, models, budgets; no key",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apr_* / run",
            what="runs: inputs, what versions answered, who was asked; no answer of the paid model",
            erased=f"{_RUN}, {_TASK}",
        ),
        Holding(
            place="table apprentice",
            key="apt_* / evidence#*",
            what="what a version's pairs say of it, as numbers",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_* / refold#*",
            what="how far a version's pairs are folded anew, as numbers, until all are",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_* / change#*",
            what="what pairs did to versions: canaries, promotions, alarms, as numbers",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_* / examples#*",
            what="how many examples there are of a definition, and what they cost",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_*#examples#* / exm_*",
            what="examples: which run or import each is of, and digests of its input; no text",
            erased=f"{_EXAMPLE}, {_RUN}, {_TASK}",
        ),
        Holding(
            place="table apprentice",
            key="apt_*#imported#exm_* / texts",
            what="what was asked and answered in imported examples",
            erased=f"{_EXAMPLE}, {_TASK}",
        ),
        Holding(
            place="table apprentice",
            key="apt_* / data#*",
            what="how a definition's examples are split, and digests of data sets",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_* / day#*",
            what="counts of a day's runs, their agreement, and what runs and trainings cost",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_*#trainings / training#*",
            what="trainings: digests of their data and their model, and what a test said of it",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_*#trainings / certificate#*",
            what="certificates of versions: digests, what a test said, what it cost; a signature",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_*#trainings / last",
            what="how many trainings a task had",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_*#jobs / job#*",
            what="jobs that are not paid for yet: their price, and what is set aside; no text",
            kept="until a day after they are paid for",
            retained="it is by what the job of a deleted task is stopped and paid for",
        ),
        Holding(
            place="table apprentice",
            key="apt_*#hosting / host#*",
            what="what SageMaker hosts of a task, and the last minute in which it was asked",
            kept="until a day after SageMaker hosts it no more; of a deleted task until then",
            retained="it is by what a deleted task is taken down; it has no text",
        ),
        Holding(
            place="table apprentice",
            key="apt_*#hosting / cost#*",
            what="how long a task's instances were there on a day, and what they cost",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_*#pairs#* / *",
            what="pairs: how far two answers to a run agreed, from 0 to 1",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_*#runs#* / *",
            what="the list of a day's runs: which way each went; no input, no output",
            erased=_TASK,
        ),
        Holding(
            place="table apprentice",
            key="apt_* / version#*",
            what="versions of the small model: which model, and whether it is hosted",
            erased=_TASK,
        ),
        Holding(
            place="bucket apprentice",
            key="apprentice/apt_*/data/*",
            what="data sets: what small models are trained from and judged by",
            has_text=True,
            erased=_TASK,
        ),
        Holding(
            place="bucket apprentice",
            key="apprentice/apt_*/models/*",
            what="what was trained: outputs that linear students choose among, hashes of words, "
            "weights",
            has_text=True,
            kept="until erased; of no version: until its training has ended, or for 30 days after "
            "where a job made it that nobody judged",
            erased=_TASK,
        ),
        Holding(
            place="bucket apprentice",
            key="apprentice/apt_*/jobs/*",
            what="what jobs that train read and write: prompts, checkpoints, a model",
            has_text=True,
            kept="until their training has ended",
            erased=_TASK,
        ),
        Holding(
            place="bucket apprentice",
            key="apprentice/bases/*",
            what="weights of base models, which whoever deploys has put there",
            retained="they are nobody's data",
        ),
        Holding(
            place="bucket apprentice",
            key="apprentice/embeddings/*",
            what="embedding models, which whoever deploys has put there",
            retained="they are nobody's data",
        ),
    ],
)
