"""Checks of what a grader answers: health, scores, signatures, versions, repeatability."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Sequence

from autotune.grader.conformance.session import (
    OWN_LOG,
    CheckFailedError,
    CheckSkippedError,
    Exchange,
    GraderSession,
    answered,
    encode,
)
from autotune.protocol import signing
from autotune.protocol.ids import new_id


def health_answers(session: GraderSession) -> str:
    """GET /health without a signature answers 200 with status, version and capabilities."""
    session.health = session.send("GET", "/health", b"", new_id("req"), {}).read_health()
    return f"{session.health.status}, version {session.health.version}"


def health_is_signed(session: GraderSession) -> str:
    """A signed GET /health is answered with a signature that fits it."""
    request_id = new_id("req")
    headers = signing.sign_grader_request(session.secrets, request_id=request_id, body=b"")
    exchange = session.send("GET", "/health", b"", request_id, headers)
    exchange.read_health()
    _require_bound(exchange, session.secrets)
    return "its signature fits"


def score_accepted(session: GraderSession) -> str:
    """A signed POST /score answers 200 with a judgement of the sample."""
    exchange = session.score()
    if exchange.status == 401:
        raise CheckFailedError("it answered 401: is this the grader's secret?")
    if exchange.status != 200:
        raise CheckFailedError(answered(exchange.status))
    if exchange.says_error:
        raise CheckFailedError(
            f"it failed on the sample: {OWN_LOG}; --completion gives one of its own field"
        )
    session.scored = exchange
    return "it answered 200"


def score_valid(session: GraderSession) -> str:
    """The answer has the request's id and a value and confidence from 0 to 1, or abstains."""
    answer = session.first_score().read_score()
    if answer.score is None:
        return "it abstained"
    return f"value {answer.score.value:g}, confidence {answer.score.confidence:g}"


def answer_signed(session: GraderSession) -> str:
    """The answer carries a response signature and a response timestamp near the current time."""
    exchange = session.first_score()
    try:
        exchange.verify(session.secrets)
    except signing.SignatureError as error:
        if error.fault != "mismatch":
            raise CheckFailedError(str(error)) from None
    return "both headers are there"


def answer_bound_to_request(session: GraderSession) -> str:
    """The signature covers timestamp, request id, the request's hash and the answer's raw bytes."""
    exchange = session.first_score()
    _require_bound(exchange, session.secrets)
    return "its signature fits this request and no other"


def version_consistent(session: GraderSession) -> str:
    """Scores carry the same graderVersion as /health."""
    if session.health is None:
        raise CheckSkippedError("the version is not known without the grader's health")
    answer = session.first_score().read_score()
    if answer.grader_version != session.health.version:
        raise CheckFailedError(
            f"/health says {session.health.version}, the score says {answer.grader_version}"
        )
    return f"both say {answer.grader_version}"


def unknown_fields_tolerated(session: GraderSession) -> str:
    """Fields that the grader does not know are skipped, so that the protocol can grow."""
    session.first_score()
    future = {"addedLater": {"nested": [1, None]}}
    completion = session.completion(**future)
    answer = session.score(
        completion=completion, options={"includeDimensions": True, **future}, **future
    )
    answer.read_score()
    return "it answered 200"


def options_respected(session: GraderSession) -> str:
    """Dimensions and reasoning are left out unless the options ask for them."""
    session.first_score()
    options = {"includeDimensions": False, "includeExplanation": False}
    answer = session.score(options=options).read_score()
    if answer.score is not None and answer.score.dimensions is not None:
        raise CheckFailedError("dimensions came without being asked for")
    if answer.score is not None and answer.score.reasoning is not None:
        raise CheckFailedError("reasoning came without being asked for")
    return "neither came"


def value_of(session: GraderSession, completion: dict[str, object]) -> float | None:
    """Return the value for ``completion``, None for an abstention."""
    score = session.score(completion=completion).read_score().score
    return None if score is None else score.value


