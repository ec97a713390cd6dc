"""Gemini's batch jobs, step by step against the fake: what each answer, fault and trap becomes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from autotune_platform.ledger.calls import Answer
from autotune_platform.ledger.jobs.contract import (
    Created,
    Missing,
    NotCreated,
    Running,
    Unclear,
)
from autotune_platform.ledger.jobs.session import FetchError
from tests.support.gemini_jobs import JOBS, MODEL, Scene, answers, code_of, gemini_scenes, ids
from tests.support.provider_jobs import KEY

FAULTS = ("429", "500", "timeout", "answer_lost")


@pytest.fixture
def scenes() -> Iterator[Callable[..., Scene]]:
    with gemini_scenes() as made:
        yield made


@pytest.fixture
def scene(scenes: Callable[..., Scene]) -> Scene:
    return scenes()


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
