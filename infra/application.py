"""Composes the stacks into one CDK app."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import App, Environment, Tags, Validations
from cdk_nag import AwsSolutionsChecks

from infra.config import IMAGES, REPOSITORY_ROOT, DeploymentConfig, Target, process_environment
from infra.oidc import NAMES
from infra.stacks.data_stack import DataStack
from infra.stacks.service_stack import ServiceStack

DATA_STACK_NAME = "autotune-data"
SERVICE_STACK_NAME = "autotune"


def build_app(*, context: Mapping[str, Any] | None = None, outdir: Path | None = None) -> App:
    """Builds the app without synthesizing it.

    Args:
        context: Context values that win over those of ``cdk.json``; ``target`` is ``aws`` or
            ``local``, ``api-origin`` where MiniStack answers, ``waiting-functions`` how many
            requests may wait at once, ``grading-functions`` how many functions grade,
            ``slow-functions`` how many write exports, ``model-functions`` how many work on batches
            of requests to language models, ``chat-functions`` how many wait for chat completions,
            ``waiting-runs`` how many runs of the apprentice may wait at once,
            ``training-alarm-usd`` and ``hosting-alarm-usd`` from what a day costs on an alarm is
            raised, and ``adapter-image`` what SageMaker hosts in. Those that begin with ``oidc-``
            are of OpenID Connect (``infra.oidc``).
        outdir: Folder of the cloud assembly; the CDK's own choice if None.

    Raises:
        UnknownTargetError: If the context value ``target`` is neither ``aws`` nor ``local``.
        InvalidFunctionsError: If a number of functions is neither a number nor ``none``.
        InvalidOidcError: If a context value of OpenID Connect cannot be used.
    """
    # Run without the CLI, an app does not see cdk.json; with it, the CLI's context wins over this.
    defaults = json.loads((REPOSITORY_ROOT / "cdk.json").read_text())["context"]
    app = App(
        context={**defaults, **(context or {})},
        outdir=None if outdir is None else str(outdir),
    )
    config = DeploymentConfig.create(
        target=app.node.try_get_context("target"),
        environment=process_environment(),
        api_origin=app.node.try_get_context("api-origin"),
        waiting_functions=app.node.try_get_context("waiting-functions"),
        grading_functions=app.node.try_get_context("grading-functions"),
        slow_functions=app.node.try_get_context("slow-functions"),
        model_functions=app.node.try_get_context("model-functions"),
        chat_functions=app.node.try_get_context("chat-functions"),
        waiting_runs=app.node.try_get_context("waiting-runs"),
        training_prices=app.node.try_get_context("training-prices"),
        training_alarm_usd=app.node.try_get_context("training-alarm-usd"),
        hosting_alarm_usd=app.node.try_get_context("hosting-alarm-usd"),
        images={name: app.node.try_get_context(name) for name in IMAGES},
        oidc={name: app.node.try_get_context(name) for name in NAMES},
    )
    environment = Environment(region=config.region)

    data = DataStack(app, DATA_STACK_NAME, config=config, env=environment)
    ServiceStack(app, SERVICE_STACK_NAME, config=config, data=data, env=environment)
    Tags.of(app).add("application", "autotune")
    if config.target is Target.AWS:
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app
