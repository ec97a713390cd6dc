"""``autotune llm connect`` and what else is about connections to providers of language models."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Columns, Invocation, given, note, only_given, stop
from autotune.cli.llm_keys import KeyOptions
from autotune.cli.llm_limits import JobLimitOptions, JobTimingOptions
from autotune.cli.llm_spending import dollars
from autotune.protocol.limits import (
    MAX_LLM_BATCH_BYTES,
    MAX_LLM_BATCH_ROWS,
    MAX_LLM_CALL_SECONDS,
    MAX_LLM_CONCURRENCY,
    MAX_LLM_WAIT_SECONDS,
    MAX_REQUESTS_PER_SECOND,
    MIN_LLM_BATCH_BYTES,
    MIN_REQUESTS_PER_SECOND,
)
from autotune.protocol.llm_bedrock import MAX_JOB_HOURS, MIN_JOB_HOURS
from autotune.protocol.llm_connections import Batches, LlmConnection, LlmProvider

_PRICE_NAMES = ("inputUsd", "outputUsd", "cachedInputUsd", "cacheWriteUsd")
_BATCH_PRICE_NAMES = (
    "batchInputUsd",
    "batchOutputUsd",
    "batchCachedInputUsd",
    "batchCacheWriteUsd",
)

_COLUMNS: Columns[LlmConnection] = {
    "ID": lambda one: one.id,
    "NAME": lambda one: one.name,
    "PROVIDER": lambda one: one.provider,
    "STATUS": lambda one: one.status,
    "KEY": lambda one: f"…{one.key_ends_with}" if one.key_ends_with else None,
    "URL": lambda one: one.base_url,
    "BECAUSE": lambda one: one.paused_because,
}


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    """How a connection is used."""

    api_version: Annotated[str | None, typer.Option(help="Version of Azure's API.")] = None
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=INPUT,OUTPUT",
            help="US dollars for a million tokens, in place of published ones; 0,0 where it is "
            "free. Cached input and writes to the cache may follow. May be repeated.",
        ),
    ] = None
    batch_price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=INPUT,OUTPUT",
            help="The same in batch jobs of the provider, of a model that has a --price.",
        ),
    ] = None
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_LLM_CONCURRENCY, help="Most calls at the same time; else 8."),
    ] = None
    requests_per_second: Annotated[
        float | None,
        typer.Option(
            min=MIN_REQUESTS_PER_SECOND,
            max=MAX_REQUESTS_PER_SECOND,
            help="Most single calls in a second, such as 0.33 for 20 a minute; else no limit.",
        ),
    ] = None
    timeout_seconds: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_LLM_CALL_SECONDS, help="Longest call; else 120."),
    ] = None
    batches: Annotated[
        Batches | None,
        typer.Option(help="Which requests go in batch jobs of the provider; else unless_urgent."),
    ] = None
    min_rows: Annotated[
        int | None,
        typer.Option(
            min=1, max=MAX_LLM_BATCH_ROWS, help="So many queued make a batch at once; else 20."
        ),
    ] = None
    max_rows: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_LLM_BATCH_ROWS, help="Most requests of a batch."),
    ] = None
    max_bytes: Annotated[
        int | None,
        typer.Option(
            min=MIN_LLM_BATCH_BYTES, max=MAX_LLM_BATCH_BYTES, help="Most bytes of a job's input."
        ),
    ] = None
    max_wait_seconds: Annotated[
        int | None,
        typer.Option(
            min=0, max=MAX_LLM_WAIT_SECONDS, help="Fewer make a batch after this time; else 300."
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the settings that were given, as arguments of the client."""
        fields = asdict(self)
        prices = dict(_price(one) for one in fields.pop("price") or ())
        for one in fields.pop("batch_price") or ():
            model, batch_price = _price(one, in_batches=True)
            if model not in prices:
                raise typer.BadParameter(
                    f"{model} has no --price beside it", param_hint="--batch-price"
                )
            prices[model] |= batch_price
        if prices:
            fields["prices"] = prices
        return only_given(fields) or {}


