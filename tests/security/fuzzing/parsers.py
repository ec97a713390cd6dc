"""What graders, trainers and bearers of tokens send, read apart from the API: documented errors."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from autotune.protocol.builtin import BuiltinConfiguration
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_BUILTIN_CPU_SECONDS
from autotune.protocol.signing import (
    SignatureError,
    sign_grader_response,
    verify_grader_response,
)
from autotune_platform.checks.compiling import check_builtin, compile_stored, stored_form
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.templates import Sample
from autotune_platform.gateway.calls import GraderAnswer, GraderCallError
from autotune_platform.judging.http import answers
from autotune_platform.judging.http.callbacks import Callbacks
from autotune_platform.judging.http.calls import Call
from autotune_platform.reviews.links import LinkPayload, ReviewLinks
from autotune_platform.rewards.answering import RewardAnswers
from autotune_platform.rewards.service import RewardUrlService
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.errors import (
    AutotuneError,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
)
from autotune_platform.storage import cursors
from tests.component.rewards.test_answering import CONTRACTS
from tests.security.fuzzing.cases import Case, Found
from tests.security.fuzzing.mutating import encoded, mangled, mutated, odd_text, odd_value, spliced

_SLACK_SECONDS = 4.0
_builtin: TypeAdapter[Any] = TypeAdapter(BuiltinConfiguration)
_SECRETS: Any = SimpleNamespace(derive=lambda *_: "5a" * 32)
_REQUEST_ID = "req_0123456789"


def _sent(document: Any, random: Random) -> bytes:
    """Return a document as it may come: as it is, changed, or broken."""
    changed = mutated(document, random, times=random.choice([0, 1, 1, 2, 4]))
    sent = encoded(changed, random)
    return mangled(sent, random) if random.random() < 0.25 else sent


def cursor(random: Random) -> str:
    parts = random.choice([1, 2, 3])
    position = [odd_text(random, surrogates=False, longest=600) for _ in range(parts)]
    made = cursors.encode_cursor(*position)
    token = random.choice(
        [
            made,
            spliced(made, random),
            odd_text(random),
            base64.urlsafe_b64encode(_sent(position, random)).decode(),
        ]
    )
    try:
        found = cursors.decode_cursor(token, parts=parts)
    except InvalidRequestError as error:
        if [field.field for field in error.fields] != ["nextToken"]:
            raise Found("a cursor's error names nextToken", token, error.fields) from error
        return "refused"
    if len(found) != parts or not all(isinstance(part, str) for part in found):
        raise Found("a cursor has as many parts as its list", token, found)
    return "read"


def grader_answer(random: Random) -> str:
    path: Any = random.choice(["/score", "/score/batch"])
    ids = [new_id("cmp") for _ in range(1 if path == "/score" else random.randrange(1, 5))]
    score = {
        "value": random.choice([0, 0.5, 1]),
        "confidence": 0.9,
        "reasoning": odd_text(random, longest=3_000),
        "dimensions": [{"name": "d", "value": 0.2, "weight": 1.0}],
    }
    head = {"requestId": _REQUEST_ID, "graderVersion": "1"}
    items = [{"completionId": one, "score": score} for one in ids]
    body = _sent(
        {**head, "score": score} if path == "/score" else {**head, "scores": items}, random
    )
    answer = GraderAnswer(request_id=_REQUEST_ID, body=body, elapsed_ms=1)
    try:
        judged = answers.read_answer(path, answer, ids)
    except GraderCallError as error:
        _require_callback_alike(path, body, ids)
        return f"refused {error.reason_code}"
    if set(judged) != set(ids):
        raise Found("each completion is judged", body, judged)
    for judgement in judged.values():
        if judgement.score is not None and not 0 <= judgement.score.value <= 1:
            raise Found("a score is from 0 to 1", body, judgement)
    return "read"


def _require_callback_alike(path: Any, body: bytes, ids: list[str]) -> None:
    """Require that what no call may answer is refused as a callback, too, as a caller's fault."""
    now = datetime.now(UTC)
    call = Call(
        id=new_id("call"),
        run_id=new_id("run"),
        organization_id=new_id("org"),
        grader_id=new_id("grd"),
        grader_version="1",
        task_id=new_id("task"),
        generation=1,
        completion_ids=ids,
        batch_ids=[new_id("bat")],
        path=path,
        request_id=_REQUEST_ID,
        request_sha256="0" * 64,
        attempts=1,
        created_at=now,
        due_at=now + timedelta(hours=1),
    )
    unused: Any = None
    callbacks = Callbacks(calls=unused, graders=unused)
    for read in (callbacks.read, callbacks.require_heartbeat_of):
        try:
            read(call, body)
        except InvalidRequestError as error:
            if not error.fields:
                raise Found("a callback's error names a field", body, error.detail) from error
        else:
            if read == callbacks.read:
                raise Found("a callback is read as an answer is", body)


