"""Which ways of training, serving and judging fit together, and what each of them needs.

A configuration that could never train is refused when it is put, with what could. Starting a
training asks again: prices change, and configurations of before stay.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from autotune.protocol.llm_connections import nano_usd
from autotune_platform.apprentice.instance_prices import InstancePrices, reserved_for

IN_JOBS: Final = frozenset({"sagemaker", "huggingface"})
"""Backends whose models a job trains, by the same program; others cost nothing here."""
JUDGING: Final = ("structured_match", "exact_match", "semantic_similarity")
"""Evaluators that judge a student: nobody is asked for each of thousands of held-out answers."""
POSSIBLE: Final = (
    "Possible are: training linear for local linear; training sagemaker or huggingface for local "
    "sagemaker with hosting inference_component; local vllm, ollama and llama_cpp without "
    f"training; with training an evaluator of type {', '.join(JUDGING[:-1])} or {JUDGING[-1]}"
)
OF_JOBS: Final[Mapping[str, object]] = {
    "spot": True,
    "maxRuntimeS": 7_200,
    "lora": {"r": 16, "alpha": 32},
}
"""Keys of ``training`` that only jobs go by, with what they are where nobody says."""
IDLE_MINUTES: Final = 30
"""``local.idleMinutes`` where nobody says."""
_SLEEPING: Final = ("sagemaker", "ollama")
"""Backends whose models are unloaded when nobody asks."""

_BASE_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")
# vLLM needs a GPU, and one that computes in bfloat16, in which weights of today are.
_GPU = re.compile(r"ml\.(?!g3|g4dn|g5g|p2|p3)[gp][0-9][a-z0-9-]*\.[a-z0-9-]+")
_NANO = 1_000_000_000


class Objection(NamedTuple):
    """Why a configuration trains nothing.

    Attributes:
        field: what is wrong, as ``training.baseModel``.
        expected: what could be there.
        detail: what is wrong with it, for people.
    """

    field: str
    expected: str
    detail: str

    def __str__(self) -> str:
        return f"{self.field}: {self.detail}"


def objection_to_training(document: Mapping[str, Any]) -> Objection | None:
    """Return why nothing can come of a configuration's training, whoever pays; None if it can.

    Args:
        document: a configuration; one without ``training`` has nothing to object to.
    """
    return _evaluator(document) or _base_model(document) or _instances(document)


def hosting_types(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types of instances that may host what jobs train, in the order of their trial.

    Others of ``training.instanceTypes`` may train alone. None where no job trains anything.
    """
    if not _has_jobs(document):
        return ()
    return tuple(one for one in document["training"]["instanceTypes"] if _GPU.fullmatch(one))


def objection_to_paying(document: Mapping[str, Any], prices: InstancePrices) -> Objection | None:
    """Return why a job that may come of a configuration could not be paid for; None if each can."""
    if not _has_jobs(document):
        return None
    training, monthly = document["training"], document["budgets"]["trainingMonthly"]
    limit = "budgets.trainingMonthly"
    if monthly is None:
        return Objection(limit, "US dollars", "needed where instances are paid for")
    for instance in training["instanceTypes"]:
        price = prices.find(instance)
        if price is None:
            return Objection(
                "training.instanceTypes",
                "types of instances whose price is known",
                f"no price is known for {instance}; whoever deploys gives it by training-prices",
            )
        needed = reserved_for(training["maxRuntimeS"], price)
        if needed > nano_usd(monthly):
            return Objection(
                limit,
                f"{needed / _NANO:.2f} at least",
                f"{monthly} US dollars, and {instance} for maxRuntimeS may cost "
                f"{needed / _NANO:.2f}",
            )
    return None


def objection_to_idle_keys(document: Mapping[str, Any]) -> Objection | None:
    """Return which key would do nothing, though somebody set it to mean something; None if none.

    It is asked when a configuration is put, and keeps nobody from training.
    """
    local, training = document["local"], document["training"]
    backend = local["backend"]
    if backend not in _SLEEPING and local["idleMinutes"] != IDLE_MINUTES:
        detail = f"nothing of {backend} is unloaded when nobody asks; leave it out"
        return Objection("local.idleMinutes", f"a backend of {', '.join(_SLEEPING)}", detail)
    if training is None or _has_jobs(document):
        return None
    for key, default in OF_JOBS.items():
        if training[key] != default:
            detail = f"no job trains {training['backend']}, so it does nothing; leave it out"
            return Objection(f"training.{key}", "a backend that jobs train", detail)
    return None


def _has_jobs(document: Mapping[str, Any]) -> bool:
    training = document["training"]
    return training is not None and training["backend"] in IN_JOBS


def _evaluator(document: Mapping[str, Any]) -> Objection | None:
    kind = document["evaluator"]["type"]
    if document["training"] is None or kind in JUDGING:
        return None
    detail = f"{kind} judges no student: no grader is asked for each of thousands of answers"
    return Objection("evaluator.type", ", ".join(JUDGING), f"{detail}. {POSSIBLE}")


def _base_model(document: Mapping[str, Any]) -> Objection | None:
    if not _has_jobs(document) or _BASE_MODEL.fullmatch(document["training"]["baseModel"]):
        return None
    expected = "a name such as organization/model, of letters, digits, ., _, -"
    return Objection("training.baseModel", expected, expected)


def _instances(document: Mapping[str, Any]) -> Objection | None:
    """Object to a first instance that could not host what is trained."""
    if not _has_jobs(document):
        return None
    first = document["training"]["instanceTypes"][0]
    if _GPU.fullmatch(first):
        return None
    detail = (
        f"the first is to host what was trained, and {first} has no GPU that AWS's container for "
        "adapters runs on; others like it, behind it, train alone"
    )
    return Objection("training.instanceTypes", "ml.g5.xlarge, or another GPU since it", detail)
