"""Signatures of calls of DynamoDB: AWS's version 4, with less work than botocore's own takes.

Botocore looks through, sorts and copies a call's headers three times, and derives its key anew each
time. A call of DynamoDB has one path, no query and a few headers whose order is known.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hashlib
import hmac
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from botocore.auth import AUTH_TYPE_MAPS, BaseSigner
from botocore.compat import get_current_datetime
from botocore.exceptions import NoCredentialsError

if TYPE_CHECKING:
    from botocore.client import BaseClient

NAME: Final = "autotune-dynamodb-v4"
"""What botocore knows it by."""

_DATE: Final = "X-Amz-Date"
_SESSION: Final = "X-Amz-Security-Token"
_PORTS: Final = {"http": 80, "https": 443}


class DynamoDbAuth(BaseSigner):
    """Signs the host, the body, its type, and all that AWS has headers of its own for."""

    REQUIRES_REGION = True

    def __init__(self, credentials: Any, service_name: str, region_name: str) -> None:
        self.credentials = credentials
        self._region_name = region_name
        self._service_name = service_name

    def add_auth(self, request: Any) -> None:
        """Set a request's date, token and signature, in place of those of a try before.

        Raises:
            NoCredentialsError: there are none.
        """
        if self.credentials is None:
            raise NoCredentialsError
        headers = request.headers
        for name in ("Authorization", _DATE, _SESSION):
            del headers[name]
        # To ask a request for its body prepares all of it once more.
        for name, value in self.headers(request.url, headers, request.data or b"").items():
            headers[name] = value

    def headers(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """Return date, token and signature of a request that has these headers."""
        # What formats dates looks the time zone's file up, each time.
        at = get_current_datetime().isoformat()[:19].replace("-", "").replace(":", "") + "Z"
        made = {_DATE: at}
        if self.credentials.token:
            made[_SESSION] = self.credentials.token
        host, path = place_of(url)
        signed = {"host": host}
        for name, value in (*headers.items(), *made.items()):
            known = name.lower()
            if known == "content-type" or known.startswith("x-amz-"):
                signed[known] = value
        names = sorted(signed)
        listed = ";".join(names)
        lines = "\n".join([f"{name}:{signed[name]}" for name in names])
        digest = hashlib.sha256(body).hexdigest()
        canonical = f"POST\n{path}\n\n{lines}\n\n{listed}\n{digest}"
        scope = f"{at[:8]}/{self._region_name}/{self._service_name}/aws4_request"
        said = f"AWS4-HMAC-SHA256\n{at}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = _key(self.credentials.secret_key, at[:8], self._region_name, self._service_name)
        signature = hmac.digest(key, said.encode(), "sha256").hex()
        made["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.credentials.access_key}/{scope}, "
            f"SignedHeaders={listed}, Signature={signature}"
        )
        return made


AUTH_TYPE_MAPS[NAME] = DynamoDbAuth


def sign_leanly(client: "BaseClient") -> None:
    """Have a client of DynamoDB sign so."""
    events: Any = client.meta.events
    events.register_first("choose-signer.dynamodb", lambda **_: NAME)


@lru_cache(64)
def place_of(url: str) -> tuple[str, str]:
    """Return the host as it is sent, and the path."""
    parts = urlsplit(url)
    usual = f":{_PORTS.get(parts.scheme)}"
    return parts.netloc.removesuffix(usual).lower(), parts.path or "/"


@lru_cache(4)
def _key(secret: str, *scope: str) -> bytes:
    """Return the key of a day, region and service."""
    key = f"AWS4{secret}".encode()
    for part in (*scope, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