@dataclass(frozen=True, kw_only=True)
class BedrockOptions:
    """Which role calls Bedrock, in place of a URL and a key."""

    region: Annotated[str | None, typer.Option(help="Of bedrock: the region of AWS.")] = None
    role_arn: Annotated[
        str | None,
        typer.Option(help="Of bedrock: the role to assume; it is called autotune-bedrock…"),
    ] = None
    batch_role_arn: Annotated[
        str | None,
        typer.Option(help="Of bedrock: the role that batch jobs have, with --bucket."),
    ] = None
    bucket: Annotated[
        str | None, typer.Option(help="Of bedrock: where files of batch jobs are.")
    ] = None
    prefix: Annotated[
        str | None, typer.Option(help="Of bedrock: what their names begin with; else autotune/.")
    ] = None
    job_hours: Annotated[
        int | None,
        typer.Option(
            min=MIN_JOB_HOURS,
            max=MAX_JOB_HOURS,
            help="Of bedrock: after which a batch job times out; else 24.",
        ),
    ] = None

    def settings(self) -> dict[str, Any] | None:
        """Return those that were given; None where none was."""
        return only_given(asdict(self))


def connect(
    invocation: Invocation,
    *,
    name: Annotated[str, typer.Option(help="What it is called.")],
    provider: Annotated[
        LlmProvider,
        typer.Option(help="simulated is any endpoint with OpenAI's chat completions."),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the API begins, such as http://localhost:8000/v1; azure and simulated need "
            "it. It is for good.",
        ),
    ] = None,
    key: KeyOptions,
    bedrock: BedrockOptions,
    settings: ConnectionSettings,
    limits: JobLimitOptions,
    timings: JobTimingOptions,
) -> None:
    """Make a connection to a provider; the key is read from stdin, or with --key-env.

    Its provider and address are for good: for others make another one.

    It is encrypted and never shown again. A simulated connection has none unless --key-env or
    --key-stdin says where it is. One to bedrock has --region and --role-arn instead; the role's
    trust policy has to demand the externalId that is shown.
    """
    made = invocation.client.llm.connections.create(
        name=name,
        provider=provider,
        base_url=base_url,
        bedrock=bedrock.settings(),
        api_key=key.key(is_needed=provider not in {"bedrock", "simulated"}),
        limits=limits.given(),
        timings=timings.given(),
        **settings.arguments(),
    )
    invocation.show(made)


def connections(invocation: Invocation) -> None:
    """List all connections, revoked ones too, without their keys."""
    invocation.show_all(invocation.client.llm.connections.list(), _COLUMNS)


def update_connection(
    invocation: Invocation,
    connection_id: str,
    *,
    name: Annotated[str | None, typer.Option(help="What it is called.")] = None,
    key: KeyOptions,
    settings: ConnectionSettings,
    limits: JobLimitOptions,
    timings: JobTimingOptions,
    base_url: Annotated[str | None, typer.Option(hidden=True)] = None,
    provider: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Change what is given, such as the key; a paused connection is taken up again.

    --price replaces all prices of the connection, and --enqueued-tokens all such limits.
    """
    for option, value in (("--base-url", base_url), ("--provider", provider)):
        if value is not None:
            stop(
                f"{option} of a connection is for good: make another with `autotune llm connect`, "
                f"and then `autotune llm revoke-connection {connection_id}`"
            )
    changed = invocation.client.llm.connections.update(
        connection_id,
        name=given(name),
        api_key=given(key.key()),
        limits=given(limits.given()),
        timings=given(timings.given()),
        **settings.arguments(),
    )
    invocation.show(changed)


def revoke_connection(invocation: Invocation, connection_id: str) -> None:
    """Revoke a connection for good and delete its key; what is queued for it ends as an error.

    Jobs of the provider are asked to end before; those that go on, and are paid, are shown.
    """
    invocation.show(invocation.client.llm.connections.revoke(connection_id))


def verify(
    invocation: Invocation,
    connection_id: str,
    *,
    model: Annotated[str, typer.Option(help="The model that is asked.")],
) -> None:
    """Ask a connection's model for one word, which is paid; exit status 1 if it does not work."""
    found = invocation.client.llm.connections.verify(connection_id, model=model)
    invocation.show(found)
    if not invocation.as_json and found.cost_nano_usd is not None:
        invocation.show_fields({"USD": dollars(found.cost_nano_usd)})
    if not found.works:
        note(f"{connection_id} does not work")
    raise typer.Exit(exit_codes.OK if found.works else exit_codes.INCOMPLETE)


def _price(text: str, *, in_batches: bool = False) -> tuple[str, dict[str, str]]:
    """Return a model and its price."""
    names = _BATCH_PRICE_NAMES if in_batches else _PRICE_NAMES
    model, _, amounts = text.rpartition("=")
    parts = amounts.split(",")
    if not model or not 2 <= len(parts) <= len(names):
        expected = "MODEL=INPUT,OUTPUT in US dollars for a million tokens"
        hint = "--batch-price" if in_batches else "--price"
        raise typer.BadParameter(f"{text}: expected {expected}", param_hint=hint)
    return model, dict(zip(names, parts, strict=False))
