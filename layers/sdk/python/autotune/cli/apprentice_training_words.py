"""What is said of a training that made no version."""

from collections.abc import Callable, Mapping

from autotune.protocol.apprentice_trainings import (
    ApprenticeTraining,
    ApprenticeTrainingError,
    ApprenticeTrainingObjection,
)


def why_not(training: ApprenticeTraining) -> str | None:
    """Return why no version came of a training; None where none of that is so, or not yet."""
    if training.error is not None:
        said_of_it = _ERRORS.get(training.error, training.error)
        if training.model_taken_by is not None:
            said_of_it = f"{said_of_it.removesuffix(_KEPT)}; {_taken(training)}"
        elif training.error == "platform_error":
            said_of_it += f": {_after_our_fault(training)}"
        return f"{said_of_it} ({training.reason})" if training.reason else said_of_it
    said = [_OBJECTIONS[one](training) for one in training.objections if one in _OBJECTIONS]
    return "; ".join(said) or None


def _after_our_fault(training: ApprenticeTraining) -> str:
    """Return what to do: a model that a job made was paid for, and waits for somebody to judge."""
    if training.model_kept_until is None:
        return "train again"
    return (
        f"its model is kept until {training.model_kept_until:%Y-%m-%d}; have it hosted by "
        f"`autotune apprentice host-training TASK {training.number}`, which trains nothing anew"
    )


def _taken(training: ApprenticeTraining) -> str:
    """Return where the model is that another training had hosted: nobody trains it anew."""
    number = training.model_taken_by
    return f"training {number} has its model: `autotune apprentice trainings TASK {number}`"


def _too_few(training: ApprenticeTraining) -> str:
    lacks, test = training.shortage, training.test
    if lacks is not None:
        return (
            f"{lacks.train} examples to learn from and {lacks.holdout} held out that may judge; "
            f"it takes {lacks.train_needed} and {lacks.holdout_needed}, of different inputs"
        )
    groups = "so many" if test is None else f"{test.groups} groups of"
    return f"no model could pass on {groups} held-out inputs, were all answers right"


def _agreement(training: ApprenticeTraining) -> str:
    test = training.test
    above = "the threshold" if test is None else f"{test.threshold:.3f}"
    if test is not None and test.is_gated:
        return f"of no confidence it is shown that agreement is above {above}"
    return f"its mean agreement is not shown to be above {above}"


def _worse(training: ApprenticeTraining) -> str:
    compared = None if training.test is None else training.test.comparison
    if compared is None:
        return "it is not shown to be as good as the version that serves"
    return f"it is not shown to be as good as version {compared.version}, but for {compared.margin}"


def _invalid(training: ApprenticeTraining) -> str:
    share = "" if training.test is None else f"{1 - training.test.valid:.1%} of "
    return f"{share}its outputs are not of the task's output schema"


def _slow(_: ApprenticeTraining) -> str:
    return "more than one answer in twenty took longer than local.timeout_ms"


_OBJECTIONS: Mapping[ApprenticeTrainingObjection, Callable[[ApprenticeTraining], str]] = {
    "too_few_examples": _too_few,
    "agreement": _agreement,
    "worse_than_before": _worse,
    "invalid_outputs": _invalid,
    "too_slow": _slow,
}

_KEPT = "; it is kept for 30 days"
_ERRORS: Mapping[ApprenticeTrainingError, str] = {
    "untrainable": "nothing to learn: outputs are all the same, or no choice among few; or too "
    "much: rows times kinds of outputs, or different words in inputs",
    "data_refused": "the examples are not what was stored of them",
    "artifact_refused": "the model's bytes are not what was stored",
    "task_changed": "the task was deleted meanwhile, or has another definition: train again",
    "too_many_versions": "the task has as many versions as it may",
    "budget_exhausted": "budgets.training_monthly has no room for a job",
    "embeddings_missing": "the evaluator's embedding model is gone, or is not what it was",
    "base_missing": "nobody stored the weights of training.base_model here",
    "no_capacity": "no instance of training.instance_types was to be had for a day",
    "job_refused": "SageMaker refused the job",
    "job_name_taken": "another job at SageMaker has its name",
    "job_failed": "SageMaker failed the job again and again",
    "job_stopped": "somebody stopped the job at SageMaker",
    "algorithm_error": "the program that trains failed",
    "out_of_time": "it took longer than training.max_runtime_s, twice",
    "hosting_capacity": f"no instance that could host it was to be had for a day{_KEPT}",
    "hosting_quota": f"the account's quotas have no room for what hosts it{_KEPT}",
    "not_hosted": f"SageMaker does not host what was trained{_KEPT}",
    "canceled": "it was canceled",
    "platform_error": "Autotune could not go on",
}