def deferral(random: Random) -> str:
    body = _sent({"requestId": _REQUEST_ID, "graderVersion": "1", "estimatedSeconds": 60}, random)
    try:
        answers.read_deferral(GraderAnswer(request_id=_REQUEST_ID, body=body, elapsed_ms=1))
    except GraderCallError as error:
        return f"refused {error.reason_code}"
    return "read"


def signed_answer(random: Random) -> str:
    secrets, body = ["s" * 64], b'{"a": 1}'
    headers = sign_grader_response(secrets, request_id=_REQUEST_ID, request_body=b"q", body=body)
    given: dict[str, Any] = {"request_id": _REQUEST_ID, "request_body": b"q", "body": body}
    what = random.choice([*headers, *given, "secrets"])
    sent, known = dict(headers), secrets
    if what in headers:
        changes = [spliced(headers[what], random), odd_text(random), ""]
        sent[what] = random.choice(changes)
    elif what == "secrets":
        known = random.choice([[], ["t" * 64], [""]])
    else:
        given[what] = spliced(given[what], random)
    genuine = (headers, {"request_id": _REQUEST_ID, "request_body": b"q", "body": body}, secrets)
    try:
        verify_grader_response(
            sent,
            given["body"],
            known,
            **{name: given[name] for name in ("request_id", "request_body")},
        )
    except SignatureError as error:
        return f"refused {error.fault}"
    name = "x-autotune-response-signature"
    if headers[name] in sent[name].split():
        sent[name] = headers[name]
    if (sent, given, known) != genuine:
        raise Found("an answer is bound to its request", (what, sent, given))
    return "read"


def contract(random: Random) -> str:
    path = random.choice(sorted(CONTRACTS))
    name = path.partition("/")[0].replace("-", "_")
    module = import_module(f"autotune_platform.rewards.contracts.{name}")
    asked: list[Any] = []

    def score(_: Any, __: Any, questions: Any, **___: Any) -> list[None]:
        asked.extend(questions)
        return [None] * len(questions)

    reading: Any = SimpleNamespace(score=score)
    body = _sent(CONTRACTS[path][0], random)
    try:
        waiting: Any = SimpleNamespace(share=lambda *_: nullcontext(0))
        RewardAnswers(scoring=reading, waiting=waiting).answer(
            reading, reading, getattr(module, name.upper()), body, wait_seconds=0, stops=["r7", ""]
        )
    except AutotuneError as error:
        if error.status >= 500 and not (isinstance(error, UnavailableError) and asked):
            raise Found("a trainer's mistake is told as one", body, repr(error)) from error
        if error.status in {400, 422} and not error.fields:
            raise Found("an error names a field", body, error.detail) from error
        for question in asked:
            if not (isinstance(question.prompt, str) and isinstance(question.response, str)):
                raise Found("what is asked is text", body, question) from error
        return f"{error.status}"
    raise Found("no reward comes of nothing", body)


def link(random: Random) -> str:
    links = ReviewLinks(secrets=_SECRETS, base_url="https://a.example")
    moment = int(time.time()) + random.choice([600, -1])
    payload = LinkPayload(
        id=new_id("rvl"), organization_id=new_id("org"), reviewer_id="anna", expires_at=moment
    )
    token = links.token(payload)
    encoded_part, _, mac = token.partition(".")
    other = payload.model_copy(update={"reviewer_id": "eve", "expires_at": moment + 9_000})
    sent = random.choice(
        [
            token,
            spliced(token, random),
            odd_text(random),
            f"{links.token(other).partition('.')[0]}.{mac}",
            f"{encoded_part}=.{mac}",
            f"{encoded_part}.{mac}=",
            f"{encoded_part}.",
            f".{mac}",
            f"{token}.{mac}",
            token.swapcase(),
        ]
    )
    try:
        found = links.read(sent)
    except UnauthenticatedError as error:
        return f"refused {error.code}"
    if sent != token or found != payload:
        raise Found("no link can be made or changed", (token, sent), found)
    return "read"


def reward_token(random: Random) -> str:
    known = SimpleNamespace(id=new_id("rwu"))
    stored: Any = SimpleNamespace(get=lambda id_: known if id_ == known.id else None)
    unused: Any = None
    service = RewardUrlService(repository=stored, tasks=unused, secrets=_SECRETS)
    token = f"{known.id}-{service._mac(known.id)}"
    sent = random.choice(
        [
            token,
            spliced(token, random),
            token.upper(),
            odd_text(random),
            f"{token}\n",
            f"{new_id('rwu')}{token[30:]}",
            token[:31] + "0" * 64,
        ]
    )
    try:
        service.prove(sent)
    except NotFoundError:
        return "refused"
    if sent != token:
        raise Found("no capability can be made or changed", (token, sent))
    return "read"


