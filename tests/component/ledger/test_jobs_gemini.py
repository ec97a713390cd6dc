"""Gemini's batch jobs, step by step against the fake: what each answer, fault and trap becomes."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from httpcore import ConnectionPool

from autotune_platform.ledger.calls import Answer, Question, Refusal
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.jobs.contract import (
    Body,
    Created,
    Ended,
    Job,
    Line,
    Missing,
    NotCreated,
    Running,
    Unclear,
)
from autotune_platform.ledger.jobs.gemini import GeminiJobs
from autotune_platform.ledger.jobs.session import FetchError, Session
from autotune_platform.ledger.providers.gemini import GeminiFormat
from autotune_platform.outbound.connections import connection_pool
from tests.providers.server import FakeServer, serve
from tests.providers.state import Clock, World
from tests.unit.ledger.asking import connection, question

START = 1_795_000_000.0
MODEL = "gemini-2.5-flash"
KEY = "fake-key"
JOBS = GeminiJobs(GeminiFormat())
FAULTS = ("429", "500", "timeout", "answer_lost")
MOST_PART_BYTES = 64


def asked(number: int) -> Question:
    return replace(question(MODEL), user=f"question {number}")


class Noted(Exchanges):
    """Exchanges whose requests are noted."""

    def __init__(self, pool: ConnectionPool) -> None:
        super().__init__(pool)
        self.asked: list[tuple[str, str, Any]] = []

    def exchange(self, method: str, url: str, headers: Any, *rest: Any, **options: Any) -> Any:
        self.asked.append((method, url, headers))
        return super().exchange(method, url, headers, *rest, **options)


class Scene:
    """A job of some rows at the fake, whose clock moves only when told."""

    def __init__(
        self, fake: FakeServer, exchanges: Noted, rows: int = 10, nonce: str = "nonce0123456789"
    ) -> None:
        self.fake = fake
        self.world = fake.world
        lines = b"\n".join(JOBS.row(f"row{number}", asked(number)) for number in range(rows))
        content = lines + JOBS.framing.after
        self.read = 0

        def parts() -> Iterator[bytes]:
            self.read += 1
            for start in range(0, len(content), MOST_PART_BYTES):
                yield content[start : start + MOST_PART_BYTES]

        self.body = Body(len(content), parts)
        self.job = Job(
            batch_id="lbt_1",
            nonce=nonce,
            model=MODEL,
            rows=rows,
            begun_at=datetime.fromtimestamp(START, UTC),
        )
        self.exchanges = exchanges

    @property
    def session(self) -> Session:
        return self.session_of(KEY)

    def session_of(self, key: str | None) -> Session:
        return Session(connection("gemini", base_url=self.fake.base_url), key, self.exchanges)

    def arm(self, trap: str, **fields: Any) -> None:
        self.world.traps.arm(trap, **fields)

    def upload(self) -> str | Refusal:
        sent = JOBS.upload(self.session, self.job, self.body)
        if isinstance(sent, str):
            self.job = replace(self.job, input_file=sent)
        return sent

    def create(self) -> Any:
        made = JOBS.create(self.session, self.job, self.body)
        if isinstance(made, Created):
            self.job = replace(self.job, job_id=made.job_id)
        return made

    def start(self) -> "Scene":
        assert isinstance(self.upload(), str)
        assert isinstance(self.create(), Created)
        return self

    def look(self, after: float = 0) -> Any:
        self.world.clock.advance(after)
        return JOBS.look(self.session, self.job)

    def ended(self, after: float = 120) -> Ended:
        found = self.look(after)
        assert isinstance(found, Ended), found
        return found

    def fetch(self, ended: Ended) -> bytes:
        parts = (JOBS.fetch(self.session, self.job, one) for one in ended.results)
        return b"".join(some for found in parts for some in found)

    def lines(self, ended: Ended) -> list[Line | None]:
        raws = self.fetch(ended).split(b"\n")
        return [JOBS.line(raw, KEY) for raw in raws if raw.strip()]

    def asked_for(self, operation: str) -> int:
        return self.world.requests[f"gemini.{operation}"]


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with serve(World(seed=7, clock=Clock(START))) as server:
        yield server
        assert server.world.bugs == []


@pytest.fixture
def scenes(fake: FakeServer) -> Iterator[Callable[..., Scene]]:
    with connection_pool(admit_private=True) as pool:
        yield partial(Scene, fake, Noted(pool))


@pytest.fixture
def scene(scenes: Callable[..., Scene]) -> Scene:
    return scenes()


def ids(lines: list[Line | None]) -> list[str]:
    return [line.custom_id for line in lines if line]


def answers(lines: list[Line | None]) -> list[Answer]:
    return [line.outcome for line in lines if line and isinstance(line.outcome, Answer)]


def refusals(lines: list[Line | None]) -> list[Refusal]:
    return [line.outcome for line in lines if line and isinstance(line.outcome, Refusal)]


def code_of(found: Any) -> str:
    refusal = found.refusal if isinstance(found, NotCreated) else found
    assert isinstance(refusal, Refusal), found
    return refusal.code


def test_a_job_from_its_input_to_its_results(scene: Scene) -> None:
    scene.start()
    (stored,) = scene.world.files.values()
    assert stored.content == b"".join(scene.body.parts())
    assert stored.name == scene.job.nonce
    (batch,) = scene.world.batches.values()
    assert (batch.id, batch.name, batch.model) == (scene.job.job_id, scene.job.nonce, MODEL)
    assert scene.look() == Running()
    ended = scene.ended()
    assert (ended.how, ended.succeeded, ended.total, ended.refusal) == ("completed", 10, 10, None)
    lines = scene.lines(ended)
    assert sorted(ids(lines)) == sorted(f"row{number}" for number in range(10))
    ran = {one.custom_id: one for one in scene.world.executions}
    for line in lines:
        assert line is not None
        assert isinstance(line.outcome, Answer)
        assert line.outcome.usage is not None
        execution = ran[line.custom_id]
        assert execution.token in line.outcome.text
        assert line.outcome.usage.input_tokens == execution.input_tokens
        assert line.outcome.usage.output_tokens == execution.output_tokens
    assert JOBS.clean(scene.session, scene.job, ended.results) is None
    assert scene.world.files == {}
    assert scene.look() == Missing()
    assert JOBS.clean(scene.session, scene.job, ended.results) is None
    assert scene.world.refusals[-1]["status"] == 404


def test_the_input_is_read_once_and_the_key_is_not_sent_where_the_upload_goes(scene: Scene) -> None:
    scene.upload()
    assert scene.read == 1
    (begun, body) = scene.exchanges.asked
    assert begun[2]["x-goog-api-key"] == KEY
    assert KEY not in str(body)
    assert body[2]["X-Goog-Upload-Command"] == "upload, finalize"


CODES = {"429": "rate_limited", "500": "provider_error"}


@pytest.mark.parametrize("request_number", [0, 1])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_an_upload(scene: Scene, fault: str, request_number: int) -> None:
    scene.arm(f"upload_{fault}", after=request_number, params={"stall_seconds": 0.05})
    assert code_of(scene.upload()) == CODES.get(fault, "outcome_unclear")
    assert scene.asked_for("upload") == request_number + 1
    assert isinstance(scene.upload(), str)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_creation(scene: Scene, fault: str) -> None:
    scene.upload()
    scene.arm(f"create_{fault}", params={"stall_seconds": 0.05, "retry_after": 7})
    made = scene.create()
    assert scene.asked_for("create") == 1
    if fault == "429":
        assert made.refusal.code == "rate_limited"
        assert made.refusal.retry_after_seconds == 7
    else:
        assert isinstance(made, Unclear)
    found = JOBS.search(scene.session, scene.job)
    assert found == list(scene.world.batches)
    assert len(scene.world.batches) == (fault == "answer_lost")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_job_is_not_asked_for_where_its_file_cannot_be_looked_up(
    scene: Scene, fault: str
) -> None:
    scene.upload()
    scene.arm(f"file_{fault}", params={"stall_seconds": 0.05})
    assert code_of(scene.create()) == CODES.get(fault, "outcome_unclear")
    assert scene.asked_for("create") == 0
    assert isinstance(scene.create(), Created)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_looks_searches_and_cancellations(scene: Scene, fault: str) -> None:
    scene.start()
    expected = CODES.get(fault, "outcome_unclear")
    asks = {
        "get": lambda: JOBS.look(scene.session, scene.job),
        "list": lambda: JOBS.search(scene.session, scene.job),
        "cancel": lambda: JOBS.cancel(scene.session, scene.job),
    }
    for operation, ask in asks.items():
        before = scene.asked_for(operation)
        scene.arm(f"{operation}_{fault}", params={"stall_seconds": 0.05})
        assert code_of(ask()) == expected
        assert scene.asked_for(operation) == before + 1


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_while_what_is_left_is_deleted(scene: Scene, fault: str) -> None:
    scene.start()
    ended = scene.ended()
    scene.arm(f"file_{fault}", after=1, params={"stall_seconds": 0.05})
    refusal = JOBS.clean(scene.session, scene.job, ended.results)
    assert code_of(refusal) == CODES.get(fault, "outcome_unclear")
    assert JOBS.clean(scene.session, scene.job, ended.results) is None
    assert scene.world.files == {}


@pytest.mark.parametrize(
    ("trap", "status"),
    [
        ("download_429", 429),
        ("download_500", 500),
        ("download_502", 502),
        ("download_timeout", None),
        ("download_answer_lost", None),
        ("download_cut", None),
        ("download_stalls", None),
    ],
)
def test_results_that_do_not_come_whole(scene: Scene, trap: str, status: int | None) -> None:
    ended = scene.start().ended()
    scene.arm(trap, params={"stall_seconds": 0.05})
    with pytest.raises(FetchError) as raised:
        scene.fetch(ended)
    assert raised.value.status == status
    assert len(answers(scene.lines(ended))) == 10


def test_a_slow_answer_is_an_answer(scene: Scene) -> None:
    for operation in ("upload", "create", "get", "download"):
        scene.arm(f"{operation}_slow", params={"seconds": 0.05})
    assert len(answers(scene.lines(scene.start().ended()))) == 10


def test_a_file_that_cannot_be_seen_yet_is_waited_for(scene: Scene) -> None:
    scene.arm("upload_not_visible")
    scene.upload()
    for _ in range(2):
        made = scene.create()
        assert isinstance(made, NotCreated)
        assert made.refusal.code == "rate_limited"
        assert made.refusal.retry_after_seconds
    assert scene.asked_for("create") == 0
    assert isinstance(scene.create(), Created)


def test_a_key_that_is_wrong_creates_nothing(scene: Scene) -> None:
    scene.upload()
    made = JOBS.create(scene.session_of("another-key"), scene.job, scene.body)
    assert isinstance(made, NotCreated)
    assert scene.world.batches == {}


def test_credit_that_is_spent_creates_nothing(scene: Scene) -> None:
    scene.upload()
    scene.arm("account_refused")
    assert code_of(scene.create()) == "rate_limited"  # Google says no more than that
    assert scene.world.batches == {}


def test_a_limit_of_tokens_creates_nothing(scene: Scene) -> None:
    scene.upload()
    scene.arm("token_limit")
    assert code_of(scene.create()) == "rate_limited"
    assert scene.world.batches == {}


def test_too_many_jobs_are_a_limit_that_passes(scene: Scene) -> None:
    scene.upload()
    scene.world.limits["gemini"] = {"jobs": 0}
    assert code_of(scene.create()) == "rate_limited"


def test_a_model_that_there_is_not_is_refused(scene: Scene) -> None:
    scene.upload()
    scene.job = replace(scene.job, model="models/gemini-0")
    assert code_of(scene.create()) == "rejected"


def test_a_search_reads_all_pages_and_only_its_own_name(scenes: Callable[..., Scene]) -> None:
    others = [scenes(rows=1, nonce=f"other{number}").start() for number in range(3)]
    scene = scenes(rows=1)
    scene.upload()
    scene.arm("create_answer_lost")
    assert isinstance(scene.create(), Unclear)
    others += [scenes(rows=1, nonce=f"later{number}").start() for number in range(3)]
    scene.arm("list_pages", times=None)
    before = scene.asked_for("list")
    (job_id,) = JOBS.search(scene.session, scene.job)  # type: ignore[misc]
    assert scene.asked_for("list") == before + 7
    assert scene.world.batches[job_id].name == scene.job.nonce
    assert job_id not in {one.job.job_id for one in others}


def test_a_search_returns_all_jobs_of_a_name(scene: Scene) -> None:
    scene.start()
    scene.create()
    found = JOBS.search(scene.session, scene.job)
    assert sorted(found) == sorted(scene.world.batches)  # type: ignore[type-var, arg-type]
    assert len(scene.world.batches) == 2


def test_a_list_may_be_long_because_of_what_others_asked(scene: Scene) -> None:
    scene.start()
    (batch,) = scene.world.batches.values()
    theirs = replace(batch, id="batches/theirs", name="x" * 2_000_000)
    scene.world.batches[theirs.id] = theirs
    assert JOBS.search(scene.session, scene.job) == [scene.job.job_id]


def test_a_list_may_lag(scene: Scene) -> None:
    scene.arm("list_lags")
    scene.start()
    found = [JOBS.search(scene.session, scene.job) for _ in range(3)]
    assert found == [[], [], [scene.job.job_id]]


def test_a_job_that_is_seen_late_or_by_one_key_is_missing(scenes: Callable[..., Scene]) -> None:
    scene = scenes()
    scene.arm("get_404_after_create")
    scene.start()
    assert [scene.look() for _ in range(3)] == [Missing(), Missing(), Running()]
    other = scenes(nonce="other")
    scene.world.keys["gemini"] = {"newer-key": "main"}
    other.arm("old_key_only")
    other.start()
    assert JOBS.look(other.session_of("newer-key"), other.job) == Missing()
    assert other.look() == Running()


def test_results_may_come_later_than_the_end(scene: Scene) -> None:
    scene.arm("output_id_later", params={"seconds": 600})
    ended = scene.start().ended()
    assert (ended.how, ended.results, ended.succeeded) == ("completed", [], 10)
    assert len(scene.ended(after=600).results) == 1


def test_results_may_never_come(scene: Scene) -> None:
    scene.arm("completed_without_output")
    ended = scene.start().ended(after=90_000)
    assert (ended.how, ended.results, ended.succeeded) == ("completed", [], 10)


@pytest.mark.parametrize("trap", ["counts_zero", "counts_absent"])
def test_counts_that_cannot_be_are_none(scene: Scene, trap: str) -> None:
    scene.arm(trap)
    ended = scene.start().ended()
    assert (ended.succeeded, ended.total) == (None, None)
    assert len(answers(scene.lines(ended))) == 10


def test_zeros_are_left_out_of_counts(scene: Scene) -> None:
    scene.arm("row_error", rows=list(range(10)), params={"status": 400})
    ended = scene.start().ended()
    assert (ended.succeeded, ended.total) == (0, 10)


@pytest.mark.parametrize("trap", ["expires_partial", "expires_empty"])
def test_an_expired_job_has_no_results(scene: Scene, trap: str) -> None:
    scene.arm(trap)
    ended = scene.start().ended()
    assert (ended.how, ended.results, ended.succeeded, ended.total) == ("expired", [], 0, 10)
    assert scene.world.executions == []


def test_a_job_that_takes_two_days_expires(scene: Scene) -> None:
    scene.world.timing.run_seconds = 60 * 3600
    scene.start()
    assert scene.look(after=47 * 3600) == Running()
    assert scene.ended(after=2 * 3600).how == "expired"
    assert JOBS.limits.ends_within.total_seconds() == 48 * 3600


def test_a_job_that_is_late_succeeds(scene: Scene) -> None:
    scene.arm("succeeds_late")
    scene.start()
    assert scene.look(after=86_400) == Running()
    assert scene.ended(after=5_000).how == "completed"


def test_a_canceled_job_has_no_results(scene: Scene) -> None:
    scene.start()
    assert JOBS.cancel(scene.session, scene.job) is None
    ended = scene.ended()
    assert (ended.how, ended.results, ended.succeeded) == ("canceled", [], 0)
    assert JOBS.cancel(scene.session, scene.job) is None
    assert scene.world.executions == []


def test_a_job_may_complete_though_it_was_canceled(scene: Scene) -> None:
    scene.arm("cancel_completes")
    scene.start()
    assert JOBS.cancel(scene.session, scene.job) is None
    ended = scene.ended()
    assert ended.how == "completed"
    assert len(answers(scene.lines(ended))) == 10


def test_a_poison_row_fails_the_job_and_no_line_is_named(scene: Scene) -> None:
    scene.arm("poison_row", rows=[3])
    ended = scene.start().ended()
    assert (ended.how, ended.results, ended.lines) == ("failed", (), {})
    assert ended.refusal is not None
    assert ended.refusal.code == "rejected"
    assert not ended.refusal.may_be_paid


@pytest.mark.parametrize(
    ("status", "code", "sent"),
    [
        (400, "rejected", 3),
        (401, "account", 16),
        (403, "account", 7),
        (404, "rejected", 5),
        (429, "rate_limited", 8),
        (500, "provider_error", 13),
        (503, "provider_error", 14),
        (0, "provider_error", 2),
    ],
)
def test_a_row_that_failed(scene: Scene, status: int, code: str, sent: int) -> None:
    scene.arm("row_error", rows=[4], params={"status": status})
    ended = scene.start().ended()
    content = scene.fetch(ended)
    assert f'"error": {{"code": {sent},'.encode() in content
    lines = scene.lines(ended)
    (refusal,) = refusals(lines)
    assert (refusal.code, refusal.may_be_paid) == (code, False)
    assert [one.custom_id for one in lines if one and one.outcome == refusal] == ["row4"]
    assert (ended.succeeded, ended.total) == (9, 10)


def test_credit_that_ends_midway(scene: Scene) -> None:
    scene.arm("credit_ends")
    lines = scene.lines(scene.start().ended())
    assert len(answers(lines)) == 5
    assert Counter(one.code for one in refusals(lines)) == {"rate_limited": 5}


def test_lines_in_any_order_doubled_unknown_foreign_and_missing(
    scenes: Callable[..., Scene],
) -> None:
    scenes(rows=1, nonce="other").start()
    scene = scenes()
    for trap in (
        "rows_shuffled",
        "rows_doubled_alike",
        "rows_doubled_conflicting",
        "rows_unknown_id",
        "rows_foreign_id",
    ):
        scene.arm(trap)
    scene.arm("rows_missing", rows=[2])
    lines = scene.lines(scene.start().ended())
    found = Counter(ids(lines))
    assert len(answers(lines)) == len(lines) == 13
    assert set(found) == {f"row{number}" for number in range(10) if number != 2} | {"nobody-0"}
    sprung = {one.trap for one in scene.world.traps.firings}
    assert {"rows_shuffled", "rows_doubled_conflicting", "rows_foreign_id"} < sprung


@pytest.mark.parametrize(
    ("trap", "params", "whole", "broken"),
    [
        ("jsonl_cut", {}, 5, 1),
        ("jsonl_bad_utf8", {}, 9, 1),
        ("jsonl_empty_lines", {}, 10, 0),
        ("jsonl_long_line", {"bytes": 10_000_000}, 10, 0),
    ],
)
def test_lines_that_are_spoiled(
    scene: Scene, trap: str, params: dict[str, Any], whole: int, broken: int
) -> None:
    ended = scene.start().ended()
    scene.arm(trap, params=params)
    lines = scene.lines(ended)
    assert len(answers(lines)) == whole
    assert [one.code for one in refusals(lines)] == ["result_malformed"] * (
        trap == "jsonl_long_line"
    )
    assert lines.count(None) == broken


def test_kinds_of_answers(scene: Scene) -> None:
    for row, trap in enumerate(
        ["finish_length", "finish_refusal", "cached_tokens", "other_model", "no_usage"]
    ):
        scene.arm(trap, rows=[row])
    lines = scene.lines(scene.start().ended())
    found = {line.custom_id: line.outcome for line in lines if line}
    kinds = [found[f"row{number}"] for number in range(6)]
    assert all(isinstance(one, Answer) for one in kinds)
    length, refused, cached, other, unused, plain = answers([Line("", one) for one in kinds])
    assert (length.finish_reason, refused.finish_reason) == ("length", "refusal")
    assert plain.usage is not None
    assert plain.usage.cached_input_tokens == 0
    assert cached.usage is not None
    assert cached.usage.cached_input_tokens > 0
    assert (plain.served_model, unused.usage) == (MODEL, None)
    assert other.served_model not in {None, MODEL}
