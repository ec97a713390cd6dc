"""One attempt: a signed POST to an address from outside, bounded in time."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import httpcore
from standardwebhooks import Webhook as Signer

from autotune.protocol.events import DeliveryError
from autotune_platform.outbound.connections import (
    CONNECT_TIMEOUT_SECONDS,
    AddressRefusedError,
    time_limit,
)
from autotune_platform.outbound.http import whole_url

# The last second is for what follows the status line's headers, so that a call takes 15 in all.
_ANSWER_SECONDS = 14
_BODY_SECONDS = 1
_MAX_READ_BYTES = 16_384

GONE = 410
"""The status of a subscriber that wants nothing any more."""


@dataclass(frozen=True)
class Attempt:
    """How an attempt ended: ``error`` is None where the subscriber answered 2xx."""

    status: int | None = None
    error: DeliveryError | None = None


class WebhookSender:
    """Posts events over HTTPS: no redirects, checked addresses, 15 s a call in all."""

    def __init__(self, connections: httpcore.ConnectionPool) -> None:
        self._connections = connections

    def send(
        self, url: str, *, event_id: str, body: str, secrets: Sequence[str], now: datetime
    ) -> Attempt:
        """Post one event, signed with each secret by the Standard Webhooks specification.

        Args:
            now: in UTC; goes into the signature, and a subscriber refuses it five minutes later.
        """
        try:
            with (
                time_limit(_ANSWER_SECONDS),
                self._connections.stream(
                    "POST",
                    whole_url(url),
                    headers=list(signed_headers(event_id, body, secrets=secrets, now=now).items()),
                    content=body.encode(),
                    extensions={"timeout": {"connect": CONNECT_TIMEOUT_SECONDS}},
                ) as response,
            ):
                _skip_body(response)
                return _attempt(response.status)
        except AddressRefusedError:
            return Attempt(error="address_refused")
        except httpcore.TimeoutException:
            return Attempt(error="timed_out")
        except (httpcore.NetworkError, httpcore.ProtocolError):
            return Attempt(error="unreachable")


def signed_headers(
    event_id: str, body: str, *, secrets: Sequence[str], now: datetime
) -> dict[str, str]:
    """Return the headers of an attempt, with a signature for each secret, the newest first."""
    return {
        "content-type": "application/json",
        "user-agent": "autotune",
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(
            Signer(secret).sign(event_id, now, body) for secret in secrets
        ),
    }


def _attempt(status: int) -> Attempt:
    if 200 <= status < 300:
        return Attempt(status)
    return Attempt(status, "redirected" if 300 <= status < 400 else "rejected")


def _skip_body(response: httpcore.Response) -> None:
    """Read a little of an answer, so that its connection can serve the next call.

    Only the status counts: a body that is long, slow or broken changes nothing.
    """
    skipped = 0
    with (
        suppress(httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError),
        time_limit(_BODY_SECONDS),
    ):
        for part in response.iter_stream():
            skipped += len(part)
            if skipped > _MAX_READ_BYTES:
                return
