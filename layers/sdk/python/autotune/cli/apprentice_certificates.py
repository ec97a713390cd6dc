"""``autotune apprentice certificate``: what a version was trained on and how it did, signed."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.cli import exit_codes
from autotune.cli.deck_reading import text_in
from autotune.cli.invocation import Invocation, stop
from autotune.client.certificates import verify_certificate
from autotune.client.errors import CertificateError
from autotune.protocol.limits import MAX_APPRENTICE_VERSIONS

Task = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]
Number = Annotated[
    int, typer.Argument(metavar="VERSION", min=1, max=MAX_APPRENTICE_VERSIONS, help="Its number.")
]


def certificate(
    invocation: Invocation,
    task: Task,
    version: Number,
    *,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the signature, and that it is of this very model."),
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Check by this public key in PEM, not the server's."),
    ] = None,
) -> None:
    """Show the certificate of a version that was trained here: data, test, bound and cost.

    With --verify the exit status is 1 where it does not check.
    """
    versions = invocation.client.apprentice.versions
    signed = versions.certificate(task, version)
    if not verify and key is None:
        if invocation.as_json:
            invocation.show_json(signed)
        else:
            invocation.show_fields(signed.certificate)
        return
    try:
        known = versions.certificate_key() if key is None else text_in(key)
        found = verify_certificate(signed, known)
    except CertificateError as error:
        stop(str(error), exit_codes.INCOMPLETE)
    model = versions.get(task, version)
    if (found.task, found.version, found.artifact_sha256) != (task, version, model.digest):
        stop(f"the certificate is not of version {version} of {task}", exit_codes.INCOMPLETE)
    result = {"isVerified": True, "keyId": signed.key_id, "certificate": signed.certificate}
    test = found.test
    invocation.show_done(
        result,
        f"version {version} of {task}, {found.model}: agreement above {test.bound:.3f} in "
        f"{test.groups} groups of inputs, signed {found.issued_at:%Y-%m-%d %H:%M} by key "
        f"{signed.key_id[:16]}",
    )