_CONFIGURATIONS: tuple[dict[str, Any], ...] = (
    {"type": "exact_match", "reference": "{{ item.note }}", "trim": True},
    {"type": "string_check", "operation": "ilike", "reference": "{{ item.list[0] }}"},
    {"type": "text_similarity", "reference": "{{ item['note'] }}", "metric": "bleu"},
    {"type": "text_similarity", "reference": "{{ sample.output_text }}", "metric": "rouge_l"},
    {"type": "numeric", "reference": "{{ item.n }}", "extract": "regex", "pattern": "a(\\d+)"},
    {"type": "numeric", "reference": "4", "input": "{{ sample.output_json.a }}"},
    {"type": "json_schema", "schema": {"type": "object", "properties": {"a": {"type": "number"}}}},
    {"type": "json_schema", "schema": {"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}},
    {
        "type": "multi",
        "graders": {
            "a": {"type": "exact_match", "reference": "x"},
            "b": {"type": "json_schema", "schema": {"pattern": "^a+$"}},
        },
        "calculateOutput": "0.5 * a + max(b, 0) / 2",
    },
)
_TEMPLATES = (
    "{{ item." + "a." * 300 + "b }}",
    "{{ item[999999] }}",
    "{{ sample.output_json }}" * 40,
    "{{{{ item.a }}}}",
    '{{ item["\\u0000"] }}',
    "{{ sample.output_json['$ref'][0] }}",
)
_PATTERNS = ("(a+)+$", "(?=a)", "\\1", "[", "a{1000}{1000}", "\\p{L}*", "(?P<n>.)", "", ".*" * 90)
_FORMULAS = ("a**a**9e9", "a if b else a", "__import__('os')", "a/0", "-" * 3_000 + "a", "1e999*a")


def builtin(random: Random) -> str:
    """Check a configuration, and judge hostile completions by those that are accepted."""
    drawn = mutated(random.choice(_CONFIGURATIONS), random, times=random.choice([0, 0, 1, 2]))
    if isinstance(drawn, dict) and random.random() < 0.4:
        pools = {"reference": _TEMPLATES, "input": _TEMPLATES, "pattern": _PATTERNS}
        name, pool = random.choice([*pools.items(), ("calculateOutput", _FORMULAS)])
        drawn[name] = random.choice(pool)
    before = time.process_time()
    try:
        configuration = _builtin.validate_python(drawn)
    except ValidationError:
        return "no configuration"
    try:
        check_builtin(configuration, field="builtin")
    except InvalidRequestError as error:
        if not error.fields[0].field.startswith("builtin"):
            raise Found("a configuration's error says where", drawn, error.fields) from error
        return "refused"
    said = _judged(configuration, drawn, random)
    took = time.process_time() - before
    if took > 3 * MAX_BUILTIN_CPU_SECONDS + _SLACK_SECONDS:
        raise Found("builtin graders take bounded time", drawn, took)
    return said


def _judged(configuration: Any, drawn: Any, random: Random) -> str:
    judge = compile_stored(json.loads(json.dumps(stored_form(configuration))))
    response = random.choice(
        ["x", "a4", '{"a": 4}', "[" * 2_000, odd_text(random, surrogates=False)]
    )
    metadata = {"note": odd_value(random, longest=2_000), "list": [1], "n": odd_value(random)}
    try:
        score = judge(Sample(prompt="p", response=response, metadata=_stored(metadata)))
    except CompletionFaultError as error:
        return f"no score: {error.reason_code}"
    if not 0 <= score.value <= 1:
        raise Found("a score is from 0 to 1", drawn, score)
    return "scored"


def _stored(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata as they come out of submission, which refuses what JSON or UTF-8 has not."""
    try:
        sent = json.dumps(metadata, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return {}
    return dict(json.loads(sent))


def strict_json(random: Random) -> str:
    sent = _sent({"a": [1, 0.5, "x", None, {"b": odd_value(random)}]}, random)
    try:
        found = parse_strictly(sent, most_values=1_000)
    except ValueError:
        return "refused"
    if json.loads(sent.decode()) != found:
        raise Found("JSON is read as others read it", sent, found)
    return "read"


PARSERS: dict[str, Callable[[Random], str]] = {
    one.__name__: one
    for one in (
        *(cursor, grader_answer, deferral, signed_answer, contract),
        *(link, reward_token, builtin, strict_json),
    )
}


@contextmanager
def opened() -> Iterator[Case]:
    def case(random: Random) -> str:
        name = random.choice(sorted(PARSERS))
        return f"{name}: {PARSERS[name](random)}"

    yield case
