"""Addresses on this machine, and how AWS tools are pointed at them."""

import os
import secrets
import socket
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

import boto3
from botocore.client import BaseClient
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_lambda import LambdaClient

LOOPBACK = "127.0.0.1"
_SERVERS_PORTS = range(20_000, 32_768)
_MOST_RESERVED = 64
_reserved: deque[int] = deque()
"""Descriptors that keep the latest ports from others, whose servers may not listen yet."""
REGION = "us-east-1"
ACCOUNT = "000000000000"
LEFT_OUT_PREFIXES = ("AWS_", "EDGE_PORT", "GATEWAY_PORT", "LOCALSTACK_", "MINISTACK_")


def free_port(preferred: int | None = None) -> int:
    """A TCP port on loopback that nothing listens on: the preferred one if it is free.

    It is none of those that systems give to connections that are made, of which one might have it
    before a server does; nor one that another process of this machine was given a moment ago.
    """
    if preferred is not None and is_free(preferred):
        return preferred
    while not (is_free(port := secrets.choice(_SERVERS_PORTS)) and _reserve(port)):
        pass
    return port


def _reserve(port: int) -> bool:
    """Have no other call return a port until its server listens; return whether none has it.

    Servers are on TCP, so that UDP's port of the same number is a lock that needs no file, and that
    the system takes back from a process that ends.
    """
    with socket.socket(type=socket.SOCK_DGRAM) as lock:
        try:
            lock.bind((LOOPBACK, port))
        except OSError:
            return False
        _reserved.append(lock.detach())
    # Servers of all before these listen by now, or never will.
    while len(_reserved) > _MOST_RESERVED:
        os.close(_reserved.popleft())
    return True


def is_free(port: int) -> bool:
    """Whether a server could listen on a port now."""
    with socket.socket() as listener:
        # As servers do: a port whose last connections still linger is free.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def endpoint_url(port: int) -> str:
    """Where MiniStack answers; an IP address keeps S3 clients to path-style addresses."""
    return f"http://{LOOPBACK}:{port}"


def isolated_environment(additions: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without its AWS account, plus test credentials and additions.

    No child can reach a real account, or another emulator: profiles, tokens, endpoints and ports of
    the user are left out.
    """
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT_PREFIXES)
    }
    reached_directly = [kept.get("NO_PROXY") or kept.get("no_proxy") or "", LOOPBACK, "localhost"]
    no_proxy = ",".join(host for host in reached_directly if host)
    return {
        **kept,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
        **additions,
    }


def cloudformation_client(endpoint: str) -> "CloudFormationClient":
    """Client of MiniStack's CloudFormation."""
    return _session().client("cloudformation", endpoint_url=endpoint, config=_CLIENT_CONFIG)


def lambda_client(endpoint: str) -> "LambdaClient":
    """Client of MiniStack's Lambda."""
    return _session().client("lambda", endpoint_url=endpoint, config=_CLIENT_CONFIG)


def logs_client(endpoint: str) -> "BaseClient":
    """Client of MiniStack's CloudWatch Logs."""
    client: BaseClient = _session().client("logs", endpoint_url=endpoint, config=_CLIENT_CONFIG)
    return client


# No proxy stands between two processes of one machine, whatever the environment says.
_CLIENT_CONFIG = Config(
    connect_timeout=5, read_timeout=60, retries={"total_max_attempts": 2}, proxies={}
)


def _session() -> boto3.session.Session:
    return boto3.session.Session(
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 (what MiniStack expects, not a secret)
        region_name=REGION,
    )
