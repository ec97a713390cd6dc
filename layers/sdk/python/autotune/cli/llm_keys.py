"""Options that say where the key of a provider of language models is read."""

import os
import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from autotune.cli.invocation import stop


@dataclass(frozen=True, kw_only=True)
class KeyOptions:
    """Where a provider's key is read; arguments are seen by others of the same machine."""

    key_env: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="Read the key from this environment variable."),
    ] = None
    key_argument: Annotated[
        str | None, typer.Option("--api-key", "--key", hidden=True, metavar="KEY")
    ] = None
    key_stdin: Annotated[
        bool,
        typer.Option(
            "--key-stdin", help="Read the key from stdin; on a terminal, what is typed is hidden."
        ),
    ] = False

    def key(self, *, is_needed: bool = False) -> str | None:
        """Return the key; None where none is needed and no place is named."""
        if self.key_argument is not None:
            stop("give --key-env VARIABLE or --key-stdin: others see arguments of a command")
        if self.key_env is not None and self.key_stdin:
            stop("give either --key-env or --key-stdin")
        if self.key_env is not None:
            if not self.key_env.isidentifier():
                # A key that was given by mistake is not repeated, not even here.
                stop("--key-env takes the name of an environment variable, not the key itself")
            key = os.environ.get(self.key_env, "").strip()
            if not key:
                stop(f"the environment variable {self.key_env} holds no key")
            return key
        if not (self.key_stdin or is_needed):
            return None
        if sys.stdin.isatty():
            return str(typer.prompt("Key", hide_input=True, err=True)).strip()
        key = sys.stdin.readline().strip()
        if not key:
            stop("stdin holds no key; give --key-env VARIABLE to read it from there")
        return key
