"""``autotune graders``: who scores."""

from dataclasses import asdict
from typing import Annotated

import typer

from autotune.cli import exit_codes, grader_options
from autotune.cli.figures import print_statistics
from autotune.cli.grader_checks import describe_check
from autotune.cli.grader_options import json_object_in
from autotune.cli.invocation import (
    Columns,
    Invocation,
    command,
    given,
    note,
    only_given,
    require_one,
    stdout_console,
)
from autotune.protocol.graders import Grader
from autotune.protocol.windows import PartWindow

app = typer.Typer(
    no_args_is_help=True,
    help=(
        "Graders: register, from-openai-eval, verify, health, list, get, stats, usage, update, "
        "rotate-secret, delete."
    ),
)

_SHOWN_ONCE = "The secret is shown this once; the grader reads it from AUTOTUNE_GRADER_SECRET."

_COLUMNS: Columns[Grader] = {
    "ID": lambda grader: grader.id,
    "NAME": lambda grader: grader.name,
    "KIND": lambda grader: grader.kind,
    "STATUS": lambda grader: grader.status,
    "VERSION": lambda grader: grader.version,
    "BATCH": lambda grader: grader.capabilities.max_batch_size,
    "VISIBILITY": lambda grader: grader.visibility,
    "ENDPOINT": lambda grader: grader.endpoint,
}


@command(app)
def register(
    invocation: Invocation,
    *,
    name: Annotated[str, typer.Option()],
    endpoint: Annotated[
        str | None, typer.Option(help="HTTPS URL below which /score, /score/batch and /health lie.")
    ] = None,
    builtin: grader_options.BuiltinFile = None,
    openai: grader_options.OpenAiFile = None,
    models: grader_options.ModelOptions,
    human: Annotated[
        bool, typer.Option("--human", help="People judge: no endpoint, no configuration.")
    ] = False,
    certificate_sha256: Annotated[
        list[str] | None,
        typer.Option(help="SHA-256 of its certificate; once more for the next one."),
    ] = None,
    description: Annotated[str | None, typer.Option()] = None,
    max_batch_size: Annotated[
        int | None, typer.Option(min=1, help="Most completions that it takes in one request.")
    ] = None,
    avg_latency_ms: Annotated[
        int | None, typer.Option(min=0, help="Its own estimate for one request.")
    ] = None,
    limits: grader_options.LimitOptions,
    asynchronous: Annotated[
        bool, typer.Option("--async", help="It may answer 202, and score later.")
    ] = False,
    waits: grader_options.WaitOptions,
    domain: Annotated[
        list[str] | None, typer.Option(help="What it knows, such as math; may be repeated.")
    ] = None,
    dimensions: Annotated[bool, typer.Option("--dimensions", help="It scores dimensions.")] = False,
    explanations: Annotated[
        bool, typer.Option("--explanations", help="It can explain its scores.")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Let every organisation use it.")
    ] = False,
    share_reasoning: Annotated[
        bool, typer.Option("--share-reasoning", help="Let trainers read its reasoning.")
    ] = False,
) -> None:
    """Register a grader and, where it has an endpoint, print its shared secret, this once."""
    configured = (endpoint, builtin, openai, models.rubric)
    if sum([*(one is not None for one in configured), human]) != 1:
        raise typer.BadParameter(
            "give one of --endpoint, --builtin, --openai, --rubric and --human"
        )
    capabilities = {
        "max_batch_size": max_batch_size,
        "avg_latency_ms": avg_latency_ms,
        "domains": domain,
        "supports_dimensions": dimensions or None,
        "supports_explanations": explanations or None,
        "supports_async": asynchronous or None,
    }
    registered = invocation.client.graders.register(
        name=name,
        kind="human" if human else None,
        endpoint=endpoint,
        builtin=json_object_in(builtin, option="--builtin"),
        openai=json_object_in(openai, option="--openai"),
        rubric=json_object_in(models.rubric, option="--rubric"),
        connection_id=models.connection,
        max_tokens=models.max_tokens,
        certificate_sha256=certificate_sha256 or None,
        description=description,
        capabilities=only_given(capabilities),
        limits=only_given(asdict(limits)),
        async_settings=only_given(asdict(waits)),
        visibility="public" if public else "private",
        share_reasoning=share_reasoning or None,
    )
    credentials = registered.credentials
    invocation.show_once(
        registered,
        registered.grader,
        {"sharedSecret": credentials.shared_secret} if credentials else {},
        _SHOWN_ONCE,
    )


@command(app)
def verify(invocation: Invocation, grader_id: str) -> None:
    """Have Autotune call a grader and check its signatures; exit status 1 if it fails."""
    result = invocation.client.graders.verify(grader_id)
    if invocation.as_json:
        invocation.show_json(result)
    else:
        if not result.checks:
            note(f"{result.grader.kind} graders have nothing to check")
        endpoint = result.grader.endpoint or "its endpoint"
        for place, check in enumerate(result.checks):
            typer.echo(describe_check(check, endpoint, is_health=place == 0))
        typer.echo(f"{grader_id} is {'verified' if result.verified else 'not verified'}")
    raise typer.Exit(exit_codes.OK if result.verified else exit_codes.INCOMPLETE)