def _require_bound(exchange: Exchange, secrets: Sequence[str]) -> None:
    try:
        exchange.verify(secrets)
    except signing.SignatureError as error:
        known = _known_mistake(exchange, secrets) if error.fault == "mismatch" else ""
        raise CheckFailedError(known or str(error)) from None


def _known_mistake(exchange: Exchange, secrets: Sequence[str]) -> str:
    """Name the usual mistake that made a signature that does not fit, if it is one of them."""
    headers, body = exchange.response.headers, exchange.response.content
    start = f"{headers[signing.RESPONSE_TIMESTAMP_HEADER]}.{exchange.request_id}.".encode()
    question = hashlib.sha256(exchange.request_body)
    payload_by_mistake = {
        "it leaves out the hash of the request's body": start + body,
        "it signs the hash of the request as raw bytes, not as hex": (
            start + question.digest() + b"." + body
        ),
        "it signs the request's body, not its hash": start + exchange.request_body + b"." + body,
        "it leaves out the request id": (
            f"{headers[signing.RESPONSE_TIMESTAMP_HEADER]}.{question.hexdigest()}.".encode() + body
        ),
    }
    try:
        respelled = encode(exchange.response.json())
    except ValueError:
        respelled = body
    payload_by_mistake["it signs JSON that it wrote anew, not the bytes that it sends"] = (
        start + question.hexdigest().encode() + b"." + respelled
    )
    given = headers[signing.RESPONSE_SIGNATURE_HEADER].split()
    for mistake, payload in payload_by_mistake.items():
        for secret in secrets:
            mac = hmac.new(secret.encode(), payload, hashlib.sha256).hexdigest()
            if f"v1={mac}" in given:
                return f"the signature fits no valid payload: {mistake}"
    return ""


_TRIED_ITEMS = 3


def batch_complete(session: GraderSession) -> str:
    """A batch is answered with every id once and no other."""
    session.first_score()
    size = min(session.max_batch_size(), _TRIED_ITEMS)
    completions = [session.completion() for _ in range(size)]
    answer = session.score_batch(completions).read_batch()
    answered = Counter(item.completion_id for item in answer.scores)
    asked = {completion["id"] for completion in completions}
    missing = len(asked - answered.keys())
    added = len(answered.keys() - asked)
    repeated = sum(1 for times in answered.values() if times > 1)
    if missing or added or repeated:
        raise CheckFailedError(
            f"of {size} ids {missing} were missing, {repeated} came twice; {added} were never sent"
        )
    failed = sum(1 for item in answer.scores if item.error is not None)
    if failed:
        raise CheckFailedError(
            f"{failed} of {size} items failed, though each is a sound completion"
        )
    return f"{size} of {size} came back"


def batch_fails_in_part(session: GraderSession) -> str:
    """An item without prompt and response fails alone, or the batch is refused with a 4xx."""
    session.first_score()
    if session.max_batch_size() < 2:
        raise CheckSkippedError("the grader takes one completion at a time")
    sound = session.completion()
    broken = session.completion(prompt=None, response=None)
    exchange = session.score_batch([sound, broken])
    if 400 <= exchange.status < 500:
        return f"the batch was refused with {exchange.status}"
    items = {item.completion_id: item for item in exchange.read_batch().scores}
    good, bad = items.get(sound["id"]), items.get(broken["id"])
    if good is None or good.error is not None:
        raise CheckFailedError("the sound item got no score because another was broken")
    if bad is None:
        raise CheckFailedError("the broken item is missing from the answer")
    if bad.score is not None:
        raise CheckFailedError(f"the broken item got the score {bad.score.value:g}")
    return "the broken item failed alone" if bad.error else "it abstained on the broken item"


def batch_limit_kept(session: GraderSession) -> str:
    """A batch above the declared maxBatchSize is refused with a 4xx such as 413."""
    session.first_score()
    limit = session.max_batch_size()
    completions = [session.completion() for _ in range(limit + 1)]
    status = session.score_batch(completions).status
    if not 400 <= status < 500:
        raise CheckFailedError(f"{limit + 1} completions were answered {status}")
    return f"{limit + 1} completions were answered {status}"
