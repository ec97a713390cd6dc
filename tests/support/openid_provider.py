"""A certified OpenID provider in a process of its own: panva's oidc-provider."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from local.endpoint import free_port
from tests.support.oidc import CLIENT_ID

_SCRIPT = Path(__file__).with_suffix(".mjs")


@contextmanager
def openid_provider(
    redirect_uri: str, *, roles: Mapping[str, Sequence[str]], client_id: str = CLIENT_ID
) -> Iterator[str]:
    """Run a provider until the block is left; yield its issuer.

    Args:
        roles: of people, by what they enter as their name.
    """
    port = free_port()
    arguments = [str(port), client_id, redirect_uri, json.dumps(roles)]
    running = subprocess.Popen(
        ["node", str(_SCRIPT), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert running.stdout is not None
        for line in running.stdout:
            if line == "ready\n":
                break
        else:
            raise AssertionError("the OpenID provider did not start")
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()
        running.stdout.close()
