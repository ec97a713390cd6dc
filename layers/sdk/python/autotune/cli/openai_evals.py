"""``autotune graders from-openai-eval``: graders of what OpenAI's Evals API returned."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes, graders
from autotune.cli.grader_options import json_object_in
from autotune.cli.invocation import Invocation, command, note, stop
from autotune.client.openai_evals import ConvertedEval, graders_from_openai_eval
from autotune.protocol import limits
from autotune.protocol.graders import Grader

app = graders.app


@command(app)
def from_openai_eval(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(help="What GET /v1/evals/{id} of OpenAI's returned.")],
    *,
    connection: Annotated[
        str | None,
        typer.Option(help="Where models are called that judge: llc_...; without it none does."),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=limits.MAX_LLM_OUTPUT_TOKENS,
            help="Most tokens of a model's answer; what the eval says, or 2048.",
        ),
    ] = None,
    register: Annotated[
        bool, typer.Option("--register", help="Register the graders, instead of showing them.")
    ] = False,
) -> None:
    """Show the graders that an eval becomes, or register them; exit status 1 if some do not."""
    document = json_object_in(file, option="FILE") or {}
    try:
        converted = graders_from_openai_eval(
            document, connection_id=connection, max_tokens=max_tokens
        )
    except ValueError as error:
        raise typer.BadParameter(f"{file}: {error}", param_hint="FILE") from error
    if not converted.graders and not converted.refused:
        stop(f"{file} has no criteria: its testing_criteria are empty, so no grader comes of it")
    made = _registered(invocation, converted) if register else []
    if invocation.as_json:
        typer.echo(json.dumps(_document(converted, made), ensure_ascii=False))
    else:
        _tell(converted, made)
    raise typer.Exit(exit_codes.INCOMPLETE if converted.refused else exit_codes.OK)


def _registered(invocation: Invocation, converted: ConvertedEval) -> list[Grader]:
    return [
        invocation.client.graders.register(**arguments).grader for arguments in converted.graders
    ]


def _document(converted: ConvertedEval, made: list[Grader]) -> dict[str, Any]:
    document = asdict(converted)
    return {
        "name": converted.name,
        "graders": document["graders"],
        "refused": document["refused"],
        "itemFields": list(converted.item_fields),
        "notes": list(converted.notes),
        "registered": [grader.id for grader in made],
    }


def _tell(converted: ConvertedEval, made: list[Grader]) -> None:
    if made:
        for grader in made:
            typer.echo(f"{grader.id}  {grader.kind:<8} {grader.name}")
    else:
        typer.echo(json.dumps(list(converted.graders), indent=2, ensure_ascii=False))
    for one in converted.refused:
        note(f"not taken: {one.name} ({one.type}): {one.reason}")
    for said in converted.notes:
        note(said)
    if converted.item_fields:
        note(f"metadata needs: {', '.join(converted.item_fields)}")
