"""``autotune grader``: serve a grader on this machine, and check one anywhere."""

import dataclasses
import json
import socket
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_args

import typer
from pydantic import ValidationError

from autotune.cli import exit_codes
from autotune.client import InvalidInputError
from autotune.grader import conformance
from autotune.grader.definition import Grader
from autotune.grader.loading import GraderTargetError, load_grader
from autotune.grader.shared_secrets import SECRET_VARIABLE, MissingSecretError
from autotune.protocol.grading import GradedCompletion

app = typer.Typer(
    no_args_is_help=True, help="Serve a grader on this machine; check that one keeps the protocol."
)

Secret = Annotated[
    str | None,
    typer.Option(
        envvar=SECRET_VARIABLE,
        show_envvar=True,
        help="The shared secret; several, separated by spaces, while one replaces another.",
    ),
]


@app.command()
def serve(
    target: Annotated[
        str, typer.Argument(help="path/to/file.py, path/to/file.py:name or package.module:name")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")
    ] = 8080,
    secret: Secret = None,
) -> None:
    """Serve a grader until it is interrupted; needs the extra `serve`."""
    try:
        served = load_grader(target)
        if secret:
            served = served.with_secrets(secret)
        served.require_secrets()
    except (GraderTargetError, MissingSecretError) as error:
        _stop_with(str(error))
    _serve(served, host, port)


@app.command()
def check(
    url: Annotated[str, typer.Argument(help="The grader's base URL.")],
    secret: Secret = None,
    completion: Annotated[
        Path | None, typer.Option(help="JSON file with prompt, response and metadata to score.")
    ] = None,
    allow_nondeterministic: Annotated[
        bool,
        typer.Option("--allow-nondeterministic", help="Let two values for one completion differ."),
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds to wait for each answer.")
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Prove that a grader keeps the protocol, one line for each check.

    Exit code 0: all passed. 1: some failed. 2: wrong usage, or nothing answers.
    """
    secrets = (secret or "").split()
    if not secrets:
        _stop_with(f"give --secret or set {SECRET_VARIABLE}")
    sample = conformance.SAMPLE_COMPLETION if completion is None else _read_completion(completion)
    results: list[conformance.CheckResult] = []
    try:
        for result in conformance.check_grader(
            url,
            secrets,
            completion=sample,
            allow_nondeterministic=allow_nondeterministic,
            timeout_seconds=timeout,
        ):
            results.append(result)
            if not as_json:
                _print_line(result)
    except conformance.GraderUnreachableError as error:
        _stop_with(str(error))
    counts = Counter(result.outcome for result in results)
    if as_json:
        checks = [dataclasses.asdict(result) for result in results]
        typer.echo(json.dumps({"url": url, **_summary(counts), "checks": checks}))
    else:
        typer.echo(", ".join(f"{number} {word}" for word, number in _summary(counts).items()))
    raise typer.Exit(exit_codes.INCOMPLETE if counts["failed"] else exit_codes.OK)


def _serve(served: Grader[..., Any], host: str, port: int) -> None:
    try:
        import uvicorn  # noqa: PLC0415 - only this command needs the extra
    except ModuleNotFoundError:
        _stop_with("serving needs uvicorn: pip install 'autotune-sdk[serve]'")

    class AnnouncingServer(uvicorn.Server):
        """Says where it is once it listens, which is when a script may call it."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            typer.echo(f"Serving {served.name} {served.version} at {_url_of(listener)}")

    config = uvicorn.Config(
        served.asgi,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    listener = _listen(host, port)
    try:
        AnnouncingServer(config).run(sockets=[listener])
    except KeyboardInterrupt:
        typer.echo("Stopped", err=True)
    finally:
        listener.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address, family=family, reuse_port=False)
    except OSError as error:
        _stop_with(f"cannot listen on {host} port {port}: {error.strerror or error}")


def _url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _read_completion(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        _stop_with(f"cannot read {path}: {error.strerror}")
    except ValueError:
        content = None
    if not isinstance(content, dict):
        _stop_with(f"{path} must hold one JSON object with prompt, response and metadata")
    try:
        GradedCompletion.model_validate({"id": "sample", "taskId": "sample", **content})
    except ValidationError as error:
        _stop_with(f"{path}: {InvalidInputError.of(error)}")
    return content


def _print_line(result: conformance.CheckResult) -> None:
    colours = {"passed": typer.colors.GREEN, "failed": typer.colors.RED}
    outcome = typer.style(
        f"{result.outcome:<8}", fg=colours.get(result.outcome, typer.colors.YELLOW)
    )
    wanted = f" (expected: {result.expected})" if result.outcome == "failed" else ""
    typer.echo(f"{outcome} {result.name:<26} {result.seen}{wanted}")


def _summary(counts: Counter[conformance.Outcome]) -> dict[str, int]:
    return {word: counts[word] for word in get_args(conformance.Outcome)}


def _stop_with(message: str) -> NoReturn:
    typer.echo(f"autotune grader: {message}", err=True)
    raise typer.Exit(exit_codes.USAGE)
