"""Models of an apprentice's task on the wire: those that are paid, and the one that learns."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from autotune.protocol import limits
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_requests import ConnectionId
from autotune.protocol.types import RequestModel, at_most

ServingBackend = Literal["sagemaker", "vllm", "ollama", "llama_cpp", "linear"]
"""What answers in place of the paid model."""

TrainingBackend = Literal["sagemaker", "huggingface", "linear"]

Hosting = Literal["inference_component"]
"""How SageMaker hosts what a job trained, which is an adapter of a base model."""

TRAINED_FOR: Mapping[TrainingBackend, tuple[ServingBackend, ...]] = {
    "sagemaker": ("sagemaker",),
    "huggingface": ("sagemaker",),
    "linear": ("linear",),
}
"""Which backends serve what each way of training makes.

Models of ``vllm``, ``ollama`` and ``llama_cpp`` are registered, not trained here.
"""

NOT_OFFERED: Mapping[str, str] = {
    "openai": (
        "OpenAI takes new fine-tuning jobs of nobody who had none before May 2026, and of nobody "
        "at all from 2027-01-06"
    ),
    "unsloth": (
        "it is in no image that jobs here run on, and without a network they install nothing; "
        "sagemaker trains the same kind of adapter"
    ),
    "axolotl": (
        "it is in no image that jobs here run on, and without a network they install nothing; "
        "sagemaker trains the same kind of adapter"
    ),
}
"""Ways of training that somebody may ask for, and why there are none (ADR 0095)."""

GATES_OF: Mapping[ServingBackend, tuple[str, ...]] = {
    "linear": ("none", "confidence"),
    "sagemaker": ("none",),
    "vllm": ("none",),
    "ollama": ("none",),
    "llama_cpp": ("none",),
}
"""Which gates each backend may have: ``confidence`` where answers say how sure they are."""

_AT_A_URL: frozenset[ServingBackend] = frozenset({"vllm", "ollama", "llama_cpp"})


class RemoteModel(RequestModel):
    """A paid model, asked through a connection of the ledger, at a price that is known.

    Attributes:
        max_output_tokens: most tokens of an answer, reasoning included: its cost is set aside
            before each call.
        timeout_s: how long one attempt may take, in seconds.
        max_retries: how often a failed attempt is made again, each set aside by itself.
    """

    connection_id: ConnectionId
    model: ModelName
    max_output_tokens: Annotated[int, Field(ge=1, le=limits.MAX_LLM_OUTPUT_TOKENS, strict=True)]
    timeout_s: Annotated[
        int, Field(ge=limits.MIN_LLM_CALL_SECONDS, le=limits.MAX_LLM_CALL_SECONDS, strict=True)
    ] = 60
    max_retries: Annotated[int, Field(ge=0, le=5, strict=True)] = 2


class RemoteModels(RequestModel):
    """Who is paid: ``primary`` is the teacher, whose answers are the truth.

    ``additional`` are asked with random pairs while the budget has room, and skipped where it is
    short. What they answer is stored, and never truth.
    """

    primary: RemoteModel
    additional: Annotated[
        list[RemoteModel],
        at_most(limits.MAX_ADDITIONAL_MODELS),
        Field(max_length=limits.MAX_ADDITIONAL_MODELS),
    ] = []

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        asked = [(one.connection_id, one.model) for one in (self.primary, *self.additional)]
        if len(set(asked)) < len(asked):
            raise ValueError("additional: models other than primary, each once")
        return self


def _is_none(value: object) -> bool:
    return value is None


class LocalModel(RequestModel):
    """Where the small model runs.

    Attributes:
        url: where vLLM, Ollama or llama.cpp listens; the others have none.
        connection_id: whose key is sent to ``url`` as a bearer token; None where it asks for none.
            The connection's ``baseUrl`` has the scheme, host and port of ``url``.
        hosting: how SageMaker hosts it; the others are not hosted there.
        timeout_ms: how long its answer is waited for before the paid model is asked.
        idle_minutes: after so many without a call its hosting is scaled to zero.
        gate: ``confidence`` asks the paid model where a version is less sure than its hold-out
            says that it has to be. It needs a backend that says how sure it is: ``GATES_OF``.
    """

    backend: ServingBackend
    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)] | None = None
    connection_id: Annotated[ConnectionId | None, Field(exclude_if=_is_none)] = None
    hosting: Hosting | None = None
    timeout_ms: Annotated[int, Field(ge=50, le=20_000, strict=True)] = 2_000
    idle_minutes: Annotated[int, Field(ge=1, le=1_440, strict=True)] = 30
    gate: Literal["none", "confidence"] = "none"

    @field_validator("hosting", mode="before")
    @classmethod
    def _takes_adapters(cls, hosting: object) -> object:
        if hosting == "serverless":
            raise ValueError(
                "serverless is not offered: what jobs train are adapters, which SageMaker's "
                "serverless endpoints do not take. Possible is: inference_component"
            )
        return hosting

    @model_validator(mode="after")
    def _what_the_backend_needs(self) -> Self:
        if (self.url is not None) != (self.backend in _AT_A_URL):
            raise ValueError(f"url: needed by {', '.join(sorted(_AT_A_URL))}, and by no other")
        if self.connection_id is not None and self.url is None:
            raise ValueError(f"connectionId: for {', '.join(sorted(_AT_A_URL))} alone")
        if (self.hosting is not None) != (self.backend == "sagemaker"):
            raise ValueError("hosting: needed by sagemaker, and by no other")
        if self.gate not in GATES_OF[self.backend]:
            table = "; ".join(
                f"{backend}: {' or '.join(gates)}" for backend, gates in GATES_OF.items()
            )
            raise ValueError(
                f"gate: none, because {self.backend} does not say how sure it is. "
                f"Possible are: {table}"
            )
        return self


class LoraSettings(RequestModel):
    """Adapters of rank ``r`` on all linear layers, scaled by ``alpha / r``.

    Attributes:
        r: one that vLLM serves.
    """

    r: Literal[8, 16, 32, 64, 128, 256] = 16
    alpha: Annotated[int, Field(ge=1, le=1_024, strict=True)] = 32


_Fraction = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False, strict=True)]
_Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, strict=True)]
_Named = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[!-~]+$")]


class Training(RequestModel):
    """How the small model is trained, and what it has to show before it answers anybody.

    Attributes:
        holdout: share of examples that no training ever sees; it validates.
        split_by: fields of the input that make a group, which stays on one side; without any,
            equal inputs do.
        fine_tune_batch_size: so many new examples make a first training.
        base_model: what is fine-tuned; ``linear`` has none.
        instance_types: tried in this order where one has no capacity, to train and to host.
        spot: whether interruptible capacity is used, with checkpoints.
        max_runtime_s: longest training, whose price is set aside from ``budgets.trainingMonthly``.
        promote_threshold: agreement on the hold-out; ``thresholds.phase2ToPhase3`` without it.
        noninferiority_margin: how much less than the model before may be overlooked.
        canary: shares of the traffic that a new version answers, one after the other, up to 1.
    """

    backend: TrainingBackend
    holdout: Annotated[float, Field(ge=0.05, le=0.5, allow_inf_nan=False, strict=True)] = 0.10
    split_by: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=64)]],
        at_most(limits.MAX_SPLIT_FIELDS),
        Field(max_length=limits.MAX_SPLIT_FIELDS),
    ] = []
    fine_tune_batch_size: Annotated[int, Field(ge=50, le=1_000_000, strict=True)]
    base_model: _Named | None = None
    instance_types: Annotated[list[_Named], at_most(10), Field(max_length=10)] = []
    spot: bool = True
    max_runtime_s: Annotated[int, Field(ge=60, le=432_000, strict=True)] = 7_200
    lora: Annotated[LoraSettings, Field(default_factory=LoraSettings)]
    promote_threshold: _Fraction | None = None
    noninferiority_margin: _Fraction = 0.03
    canary: Annotated[list[_Share], at_most(10), Field(min_length=1, max_length=10)] = [0.25, 1.0]

    @field_validator("backend", mode="before")
    @classmethod
    def _is_offered(cls, backend: object) -> object:
        if isinstance(backend, str) and (why := NOT_OFFERED.get(backend)) is not None:
            raise ValueError(
                f"{backend} is not offered: {why}. sagemaker, huggingface and linear train here; "
                "a model that was trained elsewhere is registered once vllm, ollama or llama_cpp "
                "serves it"
            )
        return backend

    @model_validator(mode="after")
    def _what_the_backend_needs(self) -> Self:
        if (self.base_model is not None) != (self.backend != "linear"):
            raise ValueError("baseModel: needed by all backends but linear, which has none")
        if bool(self.instance_types) != (self.backend in {"sagemaker", "huggingface"}):
            raise ValueError("instanceTypes: needed by sagemaker and huggingface, and by no other")
        if self.canary[-1] != 1 or any(
            after <= before for before, after in zip(self.canary, self.canary[1:], strict=False)
        ):
            raise ValueError("canary: shares that grow, up to 1")
        return self


def require_trainable(training: Training | None, local: LocalModel) -> None:
    """Require that what is trained can be served.

    Raises:
        ValueError: it cannot; the message has the table of what can.
    """
    if training is None:
        if local.backend in _AT_A_URL:
            return  # its versions are registered by hand
        raise ValueError(f"training: needed, because {local.backend} serves what is trained here")
    if local.backend not in TRAINED_FOR[training.backend]:
        pairs = "; ".join(
            f"{trained} for {' or '.join(served)}"
            for trained, served in TRAINED_FOR.items()
            if served
        )
        raise ValueError(
            f"training: {training.backend} trains nothing that {local.backend} serves. "
            f"Possible are: {pairs}; vllm, ollama and llama_cpp without training"
        )
