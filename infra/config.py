"""The settings of a deployment: where it goes, and what differs there."""

import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from infra.oidc import OidcConfig
from infra.spend_alarms import USD_A_DAY, alarm_usd
from infra.training_prices import training_prices as known_prices

REPOSITORY_ROOT = Path(__file__).resolve().parent.parent
LAMBDA_PYTHON = "3.13"
DEFAULT_REGION = "us-east-1"
# Of the 1,000 functions that an account runs at once unless it has asked for more. Waiting ones
# are reserved twice: for reward URLs, and for reads that wait.
WAITING_FUNCTIONS = 170
GRADING_FUNCTIONS = 320
# Those that work on batches of requests to language models: a step asks for up to five minutes.
MODEL_FUNCTIONS = 40
# Those that wait for a provider's answer to somebody's chat completion.
CHAT_FUNCTIONS = 20
# Runs of the apprentice that somebody waits for: each holds the API's function and the worker, of
# those that nothing is reserved for.
WAITING_RUNS = 30
# Of each function that one request keeps busy for long: exports, files with scores, verifications,
# imports, runs of decks.
# Without a bound some organisations' would take what dispatch, projection and API share.
SLOW_FUNCTIONS = 20
# Lambda's quota for an account that has asked for nothing.
ACCOUNT_FUNCTIONS = 1_000
# As many an account keeps unreserved; Lambda refuses a reservation of what is left.
UNRESERVED = 100
# As many functions share the shards of open batches.
SWEEP_PARTS = 4
# On one machine each is a process of 90 MB.
WAITING_FUNCTIONS_ON_ONE_MACHINE = 16


# AWS's own, of its images for deep learning.
IMAGES_ACCOUNT = "763104351884"
# Containers that models are trained and hosted in at SageMaker, by the context value that names
# another one.
IMAGES = {
    "training-image": (
        "huggingface-pytorch-training:2.5.1-transformers4.49.0-gpu-py311-cu124-ubuntu22.04"
    ),
    # LMI 20 with vLLM 0.15.1. ADR 0098 says what of other ones: below 17 none serves adapters so.
    "adapter-image": "djl-inference:0.36.0-lmi20.0.0-cu128",
}


class Target(StrEnum):
    """Where the app is deployed: an AWS account, or MiniStack on this machine."""

    AWS = "aws"
    LOCAL = "local"


class UnknownTargetError(ValueError):
    """The context value ``target`` is neither ``aws`` nor ``local``."""


class InvalidFunctionsError(ValueError):
    """A context value that is a number of functions is neither a number nor ``none``."""


@dataclass(frozen=True, kw_only=True)
class BuildPlatform:
    """The Python that code assets are built for.

    Attributes:
        python_version: Minor version of the interpreter, such as ``3.13``.
        uv_arguments: Arguments of ``uv pip install`` that choose wheels for it.
        identity: Names the platform in asset hashes, as wheels and bytecode differ by platform.
        has_dependencies: Whether what runs functions there has the pinned packages already.
    """

    python_version: str
    uv_arguments: tuple[str, ...]
    identity: str
    has_dependencies: bool = False

    @property
    def runs_here(self) -> bool:
        """Whether bytecode compiled by the running interpreter is valid on the platform."""
        return self.python_version == running_python_version()


