"""How much memory each parser takes at most: ``python -m tests.security.peaks`` or ``make memory``.

Each is measured in a process of its own, by the most resident memory that it ever took: what the
interpreter and libraries take counts, as it does on Lambda.
"""

import gc
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from tests.security.hostile import bodies, field_paths, filled

ROOT = Path(__file__).parents[2]
SEED = 15
APIS = (
    "access",
    "completions",
    "exports",
    "graders",
    "reviews",
    "rewards",
    "tasks",
    "webhooks",
)
CONTRACTS = ("azure", "eval_protocol", "nemo_gym", "nova", "openrlhf", "slime")
PARSERS = [
    *(f"api:{name}" for name in APIS),
    *(f"reward:{name}" for name in CONTRACTS),
    "graders:together",
    "graders:wide_text",
    "graders:full_scores",
    "grader:single",
    "grader:health",
    "cursor",
]
CALLS_AT_ONCE = 8
FIELDS_OF_A_ROUTE = 2


class Measured(SimpleNamespace):
    """``base_mb`` before anything hostile came, ``peak_mb``, and the largest error answer."""

    base_mb: float
    peak_mb: float
    largest_answer: int
    statuses: dict[str, int]


def measure(
    parser: str, *, fields: int = FIELDS_OF_A_ROUTE, environment: dict[str, str] | None = None
) -> Measured:
    """Return what a parser takes, in a process of its own; some fields of a route are hostile."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.peaks", parser, str(fields)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def drawn(fields: list[str], number: int) -> list[str]:
    """Return some of a route's fields, by the seed; all of them where there are few."""
    return Random(SEED).sample(fields, min(len(fields), number))


def _peak_mb() -> float:
    # Not ru_maxrss, which a child inherits from whoever started it.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no peak")


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _api(name: str, number: int) -> Iterator[Any]:
    """Send hostile bodies to every route of a function, as far as the service behind it."""
    from autotune_platform.access.models import Caller
    from autotune_platform.runtime.errors import UnavailableError
    from tests.support.http_events import api_event
    from tests.support.lambdas import LambdaContext

    module: Any = import_module(f"functions.{name}.api")

    def unreachable() -> Any:
        raise UnavailableError("nothing is behind this")

    class Parts:
        call_audit = SimpleNamespace(write=lambda *_, **__: None)

        def __getattr__(self, _: str) -> Any:
            return unreachable()

    caller = Caller(
        key_id="key_1", organization_id="org_1", principal_id="p", role="admin", request_id="req_1"
    )
    authenticator = SimpleNamespace(claimed_key=lambda _: None, authenticate=lambda *_: caller)
    app = module.app
    module.parts = Parts
    app._parts = Parts
    app._authenticator = lambda: authenticator
    yield None
    for route in app.routes:
        if not route.dependant.body_params:
            continue
        (body,) = route.dependant.body_params
        fields = drawn(field_paths(body._type_adapter.json_schema(by_alias=True)), number)
        path = route.openapi_path.replace("{", "").replace("}", "")
        most_values = getattr(body.type_, "most_values", 0) or 100_000
        for sent in _batches() if path.endswith("/batch") else ():
            yield _answered(app, api_event, LambdaContext(), "POST", path, sent)
        for sent in bodies(fields, most_bytes=4_990_000, most_values=most_values, seed=SEED):
            yield _answered(app, api_event, LambdaContext(), route.method, path, sent)


def _batches() -> Iterator[bytes]:
    """Yield batches that are valid, or wrong in each completion."""
    from autotune.protocol.ids import new_id

    head = f'"taskId":"{new_id("task")}","modelId":"m","prompt":"p","response":"r"'
    for fill in ("{}", "[]", '""', "0.1", '{"a":{}}'):
        inside = filled(fill, most_bytes=60_000, most_values=6_000).decode()
        one = f'{{{head},"metadata":{{"a":[{inside}]}}}}'
        yield f'{{"completions":[{",".join([one] * 80)}]}}'.encode()
    unknown = ",".join(f'"u{number}":1' for number in range(900))
    yield f'{{"completions":[{",".join([f"{{{unknown}}}"] * 500)}]}}'.encode()


def _answered(app: Any, event: Any, context: Any, method: str, path: str, sent: bytes) -> Any:
    answer = app.handle(event(method, path, "", {}, sent), context)
    return answer["statusCode"], len(answer["body"].encode())


