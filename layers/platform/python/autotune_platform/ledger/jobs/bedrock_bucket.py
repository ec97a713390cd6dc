"""The bucket that Bedrock's batch jobs read and write: S3 by signed requests, each sent once.

Every request names the account that the bucket has to be of: one that was deleted can be anybody's
the next day.
"""

import re
from collections.abc import Iterator
from html import unescape
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, unquote_plus, urlencode

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.contract import Body
from autotune_platform.ledger.jobs.session import FetchError, Reply, Session
from autotune_platform.ledger.providers.bedrock import BedrockFormat, access_of, endpoint
from autotune_platform.ledger.providers.documents import document_of
from autotune_platform.ledger.providers.refusals import without_key

_PUT_SECONDS: Final = 240
_PAGES: Final = 20
# Names come quoted as in URLs, so that no markup is in them.
_KEY = re.compile(rb"<Key>([^<]{1,3000})</Key>")
_NEXT = re.compile(rb"<NextContinuationToken>([^<]{1,4000})</NextContinuationToken>")
_CODE = re.compile(rb"<Code>([A-Za-z0-9]{1,100})</Code>")
_MESSAGE = re.compile(rb"<Message>([^<]{1,1000})</Message>")
# No request repairs these: the bucket is another one's, elsewhere, or gone, or the role may not.
_OF_BUCKET: Final = frozenset({301, 307, 400, 403, 404})


class BedrockBucket:
    """Objects of a connection's bucket."""

    def __init__(self, spoken: BedrockFormat) -> None:
        """Take the format that says what errors of AWS mean."""
        self._spoken = spoken

    def put(self, session: Session, key: str, body: Body) -> Refusal | None:
        """Store an object in place of what is there."""
        reply = session.ask_signed(
            "s3",
            "PUT",
            _url(session, key),
            {**_owner(session), "Content-Type": "application/jsonl"},
            body.parts(),
            length=body.length,
            seconds=_PUT_SECONDS,
        )
        return self._refused(session, reply)

    def keys(self, session: Session, prefix: str) -> list[str] | Refusal:
        """Return the names of all objects that begin so; there are some of each job."""
        asked = {"encoding-type": "url", "list-type": "2", "prefix": prefix}
        found: list[str] = []
        for _ in range(_PAGES):
            query = urlencode(asked, quote_via=quote)
            url = f"{endpoint(session.connection, 's3')}/?{query}"
            reply = session.ask_signed("s3", "GET", url, _owner(session))
            refusal = self._refused(session, reply)
            if refusal is not None or isinstance(reply, Refusal):
                return refusal or Refusal("provider_error", "the bucket could not be listed")
            keys = [
                unquote_plus(one.decode("ascii", "replace")) for one in _KEY.findall(reply.body)
            ]
            found += [key for key in keys if key.startswith(prefix)]
            more = _NEXT.search(reply.body)
            if more is None:
                return found
            asked["continuation-token"] = unescape(more[1].decode("ascii", "replace"))
        return Refusal("provider_error", "the list of the bucket has no end")

    def read(self, session: Session, key: str) -> Any:
        """Return a small object as JSON, None if it is none; a refusal if it cannot be read."""
        reply = session.ask_signed("s3", "GET", _url(session, key), _owner(session))
        refusal = self._refused(session, reply)
        if refusal is not None:
            return refusal
        assert isinstance(reply, Reply), "what is no reply is a refusal"
        return document_of(reply.body)

    def fetch(self, session: Session, key: str) -> Iterator[bytes]:
        """Yield an object in parts.

        Raises:
            FetchError: it could not be read to its end.
        """
        url = _url(session, key)
        headers = session.signed("s3", "GET", url, _owner(session), b"")
        if isinstance(headers, Refusal):
            raise FetchError(headers)
        try:
            yield from session.fetch(url, headers)
        except FetchError as error:
            refusal = None if error.reply is None else self._refused(session, error.reply)
            if refusal is None:
                raise
            raise FetchError(refusal, status=error.status, reply=error.reply) from error

    def delete(self, session: Session, key: str) -> Refusal | None:
        """Delete an object; one that is gone is fine."""
        return self._refused(
            session, session.ask_signed("s3", "DELETE", _url(session, key), _owner(session))
        )

    def _refused(self, session: Session, reply: Reply | Refusal) -> Refusal | None:
        """Return why a request was refused, None where it was not."""
        if isinstance(reply, Refusal):
            return reply
        if reply.succeeded:
            return None
        code, said = _first(_CODE, reply.body), _first(_MESSAGE, reply.body)
        bucket = access_of(session.connection).bucket
        message = f"bucket {bucket}: {code or f'status {reply.status}'}: {said}"
        status = HTTPStatus.FORBIDDEN if reply.status in _OF_BUCKET else reply.status
        refusal = without_key(self._spoken.refusal(status, code, message, reply.headers), None)
        assert isinstance(refusal, Refusal)
        return refusal


def _first(pattern: re.Pattern[bytes], body: bytes) -> str:
    found = pattern.search(body)
    return unescape(found[1].decode("utf-8", "replace")) if found else ""


def _owner(session: Session) -> dict[str, str]:
    return {"x-amz-expected-bucket-owner": access_of(session.connection).account}


def _url(session: Session, key: str) -> str:
    return f"{endpoint(session.connection, 's3')}/{quote(key, safe='/')}"