@dataclass(frozen=True, kw_only=True)
class DeploymentConfig:
    """One deployment of the app.

    Attributes:
        target: AWS, or MiniStack on this machine.
        region: AWS region of every stack; a table with a customer key needs to know it at synth.
        api_requests_per_second: Steady request rate that the API stage admits, per account.
        api_burst_requests: Requests that the API stage admits at once above the steady rate.
        keyless_requests_per_second: Steady request rate that it admits to each route that needs no
            key: graders' callbacks, the pages of console and review, unknown paths.
        keyless_burst_requests: Requests that it admits there at once above that.
        api_origin: Where MiniStack answers, such as ``http://127.0.0.1:4566``: the host name that
            it gives an API resolves nowhere. None on AWS.
        waiting_functions: Most requests to reward URLs that wait at once, of all organisations
            together, and most reads that do; as many functions are reserved for each. None leaves
            them the account's.
        grading_functions: Functions that grade at once; they are reserved, so that nothing else
            can hold them. None leaves them the account's.
        slow_functions: Functions that write exports at once, as many that answer with scores as a
            file, as many that take in files of requests to language models or go on with runs of
            decks, and as many that answer requests about graders and about connections, whose
            verification takes up to half a minute. None leaves them the account's.
        model_functions: Functions that work on batches of requests to language models at once; they
            are reserved, and each organisation has a share of them. None leaves them the account's.
        chat_functions: Functions that wait for chat completions at once; they are reserved, and an
            organisation has half of them at most. None leaves them the account's.
        waiting_runs: Runs of the apprentice that are waited for at once, half of them of one
            organisation at most; each holds two functions, which are not reserved. None bounds
            nothing.
        images: Containers of SageMaker by the context value that names them, where that is
            another one than by itself.
        oidc: Where people sign in to the console; None where only keys open it.
        training_prices: US dollars an hour by type of instance, for trainings in SageMaker.
        training_alarm_usd: From so many US dollars on that trainings cost in a day an alarm is
            raised; None for no alarm. ``hosting_alarm_usd`` is of what hosts versions.
    """

    target: Target
    region: str
    api_origin: str | None = None
    api_requests_per_second: int = 500
    api_burst_requests: int = 1000
    keyless_requests_per_second: int = 250
    keyless_burst_requests: int = 500
    waiting_functions: int | None = WAITING_FUNCTIONS
    grading_functions: int | None = GRADING_FUNCTIONS
    slow_functions: int | None = SLOW_FUNCTIONS
    model_functions: int | None = MODEL_FUNCTIONS
    chat_functions: int | None = CHAT_FUNCTIONS
    waiting_runs: int | None = WAITING_RUNS
    images: Mapping[str, str] = field(default_factory=dict)
    oidc: OidcConfig | None = None
    training_prices: Mapping[str, str] = field(default_factory=dict)
    training_alarm_usd: int | None = USD_A_DAY
    hosting_alarm_usd: int | None = USD_A_DAY

    def image(self, name: str) -> str:
        """URI of a container of SageMaker, such as ``adapter-image``."""
        account = f"{IMAGES_ACCOUNT}.dkr.ecr.{self.region}.amazonaws.com"
        return self.images.get(name, f"{account}/{IMAGES[name]}")

    @property
    def prices_environment(self) -> Mapping[str, str]:
        """What functions are given that know what instances cost."""
        return {"TRAINING_PRICES": json.dumps(self.training_prices, sort_keys=True)}

    @property
    def keeps_data(self) -> bool:
        """Whether tables, bucket and keys outlive their stack."""
        return self.target is Target.AWS

    @property
    def admits_private_addresses(self) -> bool:
        """Whether graders may sit on loopback and private addresses."""
        return self.target is Target.LOCAL

    @property
    def reserved_functions(self) -> Mapping[str, int]:
        """How many functions are reserved, by what they do."""
        waiting, grading = self.waiting_functions or 0, self.grading_functions or 0
        slow, models = self.slow_functions or 0, self.model_functions or 0
        return {
            "reward URLs (waiting-functions)": waiting,
            "reads that wait (waiting-functions)": waiting,
            "grading (grading-functions)": grading,
            "exports (slow-functions)": slow,
            "scores as a file (slow-functions)": slow,
            "graders' verification (slow-functions)": slow,
            "language models (model-functions)": models,
            "chat completions (chat-functions)": self.chat_functions or 0,
            "imports of requests (slow-functions)": slow,
            "connections' verification (slow-functions)": slow,
            "runs of decks (slow-functions)": slow,
            **({} if self.oidc is None else {"signing in (slow-functions)": slow}),
        }

    @property
    def sweep_parts(self) -> int:
        """How many functions share a sweep; on one machine each is a process more."""
        return 1 if self.target is Target.LOCAL else SWEEP_PARTS

    @property
    def build_platform(self) -> BuildPlatform:
        """Lambda on Graviton for AWS; MiniStack runs functions under the running interpreter."""
        if self.target is Target.LOCAL:
            return BuildPlatform(
                python_version=running_python_version(),
                uv_arguments=("--python", sys.executable),
                identity=f"{sys.platform}-{platform.machine()}-{running_python_version()}",
                has_dependencies=True,
            )
        # The 2.28 tag matches Amazon Linux 2023; manylinux2014 silently resolves to older wheels.
        wheels = "aarch64-manylinux_2_28"
        return BuildPlatform(
            python_version=LAMBDA_PYTHON,
            uv_arguments=("--python-platform", wheels, "--python-version", LAMBDA_PYTHON),
            identity=f"{wheels}-{LAMBDA_PYTHON}",
        )

    @classmethod
    def create(
        cls,
        *,
        target: object,
        environment: Mapping[str, str],
        api_origin: object = None,
        waiting_functions: object = None,
        grading_functions: object = None,
        slow_functions: object = None,
        model_functions: object = None,
        chat_functions: object = None,
        waiting_runs: object = None,
        images: Mapping[str, object] | None = None,
        oidc: Mapping[str, object] | None = None,
        training_prices: object = None,
        training_alarm_usd: object = None,
        hosting_alarm_usd: object = None,
    ) -> "DeploymentConfig":
        """Reads the deployment from CDK context and the process environment.

        Args:
            target: Context value ``target``; None means ``aws``.
            api_origin: Context value ``api-origin``, of effect for the local target alone.
            waiting_functions: Context value ``waiting-functions``, of effect on AWS alone: a
                number, or ``none``; 170 if None.
            grading_functions: Context value ``grading-functions``: a number, or ``none``; 320 if
                None on AWS, and ``none`` on this machine.
            slow_functions: Context value ``slow-functions``: a number, or ``none``; if None 20, and
                ``none`` where no functions are reserved for grading.
            model_functions: Context value ``model-functions``: a number, or ``none``; if None 40,
                and ``none`` where no functions are reserved for grading.
            chat_functions: Context value ``chat-functions``: a number, or ``none``; if None 20, and
                ``none`` where no functions are reserved for grading.
            waiting_runs: Context value ``waiting-runs``: a number, or ``none``; if None 30, and
                ``none`` where no functions are reserved for grading.
            images: Context values that name containers of SageMaker; None for its own.
            oidc: Context values of OpenID Connect, by their names in ``infra.oidc``.
            training_prices: Context value ``training-prices``; see ``infra.training_prices``.
            training_alarm_usd: Context value ``training-alarm-usd``; see ``infra.spend_alarms``.
            hosting_alarm_usd: Context value ``hosting-alarm-usd``.
            environment: Environment variables; the CDK CLI sets ``CDK_DEFAULT_REGION``.

        Raises:
            UnknownTargetError: If target is not one of ``aws`` and ``local``.
            InvalidFunctionsError: If a number of functions is something else.
            InvalidOidcError: If a value of OpenID Connect is missing or something else.
            InvalidPricesError: If prices of instances are something else.
            InvalidAlarmError: If US dollars a day are something else.
        """
        try:
            parsed = Target.AWS if target is None else Target(str(target))
        except ValueError as error:
            choices = ", ".join(Target)
            raise UnknownTargetError(f"target is {target!r}, expected one of {choices}") from error
        region = (
            environment.get("CDK_DEFAULT_REGION")
            or environment.get("AWS_REGION")
            or environment.get("AWS_DEFAULT_REGION")
            or DEFAULT_REGION
        )
        grading = _functions(
            "grading-functions",
            grading_functions,
            None if parsed is Target.LOCAL else GRADING_FUNCTIONS,
        )
        is_told = parsed is Target.LOCAL and api_origin is not None
        return cls(
            target=parsed,
            region=region,
            api_origin=str(api_origin) if is_told else None,
            waiting_functions=(
                WAITING_FUNCTIONS_ON_ONE_MACHINE
                if parsed is Target.LOCAL
                else _functions("waiting-functions", waiting_functions, WAITING_FUNCTIONS)
            ),
            grading_functions=grading,
            slow_functions=_functions(
                "slow-functions",
                slow_functions,
                None if parsed is Target.LOCAL or grading is None else SLOW_FUNCTIONS,
            ),
            model_functions=_functions(
                "model-functions",
                model_functions,
                None if parsed is Target.LOCAL or grading is None else MODEL_FUNCTIONS,
            ),
            chat_functions=_functions(
                "chat-functions",
                chat_functions,
                None if parsed is Target.LOCAL or grading is None else CHAT_FUNCTIONS,
            ),
            waiting_runs=_functions(
                "waiting-runs",
                waiting_runs,
                None if parsed is Target.LOCAL or grading is None else WAITING_RUNS,
            ),
            images={name: str(uri) for name, uri in (images or {}).items() if uri is not None},
            oidc=OidcConfig.create(oidc or {}, admits_loopback=parsed is Target.LOCAL),
            training_prices=known_prices(training_prices, region=region),
            training_alarm_usd=alarm_usd("training-alarm-usd", training_alarm_usd),
            hosting_alarm_usd=alarm_usd("hosting-alarm-usd", hosting_alarm_usd),
        )


def _functions(name: str, given: object, usual: int | None) -> int | None:
    if given is None:
        return usual
    if given == "none":
        return None
    if not str(given).isdecimal():
        expected = f"a number such as {WAITING_FUNCTIONS}, or none"
        raise InvalidFunctionsError(f"{name} is {given!r}, expected {expected}")
    return int(str(given))


def running_python_version() -> str:
    """Minor version of the running interpreter, such as ``3.11``."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def process_environment() -> Mapping[str, str]:
    """The environment of the running process."""
    return os.environ