def _reward(name: str) -> Iterator[Any]:
    """Read hostile requests as one contract."""
    from autotune_platform.http.problems import problem_response
    from autotune_platform.rewards.answering import RewardAnswers

    contract = getattr(import_module(f"autotune_platform.rewards.contracts.{name}"), name.upper())
    answers = RewardAnswers(
        scoring=SimpleNamespace(score=lambda *_, **__: []),  # type: ignore[arg-type]
        waiting=SimpleNamespace(share=lambda *_: nullcontext(0)),  # type: ignore[arg-type]
    )
    fields = {
        "azure": ["sample", "sample.choices", "item", "item.messages", "item.messages[].content"],
        "eval_protocol": ["messages", "messages[].content", "ground_truth", "kwargs"],
        "nemo_gym": [
            "responses_create_params.input",
            "response.output",
            "response.output[].content",
        ],
        "nova": ["id"],
        "openrlhf": ["query", "prompts", "labels"],
        "slime": ["prompt", "response", "label"],
    }[name]
    most = getattr(contract, "most_values", 500_000)
    yield None
    for sent in bodies(fields, most_bytes=contract.most_bytes, most_values=most, seed=SEED):
        try:
            answers.answer(None, None, contract, sent, wait_seconds=0)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - what its answer takes is measured
            response = problem_response(error, request_id="req_1")
            yield response.status_code, len((response.body or "").encode())
        gc.collect()  # as ``Api.handle`` does


def _called(kinds: list[str], path: str, *, each: int) -> Iterator[Any]:
    """Ask a hostile grader as often at once as one function does."""
    from autotune.protocol.ids import new_id
    from autotune_platform.gateway.calls import GraderCallError
    from autotune_platform.gateway.gateway import GraderGateway
    from autotune_platform.judging.http.answers import read_answer
    from autotune_platform.outbound.connections import connection_pool
    from tests.security.hostile_grader import SECRET

    gateway = GraderGateway(connection_pool(admit_private=True))
    ids = [new_id("cmp") for _ in range(each)]

    def ask(kind: str) -> str:
        with hostile_grader(kind) as url:
            grader = SimpleNamespace(id=new_id("grd"), endpoint=url, certificate_sha256=[])
            usable: Any = SimpleNamespace(grader=grader, secrets=(SECRET,))
            if path == "/health":
                return str(gateway.ask_health(usable, timeout_seconds=60).reason_code)

            def call(_: int) -> str:
                try:
                    answer = gateway.ask(
                        usable,
                        path,  # type: ignore[arg-type]
                        request_id=new_id("req"),
                        body=b"{}",
                        timeout_seconds=60,
                    )
                    judgements = read_answer(path, answer, ids)  # type: ignore[arg-type]
                except GraderCallError as error:
                    return error.reason_code
                return f"{len(judgements)} judgements"

            with ThreadPoolExecutor(CALLS_AT_ONCE) as threads:
                return ",".join(sorted(set(threads.map(call, range(CALLS_AT_ONCE)))))

    yield None
    for kind in kinds:
        yield ask(kind), 0


@contextmanager
def hostile_grader(kind: str) -> Iterator[str]:
    """Serve a grader in another process that answers with a kind of bytes; yield its URL."""
    command = [sys.executable, "-m", "tests.security.hostile_grader", kind]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _cursor(_: str) -> Iterator[Any]:
    import base64

    from autotune_platform.runtime.errors import InvalidRequestError
    from autotune_platform.storage.cursors import decode_cursor

    yield None
    for sent in bodies([], most_bytes=4_000_000, most_values=100, seed=SEED):
        try:
            decode_cursor(base64.urlsafe_b64encode(sent).decode(), parts=2)
        except InvalidRequestError:
            yield "refused", 0


def _of(parser: str, fields: int) -> Iterator[Any]:
    kind, _, name = parser.partition(":")
    if kind == "api":
        return _api(name, fields)
    if kind == "reward":
        return _reward(name)
    if kind == "cursor":
        return _cursor(name)
    structures = ["objects", "lists", "pairs", "texts", "nested", "unknown", "dimensions"]
    return {
        "graders:together": lambda: _called(structures, "/score/batch", each=12),
        "graders:wide_text": lambda: _called(["wide"], "/score/batch", each=12),
        "graders:full_scores": lambda: _called(["full"], "/score/batch", each=12),
        "grader:single": lambda: _called(structures, "/score", each=1),
        "grader:health": lambda: _called(structures, "/health", each=1),
    }[parser]()


def _measure_here(parser: str, fields: int) -> dict[str, Any]:
    found = _of(parser, fields)
    next(found)
    # What is imported by now is left out: to go through all of it took longer than all parsing.
    gc.collect()
    gc.freeze()
    base, started, largest = _peak_mb(), _cpu_seconds(), 0
    statuses: dict[str, int] = {}
    for status, size in found:
        statuses[str(status)] = statuses.get(str(status), 0) + 1
        largest = max(largest, size)
    return {
        "base_mb": round(base),
        "peak_mb": round(_peak_mb()),
        "largest_answer": largest,
        "statuses": statuses,
        "cpu_seconds": round(_cpu_seconds() - started, 1),
    }


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(_measure_here(sys.argv[1], int(sys.argv[2]))))
    else:
        print(f"{'parser':22} {'base MB':>8} {'peak MB':>8} {'largest error':>14}  answers")
        for one in PARSERS:
            taken = measure(one)
            row = f"{one:22} {taken.base_mb:8} {taken.peak_mb:8} {taken.largest_answer:14}"
            print(f"{row}  {taken.statuses}", flush=True)