@command(app)
def rotate_secret(invocation: Invocation, grader_id: str) -> None:
    """Print a new shared secret, this once; for 24 hours the one before is valid, too."""
    rotated = invocation.client.graders.rotate_secret(grader_id)
    secret = {"sharedSecret": rotated.credentials.shared_secret}
    invocation.show_once(rotated, rotated.grader, secret, _SHOWN_ONCE)


@command(app)
def health(invocation: Invocation, grader_id: str) -> None:
    """Show a grader's status and the latest probe; exit status 1 unless it is active."""
    found = invocation.client.graders.health(grader_id)
    invocation.show(found)
    raise typer.Exit(exit_codes.OK if found.status == "active" else exit_codes.INCOMPLETE)


@command(app, "list")
def list_(invocation: Invocation) -> None:
    """List the organisation's graders, oldest first."""
    invocation.show_all(invocation.client.graders.list(), _COLUMNS)


@command(app)
def get(invocation: Invocation, grader_id: str) -> None:
    """Show a grader."""
    invocation.show(invocation.client.graders.get(grader_id))


@command(app)
def update(
    invocation: Invocation,
    grader_id: str,
    *,
    name: Annotated[str | None, typer.Option()] = None,
    endpoint: Annotated[
        str | None, typer.Option(help="A new one has to be verified before it is used.")
    ] = None,
    builtin: grader_options.BuiltinFile = None,
    openai: grader_options.OpenAiFile = None,
    models: grader_options.ModelOptions,
    description: Annotated[str | None, typer.Option()] = None,
    limits: grader_options.LimitOptions,
    waits: grader_options.WaitOptions,
    no_heartbeat: Annotated[
        bool, typer.Option("--no-heartbeat", help="Expect no signs of life any more.")
    ] = False,
    asynchronous: grader_options.AnswersLater = None,
    no_limits: Annotated[
        bool, typer.Option("--no-limits", help="Lift the limits that are not given here.")
    ] = False,
    certificate_sha256: Annotated[
        list[str] | None,
        typer.Option(help="SHA-256 of its certificate, in place of those before; or two of them."),
    ] = None,
    no_certificate: Annotated[
        bool, typer.Option("--no-certificate", help="Pin it to no certificate any more.")
    ] = False,
) -> None:
    """Change what is given of a grader, and show it."""
    require_one(certificate_sha256=certificate_sha256, no_certificate=no_certificate)
    require_one(heartbeat=waits.heartbeat_seconds, no_heartbeat=no_heartbeat)
    changed_limits = only_given(asdict(limits))
    changed_waits = only_given(asdict(waits)) or {}
    if no_heartbeat:
        changed_waits["heartbeat_seconds"] = None
    async_settings = capabilities = None
    # They are replaced as a whole, so those that stay are sent again.
    if changed_limits or no_limits:
        kept = {} if no_limits else invocation.client.graders.get(grader_id).limits.model_dump()
        changed_limits = {**kept, **(changed_limits or {})}
    if changed_waits:
        settings = invocation.client.graders.get(grader_id).async_settings.model_dump()
        async_settings = {**settings, **changed_waits}
    if asynchronous is not None:
        declared = invocation.client.graders.get(grader_id).capabilities.model_dump()
        capabilities = {**declared, "supports_async": asynchronous}
    grader = invocation.client.graders.update(
        grader_id,
        name=given(name),
        endpoint=given(endpoint),
        builtin=given(json_object_in(builtin, option="--builtin")),
        openai=given(json_object_in(openai, option="--openai")),
        rubric=given(json_object_in(models.rubric, option="--rubric")),
        connection_id=given(models.connection),
        max_tokens=given(models.max_tokens),
        description=given(description),
        capabilities=given(capabilities),
        limits=given(changed_limits),
        async_settings=given(async_settings),
        certificate_sha256=None if no_certificate else given(certificate_sha256 or None),
    )
    invocation.show(grader)


@command(app)
def stats(
    invocation: Invocation,
    grader_id: str,
    version: Annotated[
        str | None, typer.Option(help="Only what the grader answered as this version.")
    ] = None,
    window: Annotated[
        PartWindow | None,
        typer.Option(help="Only what it did for your organisation in so long; --json by the hour."),
    ] = None,
) -> None:
    """Show how a grader does: scores, latency and failures, in all and by version."""
    figures = invocation.client.graders.stats(grader_id, version=version, window=window)
    if invocation.as_json:
        invocation.show_json(figures)
    elif figures.versions:
        print_statistics(stdout_console(), figures)
    else:
        note(f"{grader_id} has no verdicts" + (f" as version {version}" if version else ""))


@command(app)
def usage(
    invocation: Invocation,
    grader_id: str,
    month: Annotated[
        str | None, typer.Option(help="Such as 2026-11, in UTC; the present one without it.")
    ] = None,
) -> None:
    """Show how many verdicts a grader gave in a month, to all organisations together."""
    used = invocation.client.graders.usage(grader_id, month=month)
    if invocation.as_json:
        invocation.show_json(used)
        return
    typer.echo(f"{'month':<16} {used.month}")
    for state, count in used.counts:
        typer.echo(f"{state:<16} {count}")
    typer.echo(f"{'total':<16} {used.total}")


@command(app)
def delete(invocation: Invocation, grader_id: str) -> None:
    """Delete a grader; what still waits for it ends failed."""
    invocation.client.graders.delete(grader_id)
    invocation.show_deleted(grader_id)
